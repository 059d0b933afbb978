import * as fs from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { PakratError } from '../core/errors.ts';
import { makeTemporaryFolder } from '../files/temporary.ts';

/** The folders and files of a demo. */
export interface DemoFolder {
  root: string;
  /** These two stay. */
  store: string;
  extracted: string;
  /** Holds what follows; gone at the end. */
  temporary: string;
  cdn: string;
  listfile: string;
  keys: string;
}

const marker = 'pakrat-demo.txt';
const markerText = 'Made by `pakrat demo`, which replaces it when it is run here again. It may be deleted.\n';

/**
 * Makes the folder of a demo, or clears one that an earlier demo made.
 * @throws E_USAGE for a folder that holds anything else, and for what is no folder
 */
export function claimDemoFolder(path: string): DemoFolder {
  const root = resolve(path);
  const there = fs.statSync(root, { throwIfNoEntry: false });
  if (there !== undefined && !there.isDirectory()) throw refuse(root, 'it is no folder');
  if (there !== undefined && fs.readdirSync(root).length > 0 && !isDemoFolder(root)) {
    throw refuse(root, 'it has files that the demo did not make');
  }
  const temporary = join(root, 'tmp');
  const folder: DemoFolder = {
    root,
    store: join(root, 'store'),
    extracted: join(root, 'extracted'),
    temporary,
    cdn: join(temporary, 'cdn'),
    listfile: join(temporary, 'names.csv'),
    keys: join(temporary, 'keys.txt'),
  };
  for (const made of [temporary, folder.store, folder.extracted]) fs.rmSync(made, { recursive: true, force: true });
  makeTemporaryFolder(temporary);
  fs.mkdirSync(folder.cdn);
  fs.writeFileSync(join(root, marker), markerText);
  return folder;
}

function isDemoFolder(root: string): boolean {
  try {
    return fs.readFileSync(join(root, marker), 'utf8') === markerText;
  } catch {
    return false;
  }
}

function refuse(root: string, problem: string): PakratError {
  return new PakratError('E_USAGE', `the demo is not run in ${root}: ${problem}`, {
    hint: 'Name a folder that is empty or not there yet: --to DIR.',
    data: { path: root },
  });
}

/** A path as it is shortest from here, quoted for a shell where that is needed. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path) || '.';
  const text = near.startsWith('..') || isAbsolute(near) ? path : near;
  return /^[\w./\\:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
