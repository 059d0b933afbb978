import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toHex } from '../../src/core/bytes.ts';
import { ByteReader } from '../../src/core/reader.ts';
import { ByteWriter } from '../../src/core/writer.ts';

const reader = (...bytes: number[]): ByteReader => new ByteReader(Uint8Array.from(bytes), 'thing');
const truncated = expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' });

describe('numbers', () => {
  const eight = [0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08];
  // Each from the same bytes, as a hex editor shows them.
  test.each([
    ['u8', 0x81, 1],
    ['i8', 0x81 - 0x100, 1],
    ['u16', 0x8102, 2],
    ['u16le', 0x0281, 2],
    ['u24', 0x810203, 3],
    ['u32', 0x81020304, 4],
    ['u32le', 0x04030281, 4],
    ['i32le', 0x04030281, 4],
    ['u40', 0x8102030405, 5],
    ['u64big', 0x8102030405060708n, 8],
    ['u64leBig', 0x0807060504030281n, 8],
  ] as const)('%s is %s', (name, value, size) => {
    const input = reader(...eight);
    expect(input[name]()).toBe(value);
    expect(input.pos).toBe(size);
    for (let left = 0; left < size; left++) {
      const short = reader(...eight.slice(0, left));
      expect(() => short[name]()).toThrow(truncated);
      expect(short.pos).toBe(0);
    }
  });

  test('a magic number is demanded', () => {
    const input = reader(...eight);
    input.magicU32le(0x04030281);
    expect(input.pos).toBe(4);
    expect(() => input.magicU32le(1)).toThrow(
      expect.objectContaining({
        code: 'E_FORMAT_MAGIC',
        data: expect.objectContaining({ offset: 4, expected: '0x1', found: '0x8070605' }),
      }),
    );
  });

  test('an unsigned number of one to six bytes', () => {
    for (let size = 1; size <= 6; size++) {
      const hex = toHex(Uint8Array.from(eight.slice(0, size)));
      expect(reader(...eight).uint(size)).toBe(Number.parseInt(hex, 16));
    }
  });

  test('64 bits that a number cannot hold are refused, the largest that it can are not', () => {
    const largest = [0x00, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    expect(reader(...largest).u64()).toBe(Number.MAX_SAFE_INTEGER);
    expect(reader(...largest.toReversed()).u64le()).toBe(Number.MAX_SAFE_INTEGER);
    const over = [0x00, 0x20, 0, 0, 0, 0, 0, 0];
    expect(() => reader(...over).u64()).toThrow(
      expect.objectContaining({ code: 'E_FORMAT_RANGE', data: expect.objectContaining({ offset: 0 }) }),
    );
    expect(() => reader(...over.toReversed()).u64le()).toThrow(expect.objectContaining({ code: 'E_FORMAT_RANGE' }));
  });
});

describe('bounds', () => {
  test.each([-1, 4, Number.NaN, Number.POSITIVE_INFINITY, 0x1_0000_0000])('taking %d of 3 bytes is refused', (size) => {
    const input = reader(1, 2, 3);
    expect(() => input.take(size)).toThrow(truncated);
    expect(() => input.skip(size)).toThrow(truncated);
    expect(input.remaining).toBe(3);
  });

  test('an error says what was read, where, how much was asked and is there', () => {
    const input = reader(1, 2, 3);
    input.skip(1);
    expect(() => input.u32()).toThrow('thing: 4 bytes asked, 2 left at offset 1');
  });

  test.each([-1, 4, Number.NaN])('seeking to %d of 3 bytes is refused', (offset) => {
    expect(() => reader(1, 2, 3).seek(offset)).toThrow(expect.objectContaining({ code: 'E_FORMAT_RANGE' }));
  });

  test('the end is a place', () => {
    const input = reader(1, 2, 3);
    input.seek(3);
    expect(input.remaining).toBe(0);
    input.end();
    expect([...input.take(0)]).toEqual([]);
  });

  test('a count that cannot be there is refused, however large', () => {
    const input = reader(...new Array(24).fill(0));
    expect(input.count(1, 24)).toBe(1);
    expect(input.count(0, 24)).toBe(0);
    for (const count of [2, 0xffffff, 0xffffffff, 2 ** 40]) expect(() => input.count(count, 24)).toThrow(truncated);
  });

  test('a part cannot be left, and its whole goes on behind it', () => {
    const input = reader(1, 2, 3, 4);
    const part = input.sub(2, 'part');
    expect(part.u16()).toBe(0x0102);
    expect(() => part.u8()).toThrow('part: 1 bytes asked, 0 left');
    expect(input.u8()).toBe(3);
    expect(() => input.sub(2)).toThrow(truncated);
  });

  test('what is left over is an error for those who ask', () => {
    const input = reader(1, 2);
    expect(() => input.end()).toThrow('thing: 2 bytes left over at offset 0');
  });

  test('a view into larger bytes ends where it ends', () => {
    const input = new ByteReader(Uint8Array.of(9, 9, 1, 2, 9, 9).subarray(2, 4), 'view');
    expect(input.u16()).toBe(0x0102);
    expect(() => input.u8()).toThrow(truncated);
  });
});

describe('texts', () => {
  test('a string ends at its NUL, and needs one', () => {
    const input = new ByteReader(new TextEncoder().encode('grün\0rest'), 'text');
    expect(input.cstring()).toBe('grün');
    expect(input.latin1(4)).toBe('rest');
    expect(() => new ByteReader(new TextEncoder().encode('rest'), 'text').cstring()).toThrow(truncated);
  });

  test('a NUL that comes too late does not count', () => {
    const bytes = new TextEncoder().encode('abcd\0');
    expect(new ByteReader(bytes, 'text').cstring(5)).toBe('abcd');
    expect(() => new ByteReader(bytes, 'text').cstring(4)).toThrow(truncated);
  });

  test('a magic is demanded as it is written', () => {
    const input = reader(0x42, 0x4c, 0x54, 0x45, 7);
    input.magic('BLTE');
    expect(input.u8()).toBe(7);
    expect(() => reader(0x42, 0x4c, 0x54, 0x46).magic('BLTE')).toThrow(
      expect.objectContaining({ code: 'E_FORMAT_MAGIC' }),
    );
    expect(() => reader(0x42, 0x4c).magic('BLTE')).toThrow(expect.objectContaining({ code: 'E_FORMAT_MAGIC' }));
  });

  test('a key is lower-case hex, bytes that are no UTF-8 do not throw', () => {
    expect(reader(...new Array(16).fill(0xab)).key()).toBe('ab'.repeat(16));
    expect(reader(0xff, 0x41).utf8(2)).toBe('\ufffdA');
    expect(reader(0xe9, 0x41).latin1(2)).toBe('éA');
  });
});

test('any walk over any bytes gives values or an error of ours', () => {
  const steps = fc.array(fc.constantFrom('u8', 'u16le', 'u24', 'u32', 'u40', 'u64', 'u64le', 'cstring', 'key'), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60, size: 'max' }), steps, (bytes, names) => {
      const input = new ByteReader(bytes, 'thing');
      try {
        for (const name of names as ('u8' | 'cstring')[]) input[name]();
      } catch (error) {
        expect(error).toMatchObject({ name: 'PakratError', code: expect.stringMatching(/^E_FORMAT/) });
      }
      expect(input.pos).toBeLessThanOrEqual(bytes.length);
    }),
  );
});

test('what the writer writes the reader reads', () => {
  const u = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map(Number);
  fc.assert(
    fc.property(u(8), u(16), u(24), u(32), u(40), u(53), fc.string({ unit: 'grapheme' }), (a, b, c, d, e, f, text) => {
      const clean = text.replaceAll('\0', '');
      const writer = new ByteWriter(1)
        .u8(a)
        .u16(b)
        .u16le(b)
        .u24(c)
        .u32(d)
        .u32le(d)
        .u40(e)
        .u64(f)
        .u64le(f)
        .cstring(clean);
      const bytes = writer.i8(-3).i32le(-70000).uint(e, 6).zeros(3).key('0a'.repeat(16)).bytes();
      expect(writer.size).toBe(bytes.length);
      const input = new ByteReader(bytes, 'round trip');
      expect([input.u8(), input.u16(), input.u16le(), input.u24(), input.u32(), input.u32le()]).toEqual([
        a,
        b,
        b,
        c,
        d,
        d,
      ]);
      expect([input.u40(), input.u64(), input.u64le(), input.cstring()]).toEqual([
        e,
        f,
        f,
        new TextDecoder().decode(new TextEncoder().encode(clean)),
      ]);
      expect([input.i8(), input.i32le(), input.uint(6), toHex(input.take(3)), input.key()]).toEqual([
        -3,
        -70000,
        e,
        '000000',
        '0a'.repeat(16),
      ]);
      input.end();
    }),
  );
});
