import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { defaultPriority, WantedList, wantedRow } from '../../../src/fetch/plan/wanted.ts';

test('rows come out sorted, each key once, with its soonest priority', () => {
  // Few keys, so that many come twice.
  const key = fc.tuple(fc.nat(3), fc.nat(3)).map(([a, b]) => `${'0'.repeat(15)}${a}${'f'.repeat(15)}${b}`);
  const row = fc.tuple(key, fc.integer({ min: -128, max: 127 }));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60, size: 'max' }), (rows) => {
      const list = new WantedList();
      const soonest = new Map<string, number>();
      for (const [ekey, priority] of rows) {
        list.add(fromHex(ekey), 1000, priority);
        soonest.set(ekey, Math.min(priority, soonest.get(ekey) ?? 127));
      }
      const found = [...list.sorted()].map((bytes) => {
        const { ekey, size, priority } = wantedRow(bytes);
        expect(size).toBe(1000);
        return [toHex(ekey), priority];
      });
      expect(found).toEqual([...soonest].sort(([a], [b]) => (a < b ? -1 : 1)));
    }),
  );
});

test('sizes up to 40 bits, more rows than the first memory holds, priorities kept in bounds', () => {
  const list = new WantedList();
  for (let i = 0; i < 5000; i++) {
    const ekey = Buffer.alloc(16);
    ekey.writeUInt32BE((i * 2654435761) % 2 ** 32);
    list.add(ekey, 2 ** 40 - 1 - i);
  }
  const rows = list.sorted();
  expect(rows.count).toBe(5000);
  for (let i = 0; i < 5000; i += 37) {
    const ekey = Buffer.alloc(16);
    ekey.writeUInt32BE((i * 2654435761) % 2 ** 32);
    expect(wantedRow(rows.find(ekey)!)).toMatchObject({ size: 2 ** 40 - 1 - i, priority: defaultPriority });
  }
  const extreme = new WantedList();
  extreme.add(new Uint8Array(16), 1, -1000);
  extreme.add(new Uint8Array(16).fill(1), 1, 1000);
  expect([...extreme.sorted()].map((bytes) => wantedRow(bytes).priority)).toEqual([-128, 127]);
});

test('an empty list is empty', () => {
  expect(new WantedList().sorted().count).toBe(0);
});
