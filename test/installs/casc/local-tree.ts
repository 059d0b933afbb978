import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { withSource } from '../../../src/app/session/open-source.ts';
import { Session } from '../../../src/app/session/session.ts';
import { type VerifyResult, verify } from '../../../src/app/verify.ts';
import { importListfile } from '../../../src/builds/listfile/listfile-import.ts';
import type { Progress } from '../../../src/core/progress.ts';
import { importKeyFiles } from '../../../src/fetch/lists/import-keys.ts';
import { type ExtractResult, extractFiles } from '../../../src/sources/extract/extract.ts';
import type { Source, SourceEntry } from '../../../src/sources/source.ts';
import { openStore } from '../../../src/store/store.ts';
import { makeTree } from '../../support/synthetic-cdn.ts';
import { type Expected, wrongFiles } from '../../support/truth.ts';

/*
 * A tree of the generator with an installed client in it, and what the tests of local sources do with such trees.
 */

/** Makes a tree with a client of build b in `local/`. */
export function makeClient(root: string, seed: string, more: readonly string[] = []): void {
  const size = ['--files', '120', '--total-bytes', '1M', '--archives', '3'];
  makeTree(root, 9, [...size, '--local', '--seed', seed, ...more]);
}

/** The build configs of a tree. */
export function buildKeys(root: string): Record<'a' | 'b', string> {
  const summary = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8'));
  return summary.configs.build as Record<'a' | 'b', string>;
}

/** The encoding keys of the root and of the manifests that the config of build b names, by their names. */
export function manifestKeys(root: string): Record<string, string> {
  const key = buildKeys(root).b;
  const path = join(root, 'www/tpr/wow/config', key.slice(0, 2), key.slice(2, 4), key);
  const named = [...readFileSync(path, 'utf8').matchAll(/^(encoding|install|download) = \w+ (\w+)$/gm)];
  const summary = JSON.parse(readFileSync(join(root, 'truth/summary.json'), 'utf8'));
  return { ...Object.fromEntries(named.map(([, name, ekey]) => [name, ekey])), root: summary.build_b.root[1] };
}

/** Runs `body` with a source. @param told takes the notes */
export async function withOpened<Result>(
  store: string,
  name: string,
  body: (source: Source) => Promise<Result>,
  { locale = 'enUS', told = [] as string[] } = {},
): Promise<Result> {
  const session = new Session({ store, locale });
  const onProgress = (event: Progress): void => {
    if (event.type === 'note') told.push(event.text);
  };
  try {
    return await withSource(session, name, { onProgress }, ({ source }) => body(source));
  } finally {
    await session.close();
  }
}

/** Checks all of a folder. */
export async function verifyFolder(store: string, name: string): Promise<VerifyResult> {
  const session = new Session({ store });
  try {
    return await verify(session, name);
  } finally {
    await session.close();
  }
}

/** Imports the keys and names of a tree into a store. */
export async function importTree(root: string, path: string): Promise<void> {
  const store = openStore(path, { create: true });
  try {
    await importKeyFiles(store.ledger, [join(root, 'truth/keys.txt')]);
    await importListfile(store.layout, createReadStream(join(root, 'listfile.csv')));
  } finally {
    store.close();
  }
}

/** Extracts what is expected, and says what is wrong with it. */
export async function wrongOf(
  store: string,
  name: string,
  expected: readonly Expected[],
  { to, locale = 'enUS' }: { to: string; locale?: string },
): Promise<string[]> {
  const names = expected.map(({ query }) => query);
  const result: ExtractResult = await withOpened(store, name, (source) => extractFiles(source, { names, to }), {
    locale,
  });
  const locked = expected.filter(({ lockedBy }) => lockedBy !== undefined).length;
  const wrong = wrongFiles(expected, to, result.failed);
  if (result.files !== expected.length - locked) wrong.push(`${result.files} files of ${expected.length - locked}`);
  return wrong;
}

/** All entries of a source. */
export async function listAll(source: Source): Promise<SourceEntry[]> {
  const entries: SourceEntry[] = [];
  for await (const entry of source.list(() => true)) entries.push(entry);
  return entries;
}

/** Every file below a folder with its size and time: to see that nothing was written. */
export function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { size, mtimeMs } = statSync(join(folder, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
