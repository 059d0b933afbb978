import { describe, expect, test } from '@jest/globals';
import { md5 } from '../../../src/core/hash.ts';
import { type DownloadContent, decodeDownload, encodeDownload } from '../../../src/formats/manifests/download.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

const tags = [{ name: 'Windows', type: 1, mask: Uint8Array.of(0b0101_1111) }];
const plain = [
  { ekey: md5(Uint8Array.of(1)), size: 0xff_ffff_ffff, priority: -2 },
  { ekey: md5(Uint8Array.of(2)), size: 0, priority: 1 },
];
const full = plain.map((entry, i) => ({ ...entry, checksum: 0xdead_0000 + i, flags: 0x0102 + i }));
const contents: Record<string, [DownloadContent, number]> = {
  'version 1': [{ version: 1, count: 2, entries: plain, tags }, 11 + 2 * 22],
  'version 1 with checksums': [
    { version: 1, hasChecksum: true, count: 2, entries: full.map(({ flags: _, ...entry }) => entry), tags },
    11 + 2 * 26,
  ],
  'version 2 with two bytes of flags': [
    { version: 2, flagSize: 2, hasChecksum: true, count: 2, entries: full, tags },
    12 + 2 * 28,
  ],
  'version 3 with a base priority': [{ version: 3, basePriority: -5, count: 2, entries: plain, tags }, 16 + 2 * 22],
};

describe('a download manifest', () => {
  for (const [story, [content, tagsOffset]] of Object.entries(contents)) {
    test(`of ${story} comes back from its bytes, entries before tags`, () => {
      const bytes = encodeDownload(content);
      expect(new TextDecoder().decode(bytes.subarray(tagsOffset, tagsOffset + 7))).toBe('Windows');
      const download = decodeDownload(bytes);
      expect(download).toMatchObject({ version: content.version, count: 2, basePriority: content.basePriority ?? 0 });
      expect(download.tags).toEqual(tags);
      expect(
        [download.entry(0), download.entry(1)].map((entry) => ({ ...entry, ekey: Buffer.from(entry.ekey) })),
      ).toEqual(Array.from(content.entries, (entry) => ({ ...entry, ekey: Buffer.from(entry.ekey) })));
      expectHostileSafe((input) => {
        const decoded = decodeDownload(input);
        return Array.from({ length: decoded.count }, (_, i) => decoded.entry(i));
      }, bytes);
    });
  }

  test('keeps the base priority out of sight: what is stored is what counts plus the base', () => {
    const bytes = encodeDownload(contents['version 3 with a base priority']![0]);
    expect(new Int8Array(bytes)[12]).toBe(-5);
    expect(new Int8Array(bytes)[16 + 21]).toBe(-7);
    expect(decodeDownload(bytes).entry(0).priority).toBe(-2);
  });

  test('is not allocated before its entries are there', () => {
    const bytes = encodeDownload({ count: 0, entries: [], tags: [] }).map((byte, i) => (i >= 5 && i < 9 ? 0xff : byte));
    expect(codeThrownBy(() => decodeDownload(bytes))).toBe('E_FORMAT_TRUNCATED');
  });

  test('of another kind, version or width is refused', () => {
    const bytes = encodeDownload(contents['version 2 with two bytes of flags']![0]);
    const change = (offset: number, value: number): Uint8Array => bytes.map((byte, i) => (i === offset ? value : byte));
    expect(codeThrownBy(() => decodeDownload(change(1, 0)))).toBe('E_FORMAT_MAGIC');
    expect(codeThrownBy(() => decodeDownload(change(2, 4)))).toBe('E_FORMAT_VERSION');
    expect(codeThrownBy(() => decodeDownload(change(3, 9)))).toBe('E_UNSUPPORTED');
    expect(codeThrownBy(() => decodeDownload(change(11, 5)))).toBe('E_FORMAT_RANGE');
    expect(codeThrownBy(() => decodeDownload(Uint8Array.of(...bytes, 0)))).toBe('E_FORMAT');
  });

  test('cannot be written when something does not fit', () => {
    const [entry] = plain;
    const bad: DownloadContent[] = [
      { count: 2, entries: [entry!], tags: [] },
      { count: 1, entries: [{ ...entry!, size: 2 ** 40 }], tags: [] },
      { count: 1, entries: [{ ...entry!, priority: 128 }], tags: [] },
      { version: 3, basePriority: 100, count: 1, entries: [{ ...entry!, priority: 100 }], tags: [] },
      { version: 1, flagSize: 1, count: 0, entries: [], tags: [] },
      { version: 2, basePriority: 1, count: 0, entries: [], tags: [] },
    ];
    for (const content of bad) expect(codeThrownBy(() => encodeDownload(content))).toBe('E_FORMAT_RANGE');
  });
});
