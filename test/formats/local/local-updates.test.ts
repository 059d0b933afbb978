import { expect, test } from '@jest/globals';
import { concatBytes } from '../../../src/core/bytes.ts';
import { decodeLocalUpdates, encodeLocalUpdates } from '../../../src/formats/local/local-updates.ts';

const update = (i: number, status = 0) => ({ row: new Uint8Array(18).fill(i), status });
const many = Array.from({ length: 50 }, (_, i) => update(i, i % 8));

test('updates come in the order in which they were written, page after page', () => {
  const bytes = encodeLocalUpdates(many);
  expect(bytes).toHaveLength(3 * 512);
  expect(decodeLocalUpdates(bytes, [0])).toEqual({ updates: many, start: 0 });
});

test('a page may be left before it is full', () => {
  const bytes = concatBytes([encodeLocalUpdates([update(1)]), encodeLocalUpdates([update(2)])]);
  expect(decodeLocalUpdates(bytes, [0]).updates).toEqual([update(1), update(2)]);
});

test('the first place at which there are any counts, else the last', () => {
  const bytes = concatBytes([new Uint8Array(512), encodeLocalUpdates([update(1)])]);
  expect(decodeLocalUpdates(bytes, [0, 512])).toEqual({ updates: [update(1)], start: 512 });
  expect(decodeLocalUpdates(new Uint8Array(1024), [0, 512])).toEqual({ updates: [], start: 512 });
});
