import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { fileSource } from '../../../../src/files/file-source.ts';
import { shareDirectory } from '../../../../src/paks/many-entries.ts';
import type { Pak } from '../../../../src/paks/pak.ts';
import { unreal } from '../../../../src/paks/unreal/index.ts';
import type { UnrealOptions } from '../../../../src/paks/unreal/options.ts';
import { gather, packed } from '../../../support/pak-sources.ts';
import { legacyPak, type UnrealShape, unrealPak } from '../../../support/pak-unreal.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { someOf } from '../../../support/some-of.ts';

/*
 * The index of a PAK with very many files stays in the file, and its rows are read there. Whatever is asked has the answer that it has of an index in memory.
 */

const scratch = scratchFolder();
const count = 16_000;
const nameOf = (row: number): string =>
  `Content/Maps/Area${row % 7}/SubLevel${row % 211}/Texture_${row}_${'x'.repeat(300)}.uasset`;
/** One row is larger than what is looked at at once. */
const longRow = 8_000;
const longName = `Content/${'long'.repeat(800_000)}`;
const rows = Array.from({ length: count }, (_, row) => ({
  name: row === longRow ? longName : nameOf(row),
  content: Buffer.from(`content ${row}`),
}));
const names = rows.map(({ name }) => name);

const key = new Uint8Array(32).fill(7);
const otherKey = new Uint8Array(32).fill(8);
const encrypted = { key, encryptIndex: true };
/** Made when it is asked for, and kept. */
const once = (make: () => Uint8Array): (() => Uint8Array) => {
  let made: Uint8Array | undefined;
  return () => (made ??= make());
};
const legacy = (shape: Parameters<typeof legacyPak>[1]) => once(() => legacyPak(rows, shape));
const primary = (shape: UnrealShape) => once(() => unrealPak(rows, shape));
const forms: [form: string, make: () => Uint8Array, options: UnrealOptions][] = [
  ['version 3', legacy({ version: 3 }), {}],
  ['version 7, encrypted', legacy({ version: 7, key }), { keys: [otherKey, key] }],
  ['version 11', primary({ version: 11 }), {}],
  ['version 11, encrypted', primary({ version: 11, ...encrypted }), { keys: [otherKey, key] }],
  ['version 12, directory only', primary({ version: 12, hasPathHashes: false }), {}],
  ['version 15, AES-CTR', primary({ version: 15, isCtr: true, ...encrypted }), { keys: [key] }],
];

let bytes: Uint8Array;
let index: { offset: number; size: number };
let opened: Pak[] = [];

beforeAll(async () => {
  bytes = forms[0]![1]();
  const { indexOffset, indexSize } = (await unreal.open(bytesSource(bytes))).facts;
  index = { offset: Number(indexOffset), size: Number(indexSize) };
  expect(index.size).toBeGreaterThan(8 << 20);
});

afterEach(async () => {
  for (const pak of opened) await pak.close();
  opened = [];
});

async function openFile(content = bytes, options: UnrealOptions = {}, shared?: unknown): Promise<Pak> {
  const file = scratch('large.pak');
  writeFileSync(file, content);
  const pak = await unreal.open(await fileSource(file), options, shared);
  opened.push(pak);
  return pak;
}

const textOf = async (pak: Pak, row: number): Promise<string> =>
  Buffer.from(await gather(pak.read(pak.entries[row]!))).toString();

const chosenForms = someOf(forms, (_, i) => i === 1 || i === 2 || i === 5);

describe.each(chosenForms)('rows that stay in the file, %s', (_form, make, options) => {
  let whole: Uint8Array;
  /** Row of the PAK by number of the name: from version 10 on files of a folder lie together. */
  let rowOf: Map<string, number>;
  beforeAll(async () => {
    whole = make();
    const inMemory = await unreal.open(bytesSource(whole), options);
    rowOf = new Map(inMemory.entries.map(({ name }, row) => [name, row]));
  });

  test('have their names, sizes, hashes and contents, in whatever order they are asked for', async () => {
    const [pak, inMemory] = [await openFile(whole, options), await unreal.open(bytesSource(whole), options)];
    expect(pak.entries).toHaveLength(count);
    const forward = pak.entries.map(({ name }) => name);
    expect(forward.toSorted()).toEqual(names.toSorted());
    expect(pak.entries.toReversed().map(({ name }) => name)).toEqual(forward.toReversed());
    // Prime to the count: each once, in no order.
    for (let i = 0, row = 0; i < count; i++, row = (row + 12_347) % count) {
      const { name, size, offset, hidden } = pak.entries[row]!;
      const other = inMemory.entries[row]!;
      if (name !== other.name || size !== other.size || offset !== other.offset || hidden !== other.hidden)
        expect(pak.entries[row]).toEqual(other);
    }
    for (const number of [0, 1, longRow - 1, longRow, longRow + 1, count - 1]) {
      const row = rowOf.get(names[number]!)!;
      expect(await textOf(pak, row)).toBe(`content ${number}`);
      expect(await pak.verify(pak.entries[row]!)).toBeUndefined();
    }
    expect(await pak.verifyDirectory()).toBeUndefined();
  });

  test('are found by name, the first and the fifth time', async () => {
    const pak = await openFile(whole, options);
    for (let time = 0; time < 5; time++)
      for (const name of [3, longRow, count - 1].map((number) => names[number]!)) {
        expect(pak.find(name.toUpperCase())?.name).toBe(name);
        expect(pak.find(`${name}x`)).toBeUndefined();
      }
  });

  test('are read by each thread for itself, which is given their places alone', async () => {
    const shared = shareDirectory(await openFile(whole, options))!;
    const { rows: data } = shared.directory as {
      rows: { index: unknown; places?: Uint32Array; filePlaces?: Uint32Array };
    };
    expect(data.index).toEqual(expect.objectContaining({ offset: expect.any(Number), size: expect.any(Number) }));
    expect((data.places ?? data.filePlaces)?.buffer).toBeInstanceOf(SharedArrayBuffer);
    const pak = await openFile(whole, options, structuredClone(shared).directory);
    for (const number of [7, longRow]) {
      const row = rowOf.get(names[number]!)!;
      expect(pak.entries[row]!.name).toBe(names[number]);
      expect(await textOf(pak, row)).toBe(`content ${number}`);
    }
  });
});

// PAKs with AES-CTR are not written.
test.each(chosenForms.filter(([form]) => !form.includes('CTR')))(
  'a PAK that is made of a large one has its rows, %s',
  async (_form, make, options) => {
    const pak = await openFile(make(), options);
    const { index: last } = pak.find(names[count - 1]!)!;
    const kept = pak.entries.filter((entry) => entry.index !== last).map((entry) => ({ old: entry.index }));
    const made = await unreal.open(bytesSource(await packed((sink) => pak.rewrite!(kept, sink))), options);
    expect(made.entries.map(({ name }) => name).toSorted()).toEqual(names.slice(0, -1).toSorted());
  },
);

describe('what is wrong', () => {
  const changed = (at: number, byte: number): Uint8Array => {
    const copy = bytes.slice();
    copy[index.offset + at] = byte;
    return copy;
  };

  test('with the index is seen when it is opened, and told when hashes are ignored', async () => {
    const damaged = changed(index.size - 100, 0x21);
    await expect(openFile(damaged)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    const pak = await openFile(damaged, { ignoreHashes: true });
    expect(pak.entries[0]!.name).toBe(nameOf(0));
    expect(await pak.verifyDirectory()).toMatchObject({ code: 'E_INTEGRITY' });
  });

  test('with a row is named by its place, also far behind the start', async () => {
    const name = Buffer.from(nameOf(count - 1));
    const at = Buffer.from(bytes).lastIndexOf(name) - index.offset;
    const noNul = openFile(changed(at + name.length, 0x21), { ignoreHashes: true });
    await expect(noNul).rejects.toMatchObject({ code: 'E_FORMAT', data: { offset: at - 4 } });
    const tooLong = openFile(changed(at - 1, 0x7f), { ignoreHashes: true });
    await expect(tooLong).rejects.toMatchObject({ code: 'E_FORMAT_TRUNCATED', data: { offset: at } });
  });

  test('with the number of rows is seen before there is memory for them', async () => {
    const at = 4 + '../../../'.length + 1 + 3;
    await expect(openFile(changed(at, 0x7f), { ignoreHashes: true })).rejects.toMatchObject({
      code: 'E_FORMAT_TRUNCATED',
    });
  });

  test('with a file that is changed or cut after it was opened ends what needs its rows, and gives no wrong ones', async () => {
    const pak = await openFile();
    const entry = pak.entries[12_000]!;
    const fd = openSync(scratch('large.pak'), 'r+');
    const place = Buffer.from(bytes).indexOf(nameOf(12_000));
    // The name becomes shorter, and has a NUL where it ends.
    const shorter = Buffer.from(nameOf(12_000)).length - 3;
    writeSync(fd, Buffer.from(Int32Array.of(shorter).buffer), 0, 4, place - 4);
    writeSync(fd, Buffer.alloc(1), 0, 1, place + shorter - 1);
    expect(() => entry.name).toThrow(expect.objectContaining({ code: expect.stringMatching(/^E_(INTEGRITY|FORMAT)/) }));
    expect(pak.entries[11_000]!.name).toBe(nameOf(11_000));
    truncateSync(scratch('large.pak'), index.offset + 1000);
    expect(() => pak.entries[15_500]!.name).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
  });

  test.each<[string, (name: string) => [text: string, length: number]]>([
    ['the name of a file', (name) => [name.slice(name.lastIndexOf('/') + 1), 500]],
    ['the name of a folder', (name) => [name.slice(0, name.lastIndexOf('/') + 1), 3]],
  ])('with %s that became of another length since is told, whatever is asked', async (_what, textOf) => {
    const content = forms[2]![1]();
    const pak = await openFile(content);
    const row = pak.find(nameOf(12_000))!.index;
    const [text, length] = textOf(nameOf(12_000));
    const fd = openSync(scratch('large.pak'), 'r+');
    const place = Buffer.from(content).lastIndexOf(`${text}\0`);
    writeSync(fd, Buffer.from(Int32Array.of(length).buffer), 0, 4, place - 4);
    closeSync(fd);
    // Another folder first, so that the row is read anew.
    expect([pak.entries[0]!.name, pak.entries[0]!.size]).toEqual([
      expect.stringContaining('Content/'),
      expect.any(Number),
    ]);
    const changed = expect.objectContaining({ code: 'E_INTEGRITY' });
    expect(() => pak.entries[row]!.name).toThrow(changed);
    if (length > 3) expect(() => pak.entries[row]!.size).toThrow(changed);
    expect(() => pak.find('Content/nothing.uasset')).toThrow(changed);
  });

  test('with an encrypted one, or with its keys, is told as with a small one', async () => {
    const [, make] = forms[3]!;
    expect((await openFile(make(), { keys: [otherKey] })).locked).toMatchObject({ code: 'E_KEY_MISSING' });
    const damaged = make().slice();
    const { indexOffset, indexSize } = (await unreal.open(bytesSource(damaged), { keys: [key] })).facts;
    // In the directory index, which lies behind the path hashes.
    damaged[Number(indexOffset) + Number(indexSize) + (2 << 20)]! ^= 1;
    await expect(openFile(damaged, { keys: [key] })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    const short = make().slice();
    await expect(openFile(short.subarray(0, short.length - 1), { keys: [key] })).rejects.toMatchObject({
      code: expect.stringMatching(/^E_FORMAT/),
    });
  });

  test('with a PAK that was closed is that it is closed, whatever file has its number now', async () => {
    const pak = await openFile();
    const entry = pak.entries[12]!;
    await pak.close();
    const other = openSync(scratch('large.pak'), 'r');
    expect(() => entry.name).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
    closeSync(other);
  });
});
