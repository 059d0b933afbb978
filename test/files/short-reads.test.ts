import { createHash, randomBytes } from 'node:crypto';
import * as real from 'node:fs';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Pakrat } from '../../src/pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';

/* A read that gives less than is asked for, as a network drive and some file systems of users give it: what comes of it is the same. */

const scratch = scratchFolder();
/** Reads of more than a sector give some sectors. */
const sector = 512;
let isCutting = false;
let reads = 0;
let cut = 0;

function readSync(
  fd: number,
  bytes: Uint8Array,
  offset = 0,
  size = bytes.length - offset,
  position: number | null = null,
): number {
  reads += 1;
  const sectors = Math.ceil(size / sector) - 1;
  const isCut = isCutting && sectors > 0 && reads % 3 > 0;
  if (isCut) cut += 1;
  return real.readSync(fd, bytes, offset, isCut ? sector * (1 + ((reads * 7919) % sectors)) : size, position);
}

jest.unstable_mockModule('node:fs', () => ({ ...real, readSync, default: { ...real, readSync } }));
const { readAt, readUpTo } = await import('../../src/files/read-at.ts');
const { SpanWriter } = await import('../../src/fetch/transfer/span-writer.ts');
const { NamesWriter } = await import('../../src/sources/names/names-writer.ts');
const { NameIndex } = await import('../../src/sources/names/name-index.ts');
const { appendHistory, readHistory } = await import('../../src/store/history/history-file.ts');
const { SameContent } = await import('../../src/sources/extract/threads/same-content.ts');
const { Workroom } = await import('../../src/sources/extract/threads/workroom.ts');
const { openPakrat } = await import('../../src/pakrat.ts');
const { syntheticCdn } = await import('../support/own-cdn.ts');

let cdn: SyntheticCdn;
beforeAll(async () => {
  cdn = await syntheticCdn({ make: ['--files', '60', '--total-bytes', '2M', '--archives', '3', '--loose-meta', '1'] });
}, 120_000);
afterAll(() => cdn?.close());
beforeEach(() => {
  isCutting = true;
  cut = 0;
});
afterAll(() => {
  isCutting = false;
});

test('bytes of a file, and what a transfer holds already', () => {
  const content = randomBytes(100_000);
  writeFileSync(scratch('file'), content);
  const fd = real.openSync(scratch('file'), 'r+');
  expect(Buffer.from(readAt(fd, 10, 90_000, 'file')).equals(content.subarray(10, 90_010))).toBe(true);
  const some = Buffer.alloc(50_000);
  expect(readUpTo(fd, some, 70_000)).toBe(30_000);
  expect(some.subarray(0, 30_000).equals(content.subarray(70_000))).toBe(true);
  expect(() => readAt(fd, 70_000, 30_001, 'file')).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
  real.closeSync(fd);
  const writer = new SpanWriter({ file: scratch('file') }, scratch('tmp'), () => {});
  expect(Buffer.from(writer.read(5, 200_000)).equals(content.subarray(5))).toBe(true);
  expect(cut).toBeGreaterThan(3);
});

test('every name of a source is found', async () => {
  const writer = new NamesWriter(scratch());
  const names = Array.from({ length: 5000 }, (_, i) => `folder/name-${String(i).padStart(5, '0')}.txt`);
  for (const name of names) writer.add(name, { other: name });
  const index = new NameIndex(writer.finish());
  // In no order, for a piece of them is kept.
  const shuffled = names.map((_, i) => names[(i * 1237) % names.length]!);
  expect(shuffled.filter((name) => index.find(Buffer.from(name))?.name !== name)).toEqual([]);
  expect([...index.lines(0)].map(({ name }) => name)).toEqual(names);
  expect(index.find(Buffer.from('folder/name-00001.tx'))).toBeUndefined();
  index.close();
  expect(cut).toBeGreaterThan(10);
});

test('files that are there and right, and none that is longer, shorter or other', () => {
  const sizes = [1, 512, 3000, 4096, 70_144, 1 << 20, (1 << 20) + 1, 3_000_000];
  const files = sizes.flatMap((size) => {
    const content = randomBytes(size);
    const found = { right: content, longer: Buffer.concat([content, content]), other: randomBytes(size) };
    return Object.entries({ ...found, shorter: content.subarray(1) }).map(([kind, bytes]) => {
      writeFileSync(scratch(`${kind}-${size}`), bytes);
      return { path: `${kind}-${size}`, size, md5: createHash('md5').update(content).digest('hex') };
    });
  });
  const same = new SameContent(scratch(), new Workroom(), () => {}).find(files);
  // A byte may come out again as it was.
  const isSure = ({ path }: { path: string }): boolean => path !== 'other-1';
  expect([...same].filter(isSure).map(({ path }) => path)).toEqual(sizes.map((size) => `right-${size}`));
});

test('a torn end of a history is known once more is written, and all of it is read', () => {
  const file = scratch('history.jsonl');
  const line = (name: string): string => JSON.stringify({ type: 'forgotten', build: name.repeat(500) });
  appendHistory(file, [line('a'), line('b')]);
  real.appendFileSync(file, '{"type":"torn');
  appendHistory(file, [line('c')]);
  const found = [...readHistory(file)];
  expect(found.map((row) => ('md5' in row ? row.md5 : row.line.build))).toEqual(
    ['a', 'b', 'c'].map((name) => name.repeat(500)),
  );
});

test('a build is fetched, listed, extracted twice and checked', async () => {
  const pakrat = await openPakrat({ store: scratch('store'), patchUrl: cdn.url, threads: 0 });
  const extract = (session: Pakrat) => session.extract('wow', { to: scratch('out') });
  try {
    await pakrat.listfile.import(join(cdn.root, 'listfile.csv'));
    expect((await pakrat.sync('wow', { all: true })).missing.entries).toBe(0);
    const report = await extract(pakrat);
    // Keys that nobody has.
    expect(report.failed.filter(({ code }) => code !== 'E_KEY_MISSING')).toEqual([]);
    const inodes = filesOf(scratch('out')).map(({ inode }) => inode);
    await extract(pakrat);
    // What is there and right is not written again.
    expect(filesOf(scratch('out')).map(({ inode }) => inode)).toEqual(inodes);
    expect((await pakrat.verify()).bad).toEqual([]);
  } finally {
    await pakrat.close();
  }
  expect(cut).toBeGreaterThan(100);
  const other = await openPakrat({ store: scratch('other'), patchUrl: cdn.url, threads: 0 });
  isCutting = false;
  await other.listfile.import(join(cdn.root, 'listfile.csv'));
  await other.extract('wow', { to: scratch('right') }).finally(() => other.close());
  const contents = (folder: string): string[] => filesOf(folder).map(({ name, hex }) => `${name} ${hex}`);
  expect(contents(scratch('out'))).toEqual(contents(scratch('right')));
}, 120_000);

function filesOf(folder: string): { name: string; inode: number; hex: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .filter((name) => real.statSync(join(folder, name)).isFile())
    .map((name) => ({
      name,
      inode: real.statSync(join(folder, name)).ino,
      hex: readFileSync(join(folder, name)).toString('hex'),
    }));
}
