import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { fileSource } from '../../../../src/files/file-source.ts';
import { shareDirectory } from '../../../../src/paks/many-entries.ts';
import type { Pak } from '../../../../src/paks/pak.ts';
import { unreal } from '../../../../src/paks/unreal/index.ts';
import type { UnrealOptions } from '../../../../src/paks/unreal/options.ts';
import { gather } from '../../../support/pak-sources.ts';
import { legacyPak } from '../../../support/pak-unreal.ts';
import { scratchFolder } from '../../../support/scratch.ts';

/*
 * The index of a PAK with very many files stays in the file, and its rows are read there. Whatever is asked has the answer that it has of an index in memory.
 */

const scratch = scratchFolder();
const count = 40_000;
const nameOf = (row: number): string =>
  `Content/Maps/Area${row % 7}/SubLevel${row % 211}/Texture_${row}_${'x'.repeat(90)}.uasset`;
/** One row is larger than what is looked at at once. */
const longRow = 20_000;
const longName = `Content/${'long'.repeat(800_000)}`;
const rows = Array.from({ length: count }, (_, row) => ({
  name: row === longRow ? longName : nameOf(row),
  content: Buffer.from(`content ${row}`),
}));

let bytes: Uint8Array;
let index: { offset: number; size: number };
let opened: Pak[] = [];

beforeAll(async () => {
  bytes = legacyPak(rows, { version: 3 });
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

describe('rows that stay in the file', () => {
  test('have their names, sizes, hashes and contents, in whatever order they are asked for', async () => {
    const [pak, inMemory] = [await openFile(), await unreal.open(bytesSource(bytes))];
    expect(pak.entries).toHaveLength(count);
    const forward = pak.entries.map(({ name }) => name);
    expect(forward).toEqual(rows.map(({ name }) => name));
    expect(pak.entries.toReversed().map(({ name }) => name)).toEqual(forward.toReversed());
    // Prime to the count: each once, in no order.
    for (let i = 0, row = 0; i < count; i++, row = (row + 12_347) % count) {
      const { name, size, offset, hidden } = pak.entries[row]!;
      const other = inMemory.entries[row]!;
      if (name !== other.name || size !== other.size || offset !== other.offset || hidden !== other.hidden)
        expect(pak.entries[row]).toEqual(other);
    }
    for (const row of [0, 1, longRow - 1, longRow, longRow + 1, count - 1])
      expect(await textOf(pak, row)).toBe(`content ${row}`);
    for (const row of [0, longRow, count - 1]) expect(await pak.verify(pak.entries[row]!)).toBeUndefined();
    expect(await pak.verifyDirectory()).toBeUndefined();
  });

  test('are found by name, the first and the tenth time', async () => {
    const pak = await openFile();
    for (let time = 0; time < 10; time++)
      for (const row of [3, longRow, count - 1]) {
        expect(pak.find(rows[row]!.name.toUpperCase())?.index).toBe(row);
        expect(pak.find(`${rows[row]!.name}x`)).toBeUndefined();
      }
  });

  test('are read by each thread for itself, which is given their places alone', async () => {
    const shared = shareDirectory(await openFile())!;
    const data = (shared.directory as { rows: { index: unknown; places: Uint32Array } }).rows;
    expect([data.index, data.places.buffer instanceof SharedArrayBuffer]).toEqual([index, true]);
    const pak = await openFile(bytes, {}, structuredClone(shared).directory);
    expect([pak.entries[7]!.name, pak.entries[longRow]!.name]).toEqual([nameOf(7), longName]);
    expect(await textOf(pak, 7)).toBe('content 7');
  });
});

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
    const entry = pak.entries[30_000]!;
    const fd = openSync(scratch('large.pak'), 'r+');
    const place = Buffer.from(bytes).indexOf(nameOf(30_000));
    // The name becomes shorter, and has a NUL where it ends.
    const shorter = Buffer.from(nameOf(30_000)).length - 3;
    writeSync(fd, Buffer.from(Int32Array.of(shorter).buffer), 0, 4, place - 4);
    writeSync(fd, Buffer.alloc(1), 0, 1, place + shorter - 1);
    expect(() => entry.name).toThrow(expect.objectContaining({ code: expect.stringMatching(/^E_(INTEGRITY|FORMAT)/) }));
    expect(pak.entries[29_000]!.name).toBe(nameOf(29_000));
    truncateSync(scratch('large.pak'), index.offset + 1000);
    expect(() => pak.entries[39_000]!.name).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
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
