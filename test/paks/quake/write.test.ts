import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import type { PackFile } from '../../../src/paks/packing.ts';
import { writeQuakePak } from '../../../src/paks/quake/write.ts';
import { conformancePath, describeConformance } from '../../support/conformance.ts';
import { quakePak } from '../../support/pak-quake.ts';
import { gather, memorySink, packed, packFile } from '../../support/pak-sources.ts';

const pack = (files: readonly PackFile[]): Promise<Uint8Array> => packed((sink) => writeQuakePak(files, sink));

/** A file of a size, without the bytes. */
const hollow = (name: string, size: number): PackFile => ({ name, size, open: async function* () {} });

test('is what a PAK put together by hand is, whatever the order and the pieces', async () => {
  const files = [packFile('b/two.txt', 'second', { pieceSize: 4 }), packFile('a.txt', 'first'), packFile('b.txt', '')];
  const bytes = await pack(files);
  const byHand = quakePak([
    { name: 'a.txt', content: 'first' },
    { name: 'b.txt', content: '' },
    { name: 'b/two.txt', content: 'second' },
  ]);
  expect(bytes).toEqual(byHand);
  expect(await pack(files.toReversed())).toEqual(bytes);
});

test('a directory that is written in pieces has a row for each file', async () => {
  const contents = Array.from({ length: 3000 }, (_, i) => ({ name: `file ${10_000 + i}`, content: `${i}` }));
  const bytes = await pack(contents.map(({ name, content }) => packFile(name, content)));
  expect(Buffer.from(bytes).equals(quakePak(contents))).toBe(true);
});

describeConformance('real PAKs packed again', () => {
  test.each(['quakespasm.pak', 'qmin-pak1.pak'])('%s has the same files', async (name) => {
    const real = await openPak(conformancePath('pak/quake', name));
    const contents = await Promise.all(real.entries.map((entry) => gather(real.read(entry))));
    const bytes = await pack(real.entries.map((entry, i) => packFile(entry.name, contents[i]!)));
    expect(bytes.length).toBeLessThanOrEqual(readFileSync(conformancePath('pak/quake', name)).length);
    const again = await openPak(bytesSource(bytes));
    for (const [i, entry] of real.entries.entries()) {
      expect(Buffer.from(await gather(again.read(again.find(entry.name)!))).equals(contents[i]!)).toBe(true);
    }
    expect(again.entries).toHaveLength(real.entries.length);
    expect(again.notes).toEqual([]);
  });
});

describe('refuses', () => {
  test.each([
    ['a name of 57 bytes', [packFile('x'.repeat(57), '')], 'E_USAGE'],
    ['a name that steps out', [packFile('../a', '')], 'E_USAGE'],
    ['an absolute name', [packFile('/a', '')], 'E_USAGE'],
    ['a name with a backslash', [packFile('a\\b', '')], 'E_USAGE'],
    ['a name with a NUL', [packFile('a\0b', '')], 'E_USAGE'],
    ['a name twice', [packFile('a', '1'), packFile('a', '2')], 'E_USAGE'],
    ['more than 2 GiB', [hollow('a', 0x40000000), hollow('b', 0x40000000)], 'E_UNSUPPORTED'],
    ['a file that became shorter', [{ ...packFile('a', 'abc'), size: 4 }], 'E_INTEGRITY'],
    ['a file that became longer', [{ ...packFile('a', 'abc'), size: 2 }], 'E_INTEGRITY'],
  ])('%s', async (_what, files, code) => {
    await expect(pack(files)).rejects.toMatchObject({ code });
  });

  test('too much before anything is written', async () => {
    const sink = memorySink();
    await expect(writeQuakePak([packFile('a', 'x'), hollow('b', 0x7fffffff)], sink)).rejects.toMatchObject({
      code: 'E_UNSUPPORTED',
    });
    expect(sink.bytes()).toHaveLength(0);
  });
});

test('a name of 56 bytes fits, and is noted', async () => {
  const name = `${'a'.repeat(52)}.cfg`;
  const sink = memorySink();
  const result = await writeQuakePak([packFile(name, 'x'), packFile('Cap.cfg', 'y')], sink);
  expect(result).toMatchObject({ files: 2, bytes: sink.bytes().length });
  expect(result.notes.join()).toMatch(/NUL/);
  expect(result.notes.join()).toMatch(/Cap\.cfg has capitals/);
  expect((await openPak(bytesSource(sink.bytes()))).find(name)).toBeDefined();
});

test('more than 2048 files are a note', async () => {
  const files = Array.from({ length: 2049 }, (_, i) => packFile(`f${i}`, ''));
  expect((await writeQuakePak(files, memorySink())).notes.join()).toMatch(/2048/);
});

test('holds no file in memory', async () => {
  const piece = new Uint8Array(1 << 20);
  const large: PackFile = {
    name: 'large',
    size: 300 << 20,
    async *open() {
      for (let i = 0; i < 300; i++) yield piece;
    },
  };
  let most = 0;
  let written = 0;
  await writeQuakePak([large], {
    async write(bytes) {
      most = Math.max(most, bytes.length);
      written += bytes.length;
    },
  });
  expect(written).toBe(12 + (300 << 20) + 64);
  expect(most).toBeLessThanOrEqual(piece.length);
});
