import { expect, test } from '@jest/globals';
import { toHex } from '../../src/core/bytes.ts';
import { ByteWriter } from '../../src/core/writer.ts';

test('numbers lie as their names say', () => {
  const bytes = new ByteWriter()
    .u8(1)
    .u16(0x0203)
    .u16le(0x0203)
    .u24(0x040506)
    .u32(0x0708090a)
    .u32le(0x0708090a)
    .u40(0x0b0c0d0e0f)
    .u64(0x10111213)
    .u64le(0x1011121314151617n)
    .bytes();
  expect(toHex(bytes)).toBe(
    '01' +
      '0203' +
      '0302' +
      '040506' +
      '0708090a' +
      '0a090807' +
      '0b0c0d0e0f' +
      '0000000010111213' +
      '1716151413121110',
  );
});

test.each([0, 1, 0xffffffff, 2 ** 32, 2 ** 53 - 1, 0x80000000n, 2n ** 64n - 1n])('%s in 64 bits', (value) => {
  const bytes = new ByteWriter().u64(value).u64le(value).bytes();
  const view = new DataView(bytes.buffer);
  expect(view.getBigUint64(0)).toBe(BigInt(value));
  expect(view.getBigUint64(8, true)).toBe(BigInt(value));
});

test.each([0, -1, -(2 ** 31), 2 ** 31 - 1])('%i in 32 bits with its sign', (value) => {
  expect(new DataView(new ByteWriter().i32le(value).bytes().buffer).getInt32(0, true)).toBe(value);
});

test('it grows as far as it must, and keeps what was written', () => {
  const writer = new ByteWriter(1);
  for (let i = 0; i < 1000; i++) writer.u16(i);
  writer.raw(new Uint8Array(100_000).fill(7)).text('end');
  const bytes = writer.bytes();
  expect(bytes.length).toBe(2000 + 100_000 + 3);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 1000; i++) expect(view.getUint16(i * 2)).toBe(i);
  expect(bytes.subarray(2000, 102_000).every((byte) => byte === 7)).toBe(true);
  expect(new TextDecoder().decode(bytes.subarray(102_000))).toBe('end');
});

test('zeros are zeros also where memory was used before', () => {
  const writer = new ByteWriter(16).raw(new Uint8Array(10).fill(0xff)).zeros(30).u8(1);
  expect(toHex(writer.bytes())).toBe(`${'ff'.repeat(10)}${'00'.repeat(30)}01`);
});

test('the bytes given back are not those that go on', () => {
  const writer = new ByteWriter().u8(1);
  const before = writer.bytes();
  writer.u8(2);
  before[0] = 9;
  expect([...writer.bytes()]).toEqual([1, 2]);
  expect([...before]).toEqual([9]);
});

test('a key that is no hex is refused', () => {
  expect(() => new ByteWriter().key('xyz')).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
});

test('what was forgotten leaves no bytes behind', () => {
  const writer = new ByteWriter(4).u32(0xffffffff).u32(0xffffffff);
  writer.clear();
  expect(writer.size).toBe(0);
  expect(writer.u8(1).zeros(7).bytes()).toEqual(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0));
});
