import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildSync } from 'esbuild';
import { openPakrat } from '../src/index.ts';
import { quakePak } from './support/quake-pak.ts';
import { scratchFolder } from './support/scratch.ts';

/* The built library as the process of somebody else has it: by import, by require, and bundled. */

const scratch = scratchFolder();
const library = resolve('dist/index.js');
// Inside of the project, so that native packages are found from there.
const bundles = mkdtempSync(join('node_modules', '.pakrat-bundled-'));
afterAll(() => rmSync(bundles, { recursive: true, force: true }));
const pak = (): string => scratch('a.pak');
beforeAll(() => writeFileSync(pak(), quakePak([{ name: 'maps/a.bsp', content: 'a map' }])));

/** A program that opens sessions, with and without a store, and tells what it saw of the process. */
const program = (load: string): string => `
  const events = ['SIGINT', 'SIGTERM', 'exit', 'beforeExit', 'uncaughtException', 'unhandledRejection', 'warning'];
  const listeners = () => events.map((event) => process.listenerCount(event));
  const before = listeners();
  (async () => {
    const { openPakrat } = ${load};
    const seen = [];
    for (const options of [{}, { threads: 0, store: ${JSON.stringify(scratch('store'))} }]) {
      const pakrat = await openPakrat(options);
      const source = await pakrat.open(${JSON.stringify(pak())});
      for await (const { name } of source.list()) seen.push(name);
      const signal = AbortSignal.timeout(10000);
      await pakrat.extract(${JSON.stringify(pak())}, { to: ${JSON.stringify(scratch('out'))}, signal });
      await pakrat.verify(${JSON.stringify(pak())}, { signal });
      if (options.store !== undefined) seen.push((await pakrat.keys.import([])).read, ...(await pakrat.keys.list()));
      await pakrat.close();
    }
    // Node itself has one for its own top level while that runs.
    seen.push(listeners().every((count, i) => count <= before[i]));
    process.stdout.write(JSON.stringify(seen));
  })();
`;

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
}
const quiet = { status: 0, stderr: '', stdout: '["maps/a.bsp","maps/a.bsp",0,true]' };

describe('the library prints nothing, handles no signals and ends no process', () => {
  test('imported', () => {
    const text = program(`await import(${JSON.stringify(pathToFileURL(library))})`);
    expect(run('--input-type=module', '--eval', text)).toMatchObject(quiet);
  });

  test('required: nothing in it awaits at the top', () => {
    const noWarning = '--disable-warning=ExperimentalWarning';
    expect(
      run(noWarning, '--input-type=commonjs', '--eval', program(`require(${JSON.stringify(library)})`)),
    ).toMatchObject(quiet);
  });

  test.each(['esm', 'cjs'] as const)('bundled as %s, into one file far from its own', (format) => {
    const entry = join(bundles, `entry-${format}.mjs`);
    writeFileSync(entry, `import * as library from ${JSON.stringify(library)};${program('library')}`);
    const outfile = join(bundles, format, format === 'esm' ? 'app.mjs' : 'app.cjs');
    const external = ['better-sqlite3', 'fuse-native', 'ooz-wasm'];
    const shared = { bundle: true, platform: 'node', external, logLevel: 'error' } as const;
    buildSync({ ...shared, entryPoints: [entry], outfile, format, logOverride: { 'empty-import-meta': 'silent' } });
    expect(run(outfile)).toMatchObject(quiet);
  });
});

test('a session that is closed closes the sources that are still open; each may be closed again', async () => {
  const pakrat = await openPakrat();
  const [first, second] = [await pakrat.open(pak()), await pakrat.open(pak())];
  await first.close();
  expect(Buffer.from(await second.bytes('maps/a.bsp')).toString()).toBe('a map');
  await pakrat.close();
  await expect(second.bytes('maps/a.bsp')).rejects.toBeDefined();
  for (const each of [first, second, pakrat]) await each.close();
});

test('a listing ends with its signal', async () => {
  await using pakrat = await openPakrat();
  await using source = await pakrat.open(pak());
  const list = source.list(undefined, { signal: AbortSignal.abort() });
  await expect(list.next()).rejects.toMatchObject({ code: 'E_ABORTED' });
});

test('packing tells how far it is', async () => {
  mkdirSync(scratch('folder'));
  for (const name of ['a', 'b']) writeFileSync(scratch('folder', name), 'content');
  await using pakrat = await openPakrat();
  const events: unknown[] = [];
  await pakrat.pack.unreal(scratch('made.pak'), scratch('folder'), { onProgress: (event) => events.push(event) });
  expect(events[0]).toEqual({ type: 'step', step: 'files', bytes: 0 });
  expect(events.at(-1)).toEqual({ type: 'bytes', phase: 'pack', done: 14, total: 14, files: { done: 2, total: 2 } });
  const ended = pakrat.pack.quake(scratch('none.pak'), scratch('folder'), { signal: AbortSignal.abort() });
  await expect(ended).rejects.toMatchObject({ code: 'E_ABORTED' });
});

test('keys that are missing are told of a source, open or not', async () => {
  await using pakrat = await openPakrat();
  expect(await pakrat.keys.missing(pak())).toEqual([]);
  await using source = await pakrat.open(pak());
  expect(await source.missingKeys()).toEqual([]);
});
