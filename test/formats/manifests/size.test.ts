import { describe, expect, test } from '@jest/globals';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { md5 } from '../../../src/core/hash.ts';
import { ByteWriter } from '../../../src/core/writer.ts';
import { decodeSize, encodeSize, type SizeManifest } from '../../../src/formats/manifests/size.ts';
import { writeTags } from '../../../src/formats/manifests/tags.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

const tags = [{ name: 'Windows', type: 1, mask: Uint8Array.of(0b1011_1111) }];
const entries = [1, 2, 3].map((i) => ({ ekey: md5(Uint8Array.of(i)), size: i * 1000 }));
const second = encodeSize({ entries, count: 3, tags });

/** Version 1 by hand; sizes of `width` bytes with the long header, of 4 with the short. */
function firstVersion(longHeader: boolean, width = 4): Uint8Array {
  const head = new ByteWriter().text('DS').u8(1).u8(9).u32(3).u16(1);
  const header = longHeader ? head.u64(6000).u8(width) : head.u40(6000);
  writeTags(header, tags);
  for (const { ekey, size } of entries) header.raw(ekey.subarray(0, 9)).uint(size, longHeader ? width : 4);
  return header.bytes();
}

function rows(manifest: SizeManifest): unknown[] {
  return Array.from({ length: manifest.count }, (_, i) => [toHex(manifest.entry(i).ekey), manifest.entry(i).size]);
}

const expected = entries.map(({ ekey, size }) => [toHex(ekey.subarray(0, 9)), size]);

describe('a size manifest', () => {
  test('comes back from its bytes: header of 15, tags, 13 bytes an entry', () => {
    expect(second.length).toBe(15 + 11 + 3 * 13);
    const manifest = decodeSize(second);
    expect(manifest).toMatchObject({ version: 2, count: 3, total: 6000, ekeyBytes: 9, sizeBytes: 4, tags });
    expect(rows(manifest)).toEqual(expected);
  });

  test('of version 1 is read with the header of 19 bytes and with that of 15', () => {
    for (const [longHeader, width] of [
      [true, 4],
      [true, 5],
      [true, 2],
      [false, 4],
    ] as const) {
      const manifest = decodeSize(firstVersion(longHeader, width));
      expect(manifest).toMatchObject({ version: 1, longHeader, sizeBytes: width, total: 6000, tags });
      expect(rows(manifest)).toEqual(expected);
      const { version, ekeyBytes, sizeBytes } = manifest;
      const again = encodeSize({ entries, count: 3, tags, version, longHeader, ekeyBytes, sizeBytes });
      expect(toHex(again)).toBe(toHex(firstVersion(longHeader, width)));
    }
  });

  test('of another kind or version, or with more behind it, is refused', () => {
    const change = (offset: number, value: number): Uint8Array =>
      second.map((byte, i) => (i === offset ? value : byte));
    expect(codeThrownBy(() => decodeSize(change(0, 0)))).toBe('E_FORMAT_MAGIC');
    expect(codeThrownBy(() => decodeSize(change(2, 3)))).toBe('E_FORMAT_VERSION');
    expect(codeThrownBy(() => decodeSize(change(3, 0)))).toBe('E_FORMAT_RANGE');
    expect(codeThrownBy(() => decodeSize(change(4, 255)))).toBe('E_FORMAT_TRUNCATED');
    expect(codeThrownBy(() => decodeSize(concatBytes([second, Uint8Array.of(0)])))).toBe('E_FORMAT');
  });

  test('survives anything', () => {
    for (const bytes of [second, firstVersion(true), firstVersion(false)])
      expectHostileSafe((input) => rows(decodeSize(input)), bytes);
  });

  test('cannot be written when something does not fit', () => {
    expect(codeThrownBy(() => encodeSize({ entries, count: 2, tags: [] }))).toBe('E_FORMAT_RANGE');
    for (const shape of [{ longHeader: true }, { version: 1, sizeBytes: 5 }, { ekeyBytes: 17 }] as const) {
      expect(codeThrownBy(() => encodeSize({ entries, count: 3, tags, ...shape }))).toBe('E_FORMAT_RANGE');
    }
    expect(
      codeThrownBy(() => encodeSize({ entries: [{ ekey: entries[0]!.ekey, size: 2 ** 32 }], count: 1, tags: [] })),
    ).toBe('E_FORMAT_RANGE');
  });
});
