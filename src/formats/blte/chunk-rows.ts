/* The chunk table of a BLTE object, as header.ts has it, for whoever goes through thousands of objects and wants nothing but sizes and hashes: nothing is made. */
import { u32At } from '../../core/bytes.ts';
import { bltePrefixSize } from './header.ts';

const magic = 0x424c5445;
const tableOffset = 12;
/** Bytes of a row in the two formats, and where the MD5 of a chunk stands in it. */
const rowSizes: Readonly<Record<number, number>> = { 15: 24, 16: 40 };
/** Offset of the MD5 of a chunk in its row, which begins with its encoded size. */
export const rowMd5Offset = 8;

/** The size of the header at an offset, by its first {@link bltePrefixSize} bytes: that many where there is no table, −1 where no header begins. */
export function headerSizeAt(bytes: Uint8Array, at: number): number {
  if (u32At(bytes, at) !== magic) return -1;
  return u32At(bytes, at + 4) || bltePrefixSize;
}

/**
 * The bytes of a row of the table at an offset; 0 where it is not one that `decodeBlteHeader` takes for an object of this size.
 * @param headerSize as {@link headerSizeAt} says, all of it there
 */
export function rowSizeAt(bytes: Uint8Array, at: number, sizes: { headerSize: number; objectSize: number }): number {
  const { headerSize, objectSize } = sizes;
  const rowSize = headerSize < tableOffset ? 0 : (rowSizes[bytes[at + bltePrefixSize]!] ?? 0);
  const count = u32At(bytes, at + bltePrefixSize) & 0xffffff;
  if (rowSize === 0 || count === 0 || tableOffset + count * rowSize !== headerSize) return 0;
  let end = headerSize;
  for (let row = firstRow(at); row < at + headerSize; row += rowSize) {
    const encodedSize = u32At(bytes, row);
    if (encodedSize === 0) return 0;
    end += encodedSize;
  }
  return end === objectSize ? rowSize : 0;
}

/** Where the first row of a header at an offset begins. */
export function firstRow(at: number): number {
  return at + tableOffset;
}
