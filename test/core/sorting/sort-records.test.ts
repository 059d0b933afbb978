import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DealtRecords, sortInPlace, sortRecords } from '../../../src/core/sorting/sort-records.ts';
import { prefixAt, prefixStarts } from '../../../src/core/tables/prefix-starts.ts';

/** Rows as Buffers, sorted by their first `keySize` bytes; equal keys keep their order. */
function expected(bytes: Uint8Array, stride: number, keySize: number): Buffer[] {
  const rows = Array.from({ length: Math.floor(bytes.length / stride) }, (_, i) =>
    Buffer.from(bytes.subarray(i * stride, (i + 1) * stride)),
  );
  return rows.sort((a, b) => Buffer.compare(a.subarray(0, keySize), b.subarray(0, keySize)));
}

test('any records come out in the order of memcmp, equal keys as they came', () => {
  const shape = fc
    .tuple(fc.integer({ min: 2, max: 24 }), fc.integer({ min: 2, max: 24 }))
    .map(([a, b]) => ({ stride: Math.max(a, b), keySize: Math.min(a, b) }));
  // Few different bytes, so that keys share long starts and are often equal.
  const some = fc.array(fc.constantFrom(0, 1, 127, 128, 255), { maxLength: 600, size: 'max' });
  fc.assert(
    fc.property(shape, some, ({ stride, keySize }, values) => {
      const bytes = Uint8Array.from(values);
      const copy = bytes.slice();
      const sorted = sortRecords(bytes, stride, keySize);
      expect(Buffer.from(sorted)).toEqual(Buffer.concat(expected(bytes, stride, keySize)));
      expect(bytes).toEqual(copy);
    }),
    { numRuns: 50 },
  );
});

test('thousands that share long starts, or are equal, keep that order too', () => {
  const shape = fc.constantFrom([2, 2], [5, 3], [8, 6], [9, 7], [22, 16]);
  fc.assert(
    fc.property(shape, fc.integer(), ([stride = 0, keySize = 0], seed) => {
      const bytes = new Uint8Array(3000 * stride);
      for (let i = 0, state = seed; i < bytes.length; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) | 0;
        // The end of a row is its own, so that it shows which of equal keys came first.
        bytes[i] = i % stride < keySize ? [0, 1, 255][(state >>> 8) % 3]! : state >>> 24;
      }
      const sorted = sortRecords(bytes, stride, keySize);
      expect(Buffer.concat(expected(bytes, stride, keySize)).equals(sorted)).toBe(true);
    }),
    { numRuns: 10 },
  );
});

test('millions of the same start are sorted too', () => {
  const bytes = new Uint8Array(3 * (2 ** 21 + 2));
  bytes.set([0, 0, 9], 0);
  bytes.set([0, 0, 7], 3);
  const sorted = sortRecords(bytes, 3, 3);
  expect([...sorted.subarray(-6)]).toEqual([0, 0, 7, 0, 0, 9]);
  expect(sorted.subarray(0, -6).every((byte) => byte === 0)).toBe(true);
});

test('records of a view are read from where it starts', () => {
  const bytes = Uint8Array.of(0xee, 0xee, 0xee, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1);
  expect([...sortRecords(bytes.subarray(3), 6, 6)]).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
});

test('many records with even keys are sorted in a moment, with no object for any of them', () => {
  const count = 60_000;
  const bytes = new Uint8Array(count * 16);
  new DataView(bytes.buffer);
  for (let i = 0, state = 1; i < bytes.length; i += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    new DataView(bytes.buffer).setInt32(i, state);
  }
  const started = performance.now();
  const sorted = sortRecords(bytes, 16, 16);
  expect(performance.now() - started).toBeLessThan(15_000);
  for (let i = 16; i < sorted.length; i += 16) {
    if (Buffer.compare(sorted.subarray(i - 16, i), sorted.subarray(i, i + 16)) > 0) throw new Error(`row ${i / 16}`);
  }
});

test.each([0, 1, 5, 4095, 4096, 9000])('%i records are sorted where they are, by all of their bytes', (count) => {
  for (const stride of [2, 7, 27]) {
    const bytes = new Uint8Array(count * stride + 1).map(
      (_, at) => (at * 31 + (at >>> 5)) % (at % stride < 2 ? 3 : 253),
    );
    const rows = bytes.subarray(0, count * stride);
    const wanted = Buffer.concat(expected(rows, stride, stride));
    const last = bytes.at(-1);
    sortInPlace(bytes, stride);
    expect(wanted.equals(rows)).toBe(true);
    expect(bytes.at(-1)).toBe(last);
  }
});

test.each([0, 1, 700])('%i records that are dealt as they are made come out in order', (count) => {
  const stride = 5;
  const bytes = new Uint8Array(count * stride).map((_, at) => (at * 31 + (at >>> 3)) % (at % stride < 2 ? 3 : 251));
  const records = new DealtRecords(prefixStarts(bytes, stride), stride);
  for (let at = 0; at < bytes.length; at += stride) {
    const to = records.place(prefixAt(bytes, at));
    for (let i = 0; i < stride; i++) records.view.setUint8(to + i, bytes[at + i]!);
  }
  expect(Buffer.concat(expected(bytes, stride, stride)).equals(records.sorted())).toBe(true);
});
