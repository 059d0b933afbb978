import { expect, test } from '@jest/globals';
import { u32At } from '../../../src/core/bytes.ts';
import { isPakratError, resultUnless } from '../../../src/core/errors.ts';
import { md5 } from '../../../src/core/hash.ts';
import { firstRow, headerSizeAt, rowMd5Offset, rowSizeAt } from '../../../src/formats/blte/chunk-rows.ts';
import { decodeBlteHeader, encodeBlteHeader } from '../../../src/formats/blte/header.ts';
import { randomSource } from '../../support/hostile.ts';

const at = 5;
const sizes = [1, 300, 70_000];
const header = (format: 0x0f | 0x10): Uint8Array =>
  encodeBlteHeader({
    format,
    rows: sizes.map((size) => ({
      encodedSize: size,
      decodedSize: size,
      md5: md5(Uint8Array.of(size)),
      decodedMd5: md5(Uint8Array.of(1, size)),
    })),
  });

/** Sizes and hashes of chunks as the rows tell them; undefined where there is no table that can be. */
function rowsOf(bytes: Uint8Array, objectSize: number): unknown {
  const moved = new Uint8Array(at + bytes.length);
  moved.set(bytes, at);
  const headerSize = headerSizeAt(moved, at);
  const rowSize = headerSize < 0 || headerSize > bytes.length ? 0 : rowSizeAt(moved, at, { headerSize, objectSize });
  if (rowSize === 0) return undefined;
  const rows = [];
  for (let row = firstRow(at); row < at + headerSize; row += rowSize)
    rows.push([u32At(moved, row), moved.slice(row + rowMd5Offset, row + rowMd5Offset + 16)]);
  return rows;
}

function decodedRows(bytes: Uint8Array, objectSize: number): unknown {
  const decoded = resultUnless(isPakratError, () => decodeBlteHeader(bytes, objectSize));
  if (decoded?.format === undefined) return undefined;
  return Array.from({ length: decoded.count }, (_, i) => [decoded.chunk(i).encodedSize, decoded.chunk(i).md5]);
}

test.each([0x0f, 0x10] as const)('tells of format %i what decodeBlteHeader does, and takes nothing else', (format) => {
  const bytes = header(format);
  const objectSize = bytes.length + sizes.reduce((sum, size) => sum + size, 0);
  expect(rowsOf(bytes, objectSize)).toEqual(decodedRows(bytes, objectSize));
  expect(rowsOf(bytes, objectSize)).toHaveLength(3);
  expect(rowsOf(bytes, objectSize + 1)).toBeUndefined();
  const random = randomSource(format);
  for (let i = 0; i < 2000; i++) {
    const wrong = bytes.slice();
    wrong[Math.floor(random() * (i % 2 === 0 ? 16 : wrong.length))] = Math.floor(random() * 256);
    expect(rowsOf(wrong, objectSize)).toEqual(decodedRows(wrong, objectSize));
  }
});

test('tells an object without a table, and bytes that are no object', () => {
  expect(headerSizeAt(encodeBlteHeader(), 0)).toBe(8);
  expect(headerSizeAt(new TextEncoder().encode('BLTF0000'), 0)).toBe(-1);
});
