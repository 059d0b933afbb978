import { describe, expect, test } from '@jest/globals';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { md5 } from '../../../src/core/hash.ts';
import { decodeArchiveIndex, encodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { pageHashes } from '../../../src/formats/indices/page-hashes.ts';
import { randomSource } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

const random = randomSource(11);

function randomBytes(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, () => Math.floor(random() * 256));
}

/** The same one by one. */
function plainHashes(bytes: Uint8Array, pageSize: number): Uint8Array {
  const count = Math.floor(bytes.length / pageSize);
  return concatBytes(Array.from({ length: count }, (_, i) => md5(bytes.subarray(i * pageSize, (i + 1) * pageSize))));
}

describe('the hashes of pages', () => {
  // As many as are hashed together from some number on.
  const many = randomBytes(4096).slice();
  const pages = concatBytes(Array.from({ length: 200 }, (_, i) => many.map((byte) => byte ^ i)));

  test('are those of each page, before and after there were thousands', () => {
    for (let turn = 0; turn < 20; turn++) {
      const found = pageHashes(pages.subarray(turn * 4096), 4096);
      expect(toHex(found)).toBe(toHex(plainHashes(pages.subarray(turn * 4096), 4096)));
    }
  });

  test('are right for pages of any size, for one page, and for none', () => {
    for (const pageSize of [1024, 5 * 1024, 255 * 1024]) {
      const bytes = pages.subarray(0, 3 * pageSize + 100);
      expect(toHex(pageHashes(bytes, pageSize))).toBe(toHex(plainHashes(bytes, pageSize)));
    }
    expect(toHex(pageHashes(pages.subarray(0, 4096), 4096))).toBe(toHex(md5(pages.subarray(0, 4096))));
    expect(pageHashes(new Uint8Array(), 4096)).toHaveLength(0);
  });

  test('tell a damaged page of an index, also after thousands', () => {
    const entries = Array.from({ length: 2000 }, (_, i) => ({ ekey: randomBytes(16), size: i, offset: i, archive: 0 }));
    const { bytes, name } = encodeArchiveIndex(entries);
    expect(decodeArchiveIndex(bytes, name).count).toBe(2000);
    for (const page of [0, 5, 11]) {
      const damaged = bytes.slice();
      damaged[page * 4096 + 17]! ^= 1;
      expect(codeThrownBy(() => decodeArchiveIndex(damaged, name))).toBe('E_INTEGRITY');
    }
  });
});
