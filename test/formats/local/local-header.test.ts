import { expect, test } from '@jest/globals';
import { toHex } from '../../../src/core/bytes.ts';
import { ekeyOfBlte } from '../../../src/formats/blte/header.ts';
import { decodeLocalHeader, encodeLocalHeader, localHeaderSize } from '../../../src/formats/local/local-header.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';

describeConformance('two entries of a real data file of 2014', () => {
  const file = (): Uint8Array => conformanceBytes('tact', 'heksesang-CascLib', 'data');
  test('the first is as its client wrote it', () => {
    const entry = file().subarray(0, 3656);
    const header = decodeLocalHeader(entry);
    expect(header).toMatchObject({ size: 3656, flags: 0, isIntact: true });
    expect(ekeyOfBlte(entry.subarray(localHeaderSize))).toBe(header.ekey);
    // The last four bytes belong to the place that the entry was cut out of.
    expect(toHex(encodeLocalHeader(header, 0).subarray(0, 26))).toBe(toHex(entry.subarray(0, 26)));
  });

  test('the second was changed: its size is right, its checksum is not', () => {
    expect(decodeLocalHeader(file().subarray(3656))).toMatchObject({ size: 16726, flags: 0, isIntact: false });
  });

  test('bytes of a Buffer stay as they are', () => {
    const bytes = Buffer.from(file().subarray(0, 30));
    const before = toHex(bytes);
    decodeLocalHeader(bytes);
    expect(toHex(bytes)).toBe(before);
  });
});

const header = { ekey: '000102030405060708090a0b0c0d0e0f', size: 1234, flags: 0 };

test('a header comes back as it was; a changed byte shows', () => {
  const bytes = encodeLocalHeader(header, 0x12345);
  expect(decodeLocalHeader(bytes)).toEqual({ ...header, isIntact: true });
  expect(toHex(bytes.subarray(0, 16))).toBe('0f0e0d0c0b0a09080706050403020100');
  bytes[17]! ^= 1;
  expect(decodeLocalHeader(bytes).isIntact).toBe(false);
});

test('whatever comes is told or refused', () => {
  expectHostileSafe(decodeLocalHeader, encodeLocalHeader(header, 0));
});
