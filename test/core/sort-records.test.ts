import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sortRecords } from '../../src/core/sort-records.ts';

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
  );
});

test('records of a view are read from where it starts', () => {
  const bytes = Uint8Array.of(0xee, 0xee, 0xee, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1);
  expect([...sortRecords(bytes.subarray(3), 6, 6)]).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
});

test('many records with even keys are sorted in a moment, with no object for any of them', () => {
  const count = 200_000;
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
