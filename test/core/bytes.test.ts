import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  compareBytes,
  concatBytes,
  copyRecord,
  equalBytes,
  fromHex,
  isAllZero,
  isKeyAt,
  isKeyHex,
  toHex,
  viewOf,
} from '../../src/core/bytes.ts';

const bytes = () => fc.uint8Array({ maxLength: 40, size: 'max' });

test('a key that is kept keeps no more memory than its own', () => {
  expect(fromHex('0123456789abcdef'.repeat(2)).buffer.byteLength).toBe(16);
});

test('hex is what Node writes, and comes back', () => {
  fc.assert(
    fc.property(bytes(), (value) => {
      const text = Buffer.from(value).toString('hex');
      expect(toHex(value)).toBe(text);
      expect(fromHex(text)).toEqual(value);
      expect(fromHex(text.toUpperCase())).toEqual(value);
    }),
  );
});

test.each(['0', 'abc', 'zz', '0x12', ' 12', '12 ', '1g', 'é0'])('%j is no hex', (text) => {
  expect(() => fromHex(text)).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
});

test('a record of any size is copied from one place to another, and nothing beside it', () => {
  fc.assert(
    fc.property(bytes(), fc.nat(9), fc.nat(9), (record, from, to) => {
      const source = new Uint8Array(from + record.length + 5).fill(1);
      source.set(record, from);
      const target = new Uint8Array(to + record.length + 5).fill(2);
      const expected = target.slice();
      expected.set(record, to);
      copyRecord(viewOf(source), from, { target: viewOf(target), to, size: record.length });
      expect(target).toEqual(expected);
    }),
  );
});

test('a key in other bytes is that of a text when all of it is', () => {
  const key = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(key, fc.nat(20), fc.nat(31), (value, at, digit) => {
      const around = new Uint8Array(at + 20).fill(7);
      around.set(value, at);
      const hex = toHex(value);
      expect(isKeyAt(around, at, hex)).toBe(true);
      expect(
        isKeyAt(around, at, `${hex.slice(0, digit)}${hex[digit] === '0' ? '1' : '0'}${hex.slice(digit + 1)}`),
      ).toBe(false);
      expect(isKeyAt(around, at, hex.slice(0, digit))).toBe(false);
      expect(isKeyAt(around.subarray(0, at + 15), at, hex)).toBe(false);
    }),
  );
});

test('the order of bytes is that of memcmp', () => {
  fc.assert(
    fc.property(bytes(), bytes(), (a, b) => {
      expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
      expect(equalBytes(a, b)).toBe(Buffer.compare(a, b) === 0);
      expect(equalBytes(a, a.slice())).toBe(true);
    }),
  );
});

test('a difference in any one byte is seen', () => {
  const key = Uint8Array.from({ length: 16 }, (_, i) => i);
  for (let i = 0; i < 16; i++) {
    const other = key.slice();
    other[i]! ^= 0x80;
    expect(equalBytes(key, other)).toBe(false);
    expect(compareBytes(key, other)).toBeLessThan(0);
  }
  expect(equalBytes(key, key.subarray(0, 15))).toBe(false);
});

test('parts are joined in order', () => {
  fc.assert(
    fc.property(fc.array(bytes(), { maxLength: 6 }), (parts) => {
      expect(concatBytes(parts)).toEqual(new Uint8Array(Buffer.concat(parts)));
    }),
  );
});

test('zeros are told from anything else', () => {
  expect(isAllZero(new Uint8Array(100))).toBe(true);
  expect(isAllZero(new Uint8Array())).toBe(true);
  expect(isAllZero(Uint8Array.of(0, 0, 1))).toBe(false);
});

test('a key is 32 hex digits', () => {
  expect(isKeyHex('0123456789abcdefABCDEF0123456789')).toBe(true);
  for (const text of ['', 'a'.repeat(31), 'a'.repeat(33), `${'a'.repeat(31)}g`, `${'a'.repeat(32)}\n`]) {
    expect(isKeyHex(text)).toBe(false);
  }
});
