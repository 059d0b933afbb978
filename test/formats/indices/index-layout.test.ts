import { expect, test } from '@jest/globals';
import { md5Hex } from '../../../src/core/hash.ts';
import {
  decodeIndexFooter,
  encodeIndexFooter,
  indexFooterSize,
  indexGeometry,
  maxFooterSize,
} from '../../../src/formats/indices/index-layout.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { codeThrownBy } from '../text.ts';

describeConformance('the footer of a real index', () => {
  test('says where everything is, and comes back byte for byte', () => {
    const bytes = conformanceBytes('tact', 'cascette-rs/archive/0017a402f556fbece46c38dc431a2c9b.index');
    const layout = decodeIndexFooter(bytes.subarray(-maxFooterSize), bytes.length);
    expect(layout).toMatchObject({ count: 7060, pageSize: 4096, keyBytes: 16, hashBytes: 8, entriesPerPage: 170 });
    expect(layout.tocOffset + layout.tocSize + layout.footerSize).toBe(bytes.length);
    expect(layout.name).toBe('0017a402f556fbece46c38dc431a2c9b');
    expect(encodeIndexFooter(layout)).toEqual(bytes.slice(-28));
  });
});

const geometry = indexGeometry(300, { hashBytes: 12, flags: 0x0102 });
const footer = encodeIndexFooter({ ...geometry, tocHash: new Uint8Array(12).fill(7) });

test('a footer of any width is found, and named by its MD5', () => {
  expect(footer).toHaveLength(indexFooterSize(12));
  expect(decodeIndexFooter(footer, geometry.fileSize)).toEqual({
    ...geometry,
    tocHash: new Uint8Array(12).fill(7),
    name: md5Hex(footer),
  });
});

test('one of another file, or a changed one, is refused', () => {
  expect(codeThrownBy(() => decodeIndexFooter(footer, geometry.fileSize + 1))).toBe('E_FORMAT_TRUNCATED');
  const changed = footer.slice();
  changed[20]! ^= 1;
  expect(codeThrownBy(() => decodeIndexFooter(changed, geometry.fileSize))).toBe('E_FORMAT_CHECKSUM');
});
