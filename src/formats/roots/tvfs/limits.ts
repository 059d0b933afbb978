import { formatError } from '../../../core/errors.ts';

/** The format in messages. */
export const tvfsWhat = 'TVFS manifest';
/** Bytes of a ckey. */
export const ckeySize = 16;
/** Longest path in bytes. The table shares prefixes, so without a bound a small table could spell out huge paths. */
export const maxPathSize = 1024;
/** A name's size byte cannot be 255 (it marks a node) or 0 (it marks a separator). */
export const maxNameSize = 254;
/** Highest span count of a real file; above it the byte means something else. */
export const maxSpans = 224;
/** The count byte of a deleted file. */
export const deletedCount = 255;
/** The bit of a node value that makes it a folder. */
export const folderBit = 0x80000000;

/** Bytes of an offset into a table of `size` bytes: 1 to 4. */
export function offsetWidth(size: number): number {
  if (size > 0xffffff) return 4;
  if (size > 0xffff) return 3;
  return size > 0xff ? 2 : 1;
}

/** Says what a manifest cannot hold. @throws E_FORMAT_RANGE */
export function refuse(problem: string): never {
  throw formatError('E_FORMAT_RANGE', tvfsWhat, problem);
}
