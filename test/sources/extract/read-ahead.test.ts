import { beforeAll, describe, expect, test } from '@jest/globals';
import { concatBytes } from '../../../src/core/bytes.ts';
import type { ExtractOptions, ExtractResult } from '../../../src/sources/extract/extract.ts';
import { tarFiles } from '../../../src/sources/extract/extract-tar.ts';
import { filesAhead } from '../../../src/sources/extract/read-ahead.ts';
import { builtModule, threadProgram } from '../../support/built-module.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { GeneratedCdn } from '../../sync/generated-build.ts';
import { damagedCopy, openWatched, syncedBuild } from './synced-build.ts';

/* What threads decode ahead is what this one reads: each tar is made both ways. */

const scratch = scratchFolder();
const built = builtModule('src/sources/extract/threads/decode-worker.ts');
const store = scratch('store');
let cdn: GeneratedCdn;
let workerUrl: URL;

beforeAll(async () => {
  workerUrl = threadProgram(scratch('program'), 'decode-worker', built);
  ({ cdn } = await syncedBuild(store));
});

interface Taken {
  tar: Buffer;
  result: ExtractResult;
  /** Files that this thread read. */
  read: Set<string>;
}

async function tarOf(root: string, options: Partial<ExtractOptions>): Promise<Taken> {
  const { source, read, close } = await openWatched(cdn, root);
  try {
    const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
    const pieces: Uint8Array[] = [];
    for await (const piece of tarFiles(source, { names: [], workerUrl, ...options }, result)) pieces.push(piece);
    return { tar: Buffer.from(concatBytes(pieces)), result, read };
  } finally {
    await close();
  }
}

async function bothWays(options: Partial<ExtractOptions> = {}, root = store): Promise<{ here: Taken; threads: Taken }> {
  const here = await tarOf(root, { ...options, threads: 0 });
  const threads = await tarOf(root, { ...options, threads: 2 });
  expect(threads.result).toEqual(here.result);
  expect(threads.tar.equals(here.tar)).toBe(true);
  return { here, threads };
}

describe('a tar of a build', () => {
  test('is the same from threads, and hardly a file is read here: those that lack a key, or lacked it when they came', async () => {
    const { here, threads } = await bothWays();
    expect(here.result.files).toBeGreaterThan(100);
    expect(here.read.size).toBe(here.result.files + here.result.failed.length);
    expect([...threads.read]).toEqual(expect.arrayContaining(here.result.failed.map(({ name }) => name)));
    expect(threads.read.size).toBeLessThan(here.result.failed.length + 10);
    const locked = here.result.failed.filter(({ code }) => code === 'E_KEY_MISSING');
    expect(locked.length).toBeGreaterThan(0);
    // By it files are told together.
    for (const { key } of locked) expect(key).toMatch(/^[0-9A-F]{16}$/i);
  });

  test('is made so by one thread on a machine with one core', async () => {
    const { tar, read } = await tarOf(store, { threads: 1 });
    const { here } = await bothWays();
    expect(tar.equals(here.tar)).toBe(true);
    expect(read.size).toBeLessThan(here.result.failed.length + 10);
  });

  test('lacks what is damaged, and has all others', async () => {
    const root = scratch('damaged');
    damagedCopy(store, root);
    const { here, threads } = await bothWays({}, root);
    const damaged = here.result.failed.filter(({ code }) => code === 'E_INTEGRITY');
    expect(damaged.length).toBeGreaterThan(0);
    expect(here.result.files).toBeGreaterThan(damaged.length);
    expect(threads.read.size).toBeLessThan(here.result.failed.length + 10);
  });

  test('has the files of a list in its order, twice where they are listed twice', async () => {
    const { source, close } = await openWatched(cdn, store);
    const names: string[] = [];
    for await (const { name } of source.list(() => true)) names.push(name);
    await close();
    const [first = '', second = ''] = names;
    const list = [...names.reverse(), second, first].map((name, i) => ({ name, output: `file-${i}` }));
    const { here } = await bothWays({ list });
    expect(here.result.files).toBe(list.length - here.result.failed.length);
  });

  test('is made here where the program of a thread is not there', async () => {
    const { read } = await tarOf(store, { threads: 2, workerUrl: new URL('file:///nowhere/any.js') });
    expect(read.size).toBeGreaterThan(100);
  });
});

describe('files that threads decode ahead', () => {
  test('end with an interruption', async () => {
    const controller = new AbortController();
    const onFile = (): void => controller.abort();
    const work = tarOf(store, { threads: 2, signal: controller.signal, onFile });
    await expect(work).rejects.toMatchObject({ code: 'E_ABORTED' });
  });

  test('are let go of by whoever wants no more', async () => {
    const { source, read, close } = await openWatched(cdn, store);
    let given = 0;
    for await (const { content } of filesAhead(source, { names: [], threads: 2, workerUrl }, () => {})) {
      if (content !== undefined) given += 1;
      if (given === 3) break;
    }
    expect(given).toBe(3);
    expect(read.size).toBe(0);
    await close();
  });
});
