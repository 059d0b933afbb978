import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Progress } from '../../../src/core/progress.ts';
import { type Pakrat, PakratError } from '../../../src/index.ts';
import { freePort } from '../../support/loopback.ts';
import { makeTree } from '../../support/own-cdn.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

/* A mirror that somebody keeps: any file of it may be damaged, cut, empty, or something else than a file. */

const scratch = scratchFolder();
const tree = scratch('tree');
const mirror = join(tree, 'www/tpr/wow');
let build: string;
/** What can be extracted of the mirror as it is. */
let whole: Map<string, Buffer>;
let names: number;
/** Without one of these there is no build. */
let needed: string[];
/** One file of each kind. */
let files: string[];

const harms: Record<string, (file: string) => void> = {
  changed(file) {
    const bytes = fs.readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    fs.writeFileSync(file, bytes);
  },
  cut: (file) => fs.truncateSync(file, fs.statSync(file).size >> 1),
  empty: (file) => fs.truncateSync(file, 0),
  'a folder': (file) => {
    fs.rmSync(file);
    fs.mkdirSync(file);
  },
  'a link to nowhere': (file) => {
    fs.rmSync(file);
    fs.symlinkSync('nowhere', file);
  },
  'a file where its folder belongs': (file) => {
    fs.rmSync(dirname(file), { recursive: true });
    fs.writeFileSync(dirname(file), 'no folder');
  },
};

interface Outcome {
  /** Undefined where the build cannot be opened. */
  names: number | undefined;
  files: Map<string, Buffer>;
  told: Extract<Progress, { type: 'note' }>[];
}

async function read(session: Pakrat, source: string, to: string): Promise<Outcome> {
  const told: Outcome['told'] = [];
  const onProgress = (event: Progress): void => {
    if (event.type === 'note') told.push(event);
  };
  try {
    let count = 0;
    const opened = await session.open(source, { onProgress });
    for await (const _ of opened.list()) count += 1;
    await opened.close();
    await session.extract(source, { to, onProgress });
    return { names: count, files: contentsOf(to), told };
  } catch (error) {
    expect(error).toBeInstanceOf(PakratError);
    expect((error as PakratError).code).toMatch(/^E_(NOT_FOUND|INTEGRITY|FORMAT)/);
    return { names: undefined, files: new Map(), told };
  }
}

function contentsOf(folder: string): Map<string, Buffer> {
  const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const plain = files.filter((file) => fs.statSync(join(folder, file)).isFile());
  return new Map(plain.map((file) => [file, fs.readFileSync(join(folder, file))]));
}

beforeAll(async () => {
  makeTree(tree, await freePort(), ['--files', '12', '--total-bytes', '40K', '--archives', '2', '--loose-meta', '1']);
  const { configs } = JSON.parse(fs.readFileSync(join(tree, 'truth/summary.json'), 'utf8'));
  build = configs.build.b;
  const config = fs.readFileSync(join(mirror, 'config', build.slice(0, 2), build.slice(2, 4), build), 'utf8');
  const ekeyOf = (manifest: string): string => new RegExp(`^${manifest} = \\w+ (\\w+)$`, 'm').exec(config)![1]!;
  needed = [build, ekeyOf('encoding')];
  const all = fs.readdirSync(mirror, { recursive: true, encoding: 'utf8' });
  const archive = all.find((file) => /^data.*index$/.test(file) && all.includes(file.replace('.index', '')))!;
  const looseIndex = all.find((file) => /^data.*index$/.test(file) && !all.includes(file.replace('.index', '')))!;
  const patch = all.find((file) => /^patch.*\/\w{32}$/.test(file));
  const hashes = [...needed, configs.cdn.b, configs.keyring, ekeyOf('install')];
  files = all.filter((file) => hashes.includes(basename(file)));
  // Trees of our own have no patches.
  files.push(archive, archive.replace('.index', ''), looseIndex, ...(patch === undefined ? [] : [patch]));
  expect(files.length).toBeGreaterThanOrEqual(7);
  await withPakrat({ store: scratch('own') }, async (session) => {
    const outcome = await read(session, `${mirror}@${build}`, scratch('whole'));
    [whole, names] = [outcome.files, outcome.names!];
    expect(outcome.told).toEqual([]);
  });
  expect(whole.size).toBeGreaterThan(10);
});

test.each(Object.keys(harms))(
  '%s, one file of each kind in turn: it is told, nothing wrong is extracted or imported, and all else is',
  async (how) => {
    for (const [i, file] of files.entries()) {
      const copy = join(scratch(`${how} ${i}`), 'tpr/wow');
      fs.cpSync(mirror, copy, { recursive: true });
      harms[how]!(join(copy, file));
      const hash = basename(file, '.index');
      await withPakrat({ store: scratch(`store ${how} ${i}`) }, async (session) => {
        const { bad } = await session.verify(copy);
        // What is not there at all is no damage: most mirrors are a part.
        const isThere = fs.readdirSync(copy, { recursive: true, encoding: 'utf8' }).includes(file);
        expect({ file, bad: bad.map(({ name }) => name) }).toEqual({
          file,
          bad: isThere ? expect.arrayContaining([expect.stringContaining(hash)]) : [],
        });
        const outcome = await read(session, `${copy}@${build}`, scratch(`out ${how} ${i}`));
        for (const [name, content] of outcome.files) expect(content.equals(whole.get(name)!)).toBe(true);
        expect({ file, isRead: outcome.names !== undefined }).toEqual({ file, isRead: !needed.includes(hash) });
        if (outcome.names !== undefined && outcome.names < names) expect(outcome.told.length).toBeGreaterThan(0);
        await session.import(copy);
        expect(await session.verify()).toMatchObject({ bad: [] });
      });
      fs.rmSync(scratch(`${how} ${i}`), { recursive: true });
      fs.rmSync(scratch(`store ${how} ${i}`), { recursive: true });
    }
  },
  60_000,
);
