import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type ExtractOptions, type ExtractResult, extractFiles } from '../../../src/sources/extract/extract.ts';
import { builtModule, threadProgram } from '../../support/built-module.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { GeneratedCdn } from '../../sync/generated-build.ts';
import { damagedCopy, openWatched, syncedBuild } from './synced-build.ts';

/* What threads write is what this one writes: each case is done both ways, in two folders that were alike before. */

const scratch = scratchFolder();
const built = builtModule('src/sources/extract/threads/extract-worker.ts');
const store = scratch('store');
let cdn: GeneratedCdn;
let workerUrl: URL;
let number = 0;

beforeAll(async () => {
  workerUrl = threadProgram(scratch('program'), 'extract-worker', built);
  ({ cdn } = await syncedBuild(store));
});

interface Extracted {
  result: ExtractResult;
  /** Files that this thread read. */
  read: Set<string>;
  /** Bytes and files that progress told of. */
  told: { files: number; bytes: number };
}

async function extract(root: string, to: string, options: Partial<ExtractOptions>): Promise<Extracted> {
  const { source, read, close } = await openWatched(cdn, root);
  try {
    const told = { files: 0, bytes: 0 };
    const onFile = (bytes: number): void => {
      told.files += 1;
      told.bytes += bytes;
    };
    const result = await extractFiles(source, { names: [], to, workerUrl, onFile, ...options });
    return { result, read, told };
  } finally {
    await close();
  }
}

function filesBelow(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => fs.lstatSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(join(folder, name), 'latin1')]));
}

/** Extracts here and in threads. @param prepare makes a folder ready */
async function bothWays(
  options: Partial<ExtractOptions> = {},
  { root = store, prepare }: { root?: string; prepare?: (to: string) => void } = {},
): Promise<{ here: Extracted; threads: Extracted; files: Record<string, string> }> {
  number += 1;
  const [a, b] = [scratch(`here${number}`), scratch(`threads${number}`)];
  for (const to of [a, b]) prepare?.(to);
  const here = await extract(root, a, { ...options, threads: 0 });
  const threads = await extract(root, b, { ...options, threads: 2 });
  expect(JSON.parse(JSON.stringify(threads.result).replaceAll(b, a))).toEqual(here.result);
  expect(threads.told).toEqual(here.told);
  const files = filesBelow(b);
  expect(files).toEqual(filesBelow(a));
  return { here, threads, files };
}

describe('in threads', () => {
  test('all files are written, and hardly one here: those that lack a key, or lacked it when they came', async () => {
    const { here, threads, files } = await bothWays();
    expect(Object.keys(files).length).toBeGreaterThan(100);
    expect(here.read.size).toBe(here.result.files + here.result.failed.length);
    expect([...threads.read]).toEqual(expect.arrayContaining(here.result.failed.map(({ name }) => name)));
    expect(threads.read.size).toBeLessThan(here.result.failed.length + 10);
  });

  test('a machine with one core has a thread as well: hardly a file is read here', async () => {
    const { here, files } = await bothWays();
    const to = scratch('one');
    const { result, read } = await extract(store, to, { threads: 1 });
    expect(result.files).toBe(here.result.files);
    expect(read.size).toBeLessThan(here.result.failed.length + 10);
    expect(filesBelow(to)).toEqual(files);
  });

  test('files that are there and right are passed over, others are written anew', async () => {
    const { files } = await bothWays();
    const [changed = '', shorter = '', ...others] = Object.keys(files).filter((name) => files[name] !== '');
    const { here, threads } = await bothWays(
      {},
      {
        prepare(to) {
          for (const [name, content] of Object.entries(files)) {
            fs.mkdirSync(join(to, name, '..'), { recursive: true });
            fs.writeFileSync(join(to, name), content, 'latin1');
          }
          fs.writeFileSync(join(to, changed), 'x'.repeat(files[changed]!.length));
          fs.writeFileSync(join(to, shorter), files[shorter]!.slice(1), 'latin1');
        },
      },
    );
    expect(here.result).toMatchObject({ files: 2 });
    expect(here.result.skipped).toBeGreaterThanOrEqual(others.length);
    expect([...threads.read].sort()).toEqual(here.result.failed.map(({ name }) => name).sort());
  });

  test('what only begins as a file does, a link to the right one, and a pipe are not taken for it', async () => {
    const { files } = await bothWays();
    const names = Object.keys(files).filter((name) => files[name] !== '' && files[name]!.length < 100_000);
    const [longer = '', linked = '', piped = ''] = names;
    const right = scratch('right');
    fs.writeFileSync(right, files[linked]!, 'latin1');
    const { here, files: after } = await bothWays(
      {},
      {
        prepare(to) {
          for (const name of [longer, linked, piped]) fs.mkdirSync(join(to, name, '..'), { recursive: true });
          fs.writeFileSync(join(to, longer), `${files[longer]}x`, 'latin1');
          fs.symlinkSync(right, join(to, linked));
          execFileSync('mkfifo', [join(to, piped)]);
        },
      },
    );
    expect(here.result.skipped).toBe(0);
    expect(after[longer]).toBe(files[longer]);
    const refused = here.result.failed
      .filter(({ code }) => code === 'E_UNSAFE_PATH')
      .map(({ name }) => name.replace(':', '-'));
    expect(refused.sort()).toEqual([linked, piped].sort());
  });

  test('files in the way of each other in a new folder are refused as they are here', async () => {
    const { files } = await bothWays();
    const names = Object.keys(files).filter((name) => name.includes('/') && files[name] !== '');
    const outputs = ['new/a', 'new/a/b', 'new/c/d', 'new/c', 'e', 'e/f'];
    const list = outputs.map((output, i) => ({ name: names[i] ?? '', output }));
    const { here } = await bothWays({ list });
    expect(here.result.failed.map(({ code }) => code)).toEqual(['E_UNSAFE_PATH', 'E_UNSAFE_PATH', 'E_UNSAFE_PATH']);
    expect(here.result.files).toBe(3);
  });

  test('a damaged entry is refused as it is here, and the others are written', async () => {
    const root = scratch('damaged');
    damagedCopy(store, root);
    const { here, threads } = await bothWays({}, { root });
    const damaged = here.result.failed.filter(({ code }) => code === 'E_INTEGRITY');
    expect(damaged.length).toBeGreaterThan(0);
    expect(here.result.files).toBeGreaterThan(damaged.length);
    expect(threads.read.size).toBeLessThan(here.result.failed.length + 10);
  });

  test('a name that is listed twice is written once; one that is in the way is refused', async () => {
    const { files } = await bothWays();
    const names = Object.keys(files).filter((name) => name.includes('/'));
    const [first = '', second = ''] = names;
    const list = [...names.map((name) => ({ name })), { name: first }, { name: second, output: first.toUpperCase() }];
    const { here } = await bothWays(
      { list },
      {
        prepare(to) {
          fs.mkdirSync(join(to, second), { recursive: true });
        },
      },
    );
    expect(here.result.skipped).toBe(1);
    expect(here.result.failed.map(({ code }) => code)).toEqual(['E_UNSAFE_PATH', 'E_UNSAFE_PATH']);
  });

  test('a link out of the folder is not followed', async () => {
    const { files } = await bothWays();
    const folder = Object.keys(files)
      .find((name) => name.includes('/'))!
      .split('/')[0]!;
    const outside = scratch('outside');
    fs.mkdirSync(outside, { recursive: true });
    const { here } = await bothWays(
      {},
      {
        prepare(to) {
          fs.mkdirSync(to);
          fs.symlinkSync(outside, join(to, folder));
        },
      },
    );
    expect(here.result.failed.some(({ code }) => code === 'E_UNSAFE_PATH')).toBe(true);
    expect(fs.readdirSync(outside)).toEqual([]);
  });

  test('a pipe in the place of an empty file is refused, and nobody waits for it', async () => {
    const { files } = await bothWays();
    const name = Object.keys(files).find((one) => files[one] === '')!;
    const { here } = await bothWays(
      {},
      {
        prepare(to) {
          fs.mkdirSync(join(to, name, '..'), { recursive: true });
          execFileSync('mkfifo', [join(to, name)]);
        },
      },
    );
    expect(here.result.failed.some(({ code }) => code === 'E_UNSAFE_PATH')).toBe(true);
  });

  test('an interruption ends all of them and leaves no file half-written', async () => {
    const to = scratch('interrupted');
    const controller = new AbortController();
    const onFile = (): void => controller.abort();
    const work = extract(store, to, { threads: 2, signal: controller.signal, onFile });
    await expect(work).rejects.toMatchObject({ code: 'E_ABORTED' });
    const { files } = await bothWays();
    for (const [name, content] of Object.entries(filesBelow(to))) expect([name, content]).toEqual([name, files[name]]);
  });

  test('where the program of a thread is not there, it is done here', async () => {
    const url = new URL('file:///nowhere/any.js');
    const { read } = await extract(store, scratch('without'), { threads: 2, workerUrl: url });
    expect(read.size).toBeGreaterThan(100);
  });
});
