import { describe, expect, test } from '@jest/globals';
import { decodeTvfs } from '../../../../src/formats/roots/tvfs/decode.ts';
import { encodeTvfs } from '../../../../src/formats/roots/tvfs/encode.ts';
import { TableWindow, type TvfsSource } from '../../../../src/formats/roots/tvfs/table-window.ts';
import { codeOf } from '../../../support/thrown-code.ts';

/** A file, as it were: what is read lies in the memory that is given, and what lay there is gone. Keeps the sizes of what was asked for. */
function fileOf(bytes: Uint8Array) {
  const reads = { intoMemory: [] as number[], whole: [] as number[] };
  const source: TvfsSource = {
    size: bytes.length,
    read(offset, size, memory) {
      (memory === undefined ? reads.whole : reads.intoMemory).push(size);
      expect(offset + size).toBeLessThanOrEqual(bytes.length);
      if (memory === undefined) return bytes.slice(offset, offset + size);
      memory.fill(0xee);
      memory.set(bytes.subarray(offset, offset + size), 3);
      return memory.subarray(3, 3 + size);
    },
  };
  return { source, reads };
}

describe.each(['folders', 'prefixes'] as const)('a manifest cut at %s that is read from a file', (form) => {
  const count = 20_000;
  const entries = Array.from({ length: count }, (_, i) => ({
    path: `folder${i % 7}/a folder with a long name ${i % 31}/file-${i}.bin`,
    spans: Array.from({ length: i % 100 === 0 ? 200 : 1 }, (_, part) => ({
      offset: part * 10,
      size: i,
      // In the order of the keys, official manifests have their contents; that is none of the paths'.
      ekey: Uint8Array.of(part, (i * 151) & 0xff, 0, 0, 0, 0, i >>> 16, i >>> 8, i),
      encodedSize: i + part,
      contentSize: i,
      espec: 'n',
    })),
  }));
  const bytes = encodeTvfs({ entries, header: { flags: 2 }, form });

  test('every file is as it is in memory, twice and by turns', () => {
    const { source } = fileOf(bytes);
    const tvfs = decodeTvfs(source);
    expect(tvfs.fileCount).toBe(count);
    const wanted = new Map(entries.map(({ path, spans }) => [path, spans]));
    const [one, other] = [tvfs.files[Symbol.iterator](), tvfs.files[Symbol.iterator]()];
    for (let i = 0; i < 5000; i++) one.next();
    let seen = 0;
    for (let file = other.next(); !file.done; file = other.next()) {
      expect(file.value.spans).toEqual(wanted.get(file.value.path));
      if (seen % 100 === 0 && seen < 10_000) expect(wanted.has(one.next().value.path)).toBe(true);
      seen++;
    }
    expect(seen).toBe(count);
  });

  test('of the tables of paths and files only a window is in memory, and what is read is read about once', () => {
    const { source, reads } = fileOf(bytes);
    const { header } = decodeTvfs(source);
    const [path, vfs] = [header.pathTable.size, header.vfsTable.size];
    expect(Math.max(path, vfs)).toBeGreaterThan(2 * 0x40000);
    expect(Math.max(...reads.intoMemory)).toBe(0x40000);
    const read = reads.intoMemory.reduce((sum, size) => sum + size, 0);
    expect(read / (path + vfs)).toBeGreaterThanOrEqual(1);
    expect(read / (path + vfs)).toBeLessThan(1.1);
    expect(reads.whole.sort((a, b) => a - b).at(-1)).toBe(header.containerTable.size);
  });
});

describe('a window of a table', () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 31 + (i >> 8)) & 0xff);
  const [offset, size] = [1000, 98_000];

  test('reads anywhere in any order', () => {
    const table = new TableWindow(fileOf(bytes).source, { offset, size }, 200);
    for (let i = 0, at = 0; i < 3000; i++, at = (at * 7 + 13) % size) {
      const wanted = bytes.subarray(offset + at, offset + Math.min(size, at + 200));
      expect(Buffer.compare(table.readerAt(at).take(wanted.length), wanted)).toBe(0);
    }
  });

  test('little is read where one jumps about, more and more where one goes on', () => {
    const { source, reads } = fileOf(bytes);
    const table = new TableWindow(source, { offset, size }, 200);
    for (const at of [90_000, 10_000, 50_000]) table.readerAt(at);
    expect(reads.intoMemory).toEqual([8000, 8192, 8192]);
    for (let at = 50_000; at < size; at += 100) table.readerAt(at);
    expect(reads.intoMemory.slice(3)).toEqual([32_768, expect.any(Number)]);
  });

  test('an offset outside, and an entry that is cut, are told with their places in the table', () => {
    const table = new TableWindow(fileOf(bytes).source, { offset, size }, 200);
    table.readerAt(40_000);
    expect(codeOf(() => table.readerAt(size + 1))).toBe('E_FORMAT_RANGE');
    expect(() => table.readerAt(size - 3).u32()).toThrow(/97997/);
    expect(table.readerAt(size).remaining).toBe(0);
  });

  test('after a read that failed the next is right', () => {
    const { source } = fileOf(bytes);
    let fails = false;
    const read: TvfsSource['read'] = (at, length, memory) => {
      const found = source.read(at, length, memory);
      if (fails) throw new Error('no disk');
      return found;
    };
    const table = new TableWindow({ size: bytes.length, read }, { offset, size }, 200);
    table.readerAt(0);
    fails = true;
    expect(() => table.readerAt(60_000)).toThrow('no disk');
    fails = false;
    expect(table.readerAt(1).u8()).toBe(bytes[offset + 1]);
  });
});
