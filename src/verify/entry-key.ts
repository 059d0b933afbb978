import { toHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import { md5Hasher, md5Hex } from '../core/hash.ts';
import { bltePrefixSize, decodeBlteHeader, decodeBltePrefix } from '../formats/blte/header.ts';

/** Reads bytes of an encoded entry; offsets count from its start. */
type ReadBytes = (offset: number, size: number) => Uint8Array;

const pieceSize = 1 << 20;

/**
 * The ekey that an encoded entry has: the MD5 of its header, or of all of it when it has no table. For entries of which only a part of the
 * key is known.
 * @returns hex, 16 bytes
 * @throws E_FORMAT… when it does not begin with a BLTE header
 */
export function keyOfEntry(read: ReadBytes, size: number): string {
  const headerSize = decodeBltePrefix(read(0, Math.min(bltePrefixSize, size)));
  if (headerSize > size) throw new PakratError('E_FORMAT_TRUNCATED', `its header of ${headerSize} bytes does not fit`);
  if (headerSize !== bltePrefixSize) return md5Hex(read(0, headerSize));
  const hash = md5Hasher();
  for (let done = 0; done < size; done += pieceSize) hash.update(read(done, Math.min(pieceSize, size - done)));
  return toHex(hash.digest());
}

/** Size of an encoded entry, by the table in its header; undefined when it has none. @throws E_FORMAT… as above */
export function sizeByTable(read: ReadBytes): number | undefined {
  const headerSize = decodeBltePrefix(read(0, bltePrefixSize));
  return headerSize === bltePrefixSize ? undefined : decodeBlteHeader(read(0, headerSize)).objectSize;
}
