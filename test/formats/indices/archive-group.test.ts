import { describe, expect, test } from '@jest/globals';
import { compareBytes, concatBytes, toHex } from '../../../src/core/bytes.ts';
import { md5 } from '../../../src/core/hash.ts';
import { ArchiveGroupEncoder, encodeArchiveGroup } from '../../../src/formats/indices/archive-group.ts';
import {
  type ArchiveIndex,
  decodeArchiveIndex,
  encodeArchiveIndex,
  type IndexEntry,
} from '../../../src/formats/indices/archive-index.ts';
import { randomSource } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

const random = randomSource(7);

function randomKey(): Uint8Array {
  return Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256));
}

function indexOf(entries: Omit<IndexEntry, 'archive'>[]): ArchiveIndex {
  return decodeArchiveIndex(encodeArchiveIndex(entries.map((entry) => ({ ...entry, archive: 0 }))).bytes);
}

/** The same by the plain road: objects, sorted. */
function plainGroup(indices: readonly ArchiveIndex[]): { bytes: Uint8Array; name: string } {
  const entries = indices.flatMap((index, archive) => Array.from(index, (entry) => ({ ...entry, archive })));
  return encodeArchiveIndex(entries, { offsetBytes: 6 });
}

function expectSameAsPlain(indices: readonly ArchiveIndex[]): void {
  const [group, plain] = [encodeArchiveGroup(indices), plainGroup(indices)];
  expect(group.name).toBe(plain.name);
  expect(compareBytes(group.bytes, plain.bytes)).toBe(0);
}

describe('an archive group', () => {
  test('holds every entry of every index, in key order, with the place of its archive', () => {
    const indices = Array.from({ length: 20 }, () =>
      indexOf(
        Array.from({ length: 1 + Math.floor(random() * 500) }, (_, i) => ({
          ekey: randomKey(),
          size: i,
          offset: i * 7,
        })),
      ),
    );
    expectSameAsPlain(indices);
    const { bytes, name } = encodeArchiveGroup(indices);
    const group = decodeArchiveIndex(bytes, name);
    expect(group.count).toBe(indices.reduce((sum, index) => sum + index.count, 0));
    for (const [archive, index] of indices.entries()) {
      const entry = index.entry(0);
      expect(group.find(entry.ekey)).toEqual({ ...entry, archive });
    }
  });

  test('is the same piece by piece, none of them large', () => {
    const entries = Array.from({ length: 20_000 }, (_, i) => ({ ekey: randomKey(), size: i, offset: i }));
    const index = indexOf(entries);
    const encoder = new ArchiveGroupEncoder();
    for (let i = 0; i < 75; i++) encoder.add(index);
    // Each holds until the next is asked for.
    const pieces = Array.from(encoder.encode(), (piece) => piece.slice());
    const group = encodeArchiveGroup(Array(75).fill(index));
    expect(compareBytes(concatBytes(pieces), group.bytes)).toBe(0);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(group.bytes.length / 100);
  });

  test('keeps a key that several archives have, in the order of the archives', () => {
    const shared = randomKey();
    const indices = [3, 1, 2].map((size) =>
      indexOf([
        { ekey: shared, size, offset: size },
        { ekey: randomKey(), size: 9, offset: 9 },
      ]),
    );
    const group = decodeArchiveIndex(encodeArchiveGroup(indices).bytes);
    expect(group.count).toBe(6);
    const found = Array.from(group).filter((entry) => toHex(entry.ekey) === toHex(shared));
    expect(found.map(({ archive, size }) => [archive, size])).toEqual([
      [0, 3],
      [1, 1],
      [2, 2],
    ]);
    expectSameAsPlain(indices);
  });

  test('is right also where keys differ late, by few or by many', () => {
    for (const count of [3, 60, 2000]) {
      const crowd = Array.from({ length: count }, (_, i) => {
        const ekey = new Uint8Array(16).fill(0xab);
        ekey.set(md5(Uint8Array.of(i, i >> 8)).subarray(0, 4), 12);
        return { ekey, size: i, offset: i };
      });
      expectSameAsPlain([
        indexOf(crowd.slice(0, count / 2)),
        indexOf(crowd.slice(count / 2)),
        indexOf(crowd.slice(0, 2)),
      ]);
    }
  });

  test('is the same of indices that lie at odd places of memory', () => {
    const indices = Array.from({ length: 3 }, () =>
      indexOf(Array.from({ length: 300 }, (_, i) => ({ ekey: randomKey(), size: i, offset: i }))),
    );
    const moved = indices.map(({ bytes, name }) => {
      const memory = new Uint8Array(bytes.length + 1);
      memory.set(bytes, 1);
      return decodeArchiveIndex(memory.subarray(1), name);
    });
    expect(compareBytes(encodeArchiveGroup(moved).bytes, encodeArchiveGroup(indices).bytes)).toBe(0);
  });

  test('of no index, or of empty ones, is empty', () => {
    expectSameAsPlain([]);
    expectSameAsPlain([indexOf([]), indexOf([])]);
  });

  test('is made of archive indices only', () => {
    const loose = decodeArchiveIndex(encodeArchiveIndex([], { offsetBytes: 0 }).bytes);
    expect(codeThrownBy(() => encodeArchiveGroup([loose]))).toBe('E_UNSUPPORTED');
    expect(codeThrownBy(() => encodeArchiveGroup(Array(65_537).fill(indexOf([]))))).toBe('E_UNSUPPORTED');
  });

  test('of many hostile keys is made in time', () => {
    const alike = indexOf(
      Array.from({ length: 30_000 }, (_, i) => {
        const ekey = new Uint8Array(16);
        new DataView(ekey.buffer).setUint32(12, 30_000 - i);
        return { ekey, size: 1, offset: 0 };
      }),
    );
    const started = performance.now();
    const group = decodeArchiveIndex(encodeArchiveGroup([alike, alike]).bytes);
    expect(performance.now() - started).toBeLessThan(15_000);
    expect([group.count, group.entry(59_999).archive]).toEqual([60_000, 1]);
  });
});
