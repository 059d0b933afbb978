import { describe, expect, test } from '@jest/globals';
import { toHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodePatchIndex, encodePatchIndex, type PatchIndexEntry } from '../../../src/formats/patches/patch-index.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeOf } from '../../support/thrown-code.ts';

const everything = (bytes: Uint8Array) => [...decodePatchIndex(bytes).entries];

describeConformance('the index of WoW Classic Era 1.15.8.65989', () => {
  const real = () => conformanceBytes('tact/cascette-rs/patch_index/wow_classic_era_patch_index.bin');

  test('its blocks and 112 entries', () => {
    expect(md5Hex(real())).toBe('4c0fcc3e0db1881e58bb6b3e2b14078d');
    const index = decodePatchIndex(real());
    expect(index.blocks.map(({ type }) => type)).toEqual([1, 2, 8]);
    expect([index.keySize, index.count, index.blocks[0]!.bytes.length]).toEqual([16, 112, 7]);
    const entry = index.entry(0);
    expect(toHex(entry.sourceEkey)).toBe('c618de334463e2d2b3905b99ee4ef720');
    expect(toHex(entry.patchEkey)).toBe('78bf9f0d41752ce11581ed8f4c232019');
    expect(toHex(entry.targetEkey)).toBe('4ae11df4e56e9f1ebfa179efe4b0c626');
    expect(entry).toMatchObject({ sourceSize: 2_760_958, patchSize: 2763, patchDecodedSize: 2763, mark: 1 });
  });

  test('112 sources and 112 patches lead to 50 targets', () => {
    const entries = everything(real());
    const different = (key: 'sourceEkey' | 'patchEkey' | 'targetEkey') =>
      new Set(entries.map((entry) => toHex(entry[key])));
    expect(different('sourceEkey').size).toBe(112);
    expect(different('patchEkey').size).toBe(112);
    expect(different('targetEkey').size).toBe(50);
  });

  test('its second copy of the entries reads the same', () => {
    const bytes = real();
    // Block 2 gets a type that is not known.
    bytes[27] = 99;
    expect(everything(bytes)).toEqual(everything(real()));
  });

  test('it comes out of the encoder byte for byte', () => {
    expect(md5Hex(encodePatchIndex(decodePatchIndex(real())))).toBe(md5Hex(real()));
    expect(md5Hex(encodePatchIndex({ entries: everything(real()) }))).toBe(md5Hex(real()));
  });

  test('hostile forms of it', () => {
    expectHostileSafe(everything, real(), { samples: 200 });
  });
});

const entryOf = (i: number, size: number): PatchIndexEntry => ({
  sourceEkey: new Uint8Array(size).fill(i),
  sourceSize: 1000 + i,
  patchEkey: new Uint8Array(size).fill(i + 1),
  patchSize: i,
  patchDecodedSize: i + 5,
  mark: 1,
  targetEkey: new Uint8Array(size).fill(i + 2),
});

describe.each([16, 9])('round trip with keys of %i bytes', (keySize) => {
  const entries = Array.from({ length: 20 }, (_, i) => entryOf(i, keySize));
  const bytes = encodePatchIndex({ keySize, entries });

  test('entries come back', () => {
    expect(everything(bytes)).toEqual(entries);
    expect(everything(encodePatchIndex({ keySize, entries: [] }))).toEqual([]);
  });

  test('hostile forms', () => {
    expectHostileSafe(everything, bytes, { samples: 200 });
  });
});

test('what is wrong has its code', () => {
  const forge = (offset: number, value: number) => {
    const bytes = encodePatchIndex({ entries: [entryOf(1, 16)] });
    bytes[offset] = value;
    return codeOf(() => decodePatchIndex(bytes));
  };
  expect(forge(4, 2)).toBe('E_FORMAT_VERSION');
  expect(forge(0, 44)).toBe('E_FORMAT');
  expect(forge(8, 0)).toBe('E_FORMAT');
  expect(forge(54, 17)).toBe('E_FORMAT_RANGE');
  expect(forge(50, 2)).toBe('E_FORMAT_TRUNCATED');
  expect(codeOf(() => encodePatchIndex({ entries: [entryOf(1, 9)] }))).toBe('E_FORMAT_RANGE');
});

test('an index without a table that is known is told by its block types', () => {
  const bytes = encodePatchIndex({ entries: [entryOf(1, 16)] });
  bytes[27] = 6;
  bytes[35] = 10;
  expect(() => decodePatchIndex(bytes)).toThrow('types: 1, 6, 10');
  expect(codeOf(() => decodePatchIndex(bytes))).toBe('E_UNSUPPORTED');
});
