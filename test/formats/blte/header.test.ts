import { describe, expect, test } from '@jest/globals';
import { concatBytes, fromHex, toHex } from '../../../src/core/bytes.ts';
import { md5, md5Hex } from '../../../src/core/hash.ts';
import {
  bltePrefixSize,
  decodeBlteHeader,
  decodeBltePrefix,
  ekeyOfBlte,
  encodeBlteHeader,
} from '../../../src/formats/blte/header.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';

const row = (encodedSize: number, decodedSize: number) => ({
  encodedSize,
  decodedSize,
  md5: md5(Uint8Array.of(encodedSize)),
  decodedMd5: md5(Uint8Array.of(decodedSize)),
});
const rows = [row(5, 4), row(1, 0), row(300, 4_000_000_000)];
const two = encodeBlteHeader({ format: 0x0f, rows: rows.slice(0, 2) });
const code = (name: string) => expect.objectContaining({ code: name });

describeConformance('headers of real objects', () => {
  test('one with a table', () => {
    const bytes = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    expect(decodeBltePrefix(bytes.subarray(0, bltePrefixSize))).toBe(36);
    const header = decodeBlteHeader(bytes.subarray(0, 36), bytes.length);
    expect(header).toMatchObject({ headerSize: 36, dataOffset: 36, format: 0x0f, count: 1, decodedSize: 14641 });
    expect(header.chunk(0)).toMatchObject({ index: 0, offset: 36, encodedSize: 10184, decodedSize: 14641 });
    expect(header.chunk(0).md5).toEqual(md5(bytes.subarray(36)));
    expect(ekeyOfBlte(bytes)).toBe('2a6f1a538227094c04a4c364b1dda995');
  });

  test('one without', () => {
    const bytes = conformanceBytes('tact/heksesang-CascLib/data').subarray(30, 3656);
    expect(decodeBltePrefix(bytes)).toBe(8);
    const header = decodeBlteHeader(bytes, bytes.length);
    expect(header).toMatchObject({ headerSize: 0, dataOffset: 8, count: 1 });
    expect(header.format).toBeUndefined();
    expect(header.decodedSize).toBeUndefined();
    expect(header.chunk(0)).toMatchObject({ offset: 8, encodedSize: 3618 });
    expect(ekeyOfBlte(bytes)).toBe('ef25268fe3b67ecb2e5fc79052174a9d');
  });
});

describe('decodeBlteHeader', () => {
  test('reads a table that was written out by hand', () => {
    const bytes = fromHex(
      `424c5445${'00000024'}0f000001${'00000003'}${'00000002'}${'00112233445566778899aabbccddeeff'}`.concat('4e4142'),
    );
    const header = decodeBlteHeader(bytes, bytes.length);
    expect(header.chunk(0)).toEqual({
      index: 0,
      offset: 36,
      encodedSize: 3,
      decodedSize: 2,
      md5: fromHex('00112233445566778899aabbccddeeff'),
    });
  });

  test.each([0x0f, 0x10] as const)('reads back a table of format %i', (format) => {
    const bytes = encodeBlteHeader({ format, rows });
    const header = decodeBlteHeader(bytes, bytes.length + 306);
    expect(header).toMatchObject({ format, count: 3, decodedSize: 4_000_000_004, headerSize: bytes.length });
    expect([0, 1, 2].map((i) => header.chunk(i).offset)).toEqual([bytes.length, bytes.length + 5, bytes.length + 6]);
    for (const [index, { decodedMd5, ...rest }] of rows.entries()) {
      expect(header.chunk(index)).toMatchObject({ index, ...rest, ...(format === 0x10 && { decodedMd5 }) });
      expect('decodedMd5' in header.chunk(index)).toBe(format === 0x10);
    }
    expect(() => header.chunk(3)).toThrow(code('E_FORMAT_RANGE'));
    expect(() => header.chunk(-1)).toThrow(code('E_FORMAT_RANGE'));
  });

  test('the chunks must fill the object', () => {
    expect(decodeBlteHeader(two, two.length + 6).count).toBe(2);
    expect(() => decodeBlteHeader(two, two.length + 5)).toThrow(code('E_FORMAT_TRUNCATED'));
    expect(() => decodeBlteHeader(two, two.length + 7)).toThrow(
      expect.objectContaining({ code: 'E_FORMAT', message: expect.stringContaining('behind the last chunk') }),
    );
    expect(() => decodeBlteHeader(encodeBlteHeader(), 8)).toThrow(code('E_FORMAT_TRUNCATED'));
  });

  test.each([
    ['another magic', patched(two, 0, 0x43), 'E_FORMAT_MAGIC'],
    ['an unknown table', patched(two, 8, 0x11), 'E_FORMAT_VERSION'],
    ['a count that does not fit the size', patched(two, 11, 3), 'E_FORMAT'],
    ['a count of none', patched(two, 11, 0), 'E_FORMAT'],
    ['a size of no table', patched(two, 7, 13), 'E_FORMAT_RANGE'],
    ['a size beyond every table', patched(two, 4, 0x7f), 'E_FORMAT_RANGE'],
    ['a chunk of no bytes', encodeBlteHeader({ format: 0x0f, rows: [row(6, 5), row(0, 0)] }), 'E_FORMAT'],
    ['a header cut short', two.subarray(0, -1), 'E_FORMAT_TRUNCATED'],
    ['a prefix cut short', two.subarray(0, 7), 'E_FORMAT_TRUNCATED'],
  ])('refuses %s', (_case, bytes, name) => {
    expect(() => decodeBlteHeader(bytes, two.length + 6)).toThrow(code(name));
  });

  test('survives hostile input', () => {
    expectHostileSafe((bytes) => {
      const header = decodeBlteHeader(bytes, two.length + 6);
      return Array.from({ length: header.count }, (_, i) => header.chunk(i));
    }, two);
  });
});

describe('encodeBlteHeader', () => {
  test('without a table is the magic and a zero', () => {
    expect(toHex(encodeBlteHeader())).toBe('424c544500000000');
  });

  test('refuses what no row can hold', () => {
    expect(() => encodeBlteHeader({ format: 0x0f, rows: [] })).toThrow(code('E_FORMAT_RANGE'));
    expect(() => encodeBlteHeader({ format: 0x0f, rows: [row(2 ** 32, 1)] })).toThrow(code('E_FORMAT_RANGE'));
  });
});

describe('ekeyOfBlte', () => {
  test('is the MD5 of the header alone when there is a table', () => {
    expect(ekeyOfBlte(concatBytes([two, Uint8Array.of(1, 2, 3, 4, 5, 6)]))).toBe(md5Hex(two));
  });

  test('is the MD5 of everything when there is none', () => {
    const bytes = concatBytes([encodeBlteHeader(), Uint8Array.of(0x4e, 1)]);
    expect(ekeyOfBlte(bytes)).toBe(md5Hex(bytes));
  });

  test('refuses what is no BLTE, or only the start of one', () => {
    expect(() => ekeyOfBlte(new Uint8Array(100))).toThrow(code('E_FORMAT_MAGIC'));
    expect(() => ekeyOfBlte(two.subarray(0, 20))).toThrow(code('E_FORMAT_TRUNCATED'));
  });
});

function patched(bytes: Uint8Array, offset: number, value: number): Uint8Array {
  const changed = bytes.slice();
  changed[offset] = value;
  return changed;
}
