import { expect, test } from '@jest/globals';
import { md5 } from '../../../src/core/hash.ts';
import {
  type ArchiveIndex,
  decodeArchiveIndex,
  encodeArchiveIndex,
  type IndexEntry,
} from '../../../src/formats/indices/archive-index.ts';
import type { IndexShape } from '../../../src/formats/indices/index-layout.ts';
import { entriesByOffset, rowsByOffset } from '../../../src/formats/indices/rows-by-offset.ts';

/* An index is sorted by key, and keys are hashes: where entries lie has nothing to do with it. */

function indexOf(offsets: readonly number[], shape: Partial<IndexShape> = {}): ArchiveIndex {
  // In a group archives have numbers, which do not count here.
  const archive = (i: number): number => (shape.offsetBytes === 6 ? offsets.length - i : 0);
  const entries = offsets.map((offset, i): IndexEntry => {
    const ekey = md5(Uint8Array.of(i, i >> 8, i >> 16));
    return { ekey, size: i + 1, offset, archive: archive(i) };
  });
  return decodeArchiveIndex(encodeArchiveIndex(entries, shape).bytes);
}

/** What sorting objects gives: those of one offset stay as they come. */
function asObjects(index: ArchiveIndex): IndexEntry[] {
  return [...index].sort((a, b) => a.offset - b.offset);
}

// The last has so many records that memory is given back.
test.each([0, 1, 400, 100_000])('%i entries come in the order in which they lie in the archive', (count) => {
  const index = indexOf(Array.from({ length: count }, (_, i) => ((i * 7919) % 65_536) * 0xffff));
  expect([...entriesByOffset(index)]).toEqual(asObjects(index));
});

test('entries of one offset come in the order of their keys', () => {
  const index = indexOf(Array.from({ length: 900 }, (_, i) => i % 3));
  expect([...entriesByOffset(index)]).toEqual(asObjects(index));
});

test('offsets of all widths are told apart', () => {
  const [four, five] = [
    [0xffff_ffff, 0, 0x8000_0000, 0x7fff_ffff],
    [0x2_0000_0000, 1, 0x1_0000_0002, 0xff_0000_0000],
  ];
  for (const [offsets, shape] of [
    [four, {}],
    [four, { offsetBytes: 6 }],
    [five, { offsetBytes: 5 }],
  ] as const) {
    const index = indexOf(offsets, shape);
    const sorted = [...offsets].sort((a, b) => a - b);
    expect(Array.from(rowsByOffset(index), (row) => index.entry(row).offset)).toEqual(sorted);
  }
  // A file index has none.
  expect([...rowsByOffset(indexOf([0, 0, 0], { offsetBytes: 0 }))]).toEqual([0, 1, 2]);
});
