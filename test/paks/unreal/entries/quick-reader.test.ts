import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { openPak, type PakOptions } from '../../../../src/paks/index.ts';
import type { EntryPart, Pak } from '../../../../src/paks/pak.ts';
import type { UnrealEntry } from '../../../../src/paks/unreal/entries/unreal-entry.ts';
import { extractFiles } from '../../../../src/sources/extract/extract.ts';
import { pakSource } from '../../../../src/sources/paks/pak-source.ts';
import { gather } from '../../../support/pak-sources.ts';
import { legacyPak, type UnrealRow, unrealPak } from '../../../support/pak-unreal.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const folder = scratchFolder();
const blockSize = 65_536;
const key = new Uint8Array(32).map((_, i) => i + 1);

/** Bytes of which half compresses. */
function halfNoise(size: number): Buffer {
  const bytes = Buffer.alloc(size, 'a text that repeats itself ');
  for (let at = 0; at < size; at += 64) createHash('sha256').update(`${at}`).digest().copy(bytes, at);
  return bytes;
}

function zlibRow(name: string, content: Buffer): UnrealRow {
  const count = Math.ceil(content.length / blockSize);
  const blocks = Array.from({ length: count }, (_, i) =>
    deflateSync(content.subarray(i * blockSize, (i + 1) * blockSize)),
  );
  return { name, content, blocks, method: 1, blockSize };
}

const rows: UnrealRow[] = [
  zlibRow('small', halfNoise(9_000)),
  zlibRow('next', halfNoise(11_000)),
  zlibRow('large', halfNoise(1_500_000)),
  zlibRow('dense', Buffer.alloc(5_000_000, 'x')),
  { name: 'plain', content: halfNoise(7_000) },
  { name: 'large plain', content: halfNoise(700_000) },
];
const shapes = [1, 3, 4, 5, 7, 11, 12];
const shape = (version: number, list: readonly UnrealRow[] = rows): Uint8Array =>
  version < 10
    ? legacyPak(version < 3 ? list.filter(({ method }) => method === undefined) : list, { version })
    : unrealPak(list, { version, methods: ['zlib'] });

async function open(name: string, bytes: Uint8Array, options: PakOptions = {}): Promise<Pak> {
  writeFileSync(folder(name), bytes);
  return openPak(folder(name), options);
}

/** What comes at once, and whether it is said to be right. */
async function readNow(pak: Pak, name: string, part?: EntryPart): Promise<{ bytes: Buffer; isRight: boolean }> {
  const read = await pak.readerAtOnce!();
  const pieces = read(pak.find(name)!, part);
  const copies: Uint8Array[] = [];
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return { bytes: Buffer.concat(copies), isRight: value };
    expect(value.length).toBeLessThanOrEqual(1 << 20);
    copies.push(value.slice());
  }
}

test.each(shapes)('version %d: what comes at once is what comes otherwise', async (version) => {
  const pak = await open(`v${version}`, shape(version));
  expect(pak.entries.length).toBeGreaterThan(1);
  for (const { name } of pak.entries) {
    const { bytes, isRight } = await readNow(pak, name);
    expect([name, isRight]).toEqual([name, true]);
    expect(bytes.equals(rows.find((row) => row.name === name)!.content)).toBe(true);
  }
  await pak.close();
});

test('what has a hash and is small is checked at once, and nothing else', async () => {
  const names = async (pak: Pak): Promise<string[]> => {
    const isRight = await pak.checkerAtOnce!();
    return pak.entries.filter(isRight).map(({ name }) => name);
  };
  const whole = await open('checked', shape(3));
  expect(await names(whole)).toEqual(['small', 'next', 'dense', 'plain']);
  for (const name of await names(whole)) expect(await whole.hasProof(whole.find(name)!)).toBe(true);
  const some = rows.slice(0, 2).map((row, i) => ({ ...row, hasNoHash: i === 0 }));
  expect(await names(await open('one without', legacyPak(some, { version: 3 })))).toEqual(['next']);
  const locked = unrealPak(rows, { version: 11, methods: ['zlib'], key, encryptData: true });
  expect(await names(await open('sealed', locked, { keys: [key] }))).toEqual([]);
});

test('parts of what is in blocks come at once, wherever they start and end', async () => {
  const pak = await open('parts', shape(3));
  const { content } = rows.find(({ name }) => name === 'large')!;
  for (const [offset, size] of [
    [0, blockSize],
    [blockSize * 3, blockSize * 9],
    [100_001, 3],
    [65_000, 900_000],
    [content.length - 1, 1],
  ] as const) {
    const { bytes, isRight } = await readNow(pak, 'large', { offset, size });
    expect(isRight).toBe(true);
    expect(bytes.equals(content.subarray(offset, offset + size))).toBe(true);
  }
  expect(await readNow(pak, 'plain', { offset: 1, size: 2 })).toMatchObject({ isRight: false });
  await pak.close();
});

test('what is not as most are does not come at once', async () => {
  const gzip = unrealPak([{ ...rows[0]!, blocks: [gzipSync(rows[0]!.content)] }], { version: 11, methods: ['gzip'] });
  expect(await readNow(await open('gzip', gzip), 'small')).toMatchObject({ isRight: false });
  const locked = unrealPak(rows, { version: 11, methods: ['zlib'], key, encryptData: true });
  expect(await readNow(await open('locked', locked, { keys: [key] }), 'small')).toMatchObject({ isRight: false });
  expect(await readNow(await open('trusting', shape(3), { ignoreHashes: true }), 'plain')).toMatchObject({
    isRight: false,
  });
  const content = halfNoise(900_000);
  const block = legacyPak([{ name: 'block', content, blocks: [deflateSync(content)], method: 1, blockSize: 900_000 }], {
    version: 3,
  });
  expect(await readNow(await open('block', block), 'block')).toMatchObject({ isRight: false });
  const empty = legacyPak([{ name: 'empty', content: Buffer.alloc(0) }], { version: 3 });
  expect(await readNow(await open('empty', empty), 'empty')).toMatchObject({ isRight: false });
});

test.each([3, 11])('version %d: no damage is said to be right, and it is told as ever', async (version) => {
  const whole = shape(version);
  const pak = await open('whole', whole);
  const damage = pak.entries.flatMap((entry) => {
    const { offset, headerSize, storedSize } = (entry as UnrealEntry).record;
    const places = [
      8,
      16,
      24,
      30,
      headerSize - 1,
      headerSize,
      headerSize + (storedSize >> 1),
      headerSize + storedSize - 1,
    ];
    return places.map((place) => ({ name: entry.name, at: offset + place }));
  });
  await pak.close();
  expect(damage.length).toBeGreaterThan(40);
  for (const { name, at } of damage) {
    const bytes = whole.slice();
    bytes[at]! ^= 0x41;
    const damaged = await open('damaged', bytes);
    const { content } = rows.find((row) => row.name === name)!;
    const now = await readNow(damaged, name);
    const told = await gather(damaged.read(damaged.find(name)!)).catch((error: Error) => error);
    // The SHA-1 of what has checksums of its own is for `verify`.
    if (told instanceof Error) expect([at, now.isRight]).toEqual([at, false]);
    else expect(now.isRight && now.bytes.equals(content)).toBe(true);
    const isSmall = content.length < 200_000 || name === 'dense';
    const isRight = (await damaged.checkerAtOnce!())(damaged.find(name)!);
    expect([at, isRight]).toEqual([at, isSmall && (await damaged.verify(damaged.find(name)!)) === undefined]);
    const to = folder(`out-${at}`);
    const { failed } = await extractFiles(pakSource(damaged, 'x'), { names: [name], to });
    expect(failed.map(({ message }) => message)).toEqual(told instanceof Error ? [told.message] : []);
    expect(readdirSync(to)).toEqual(told instanceof Error ? [] : [name]);
    await damaged.close();
  }
});

test('files that come at once are written whole, over what is there', async () => {
  const pak = await open('written', shape(12));
  const to = folder('to');
  for (const round of [1, 2]) {
    expect([round, await extractFiles(pakSource(pak, 'x'), { names: [], to })]).toMatchObject([round, { failed: [] }]);
    for (const { name, content } of rows) expect(readFileSync(`${to}/${name}`).equals(content)).toBe(true);
  }
  expect(readdirSync(to).sort()).toEqual(rows.map(({ name }) => name).sort());
});
