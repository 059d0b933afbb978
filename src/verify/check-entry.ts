import { toHex } from '../core/bytes.ts';
import { isPakratError, PakratError } from '../core/errors.ts';
import { md5Hasher, md5Hex } from '../core/hash.ts';
import { bltePrefixSize, decodeBlteHeader, decodeBltePrefix } from '../formats/blte/header.ts';

/** Reads bytes of an entry; offsets count from its start. */
export type ReadEntry = (offset: number, size: number) => Uint8Array;

/** What was looked at, and what is wrong with it. */
export interface CheckedObject {
  name: string;
  bytes: number;
  problem?: { code: string; message: string } | undefined;
}

const pieceSize = 1 << 20;

/**
 * The ekey that an encoded entry has: the MD5 of its header, or of all of it when it has no table.
 * @returns hex, 16 bytes
 * @throws E_FORMAT… when it does not begin with a BLTE header
 */
export function keyOfEntry(read: ReadEntry, size: number): string {
  const headerSize = decodeBltePrefix(read(0, Math.min(bltePrefixSize, size)));
  if (headerSize > size) throw new PakratError('E_FORMAT_TRUNCATED', `its header of ${headerSize} bytes does not fit`);
  return headerSize === bltePrefixSize ? hashOf(read, 0, size) : md5Hex(read(0, headerSize));
}

/**
 * Checks an encoded entry: its ekey, and the MD5 of each chunk. No key is needed.
 * @param ekey hex, or its first digits: an installation knows 9 bytes of it
 * @throws E_INTEGRITY, E_FORMAT…
 */
export function checkEntry(read: ReadEntry, size: number, ekey: string): void {
  const found = keyOfEntry(read, size);
  if (!found.startsWith(ekey)) throw new PakratError('E_INTEGRITY', `its bytes hash to ${found}, not to ${ekey}`);
  const headerSize = decodeBltePrefix(read(0, bltePrefixSize));
  const header = decodeBlteHeader(read(0, headerSize), size);
  if (header.headerSize === 0) return;
  for (let i = 0; i < header.count; i++) {
    const { offset, encodedSize, md5 } = header.chunk(i);
    if (md5 !== undefined && hashOf(read, offset, encodedSize) !== toHex(md5)) {
      throw new PakratError('E_INTEGRITY', `chunk ${i} at offset ${offset} does not hash to what its header says`);
    }
  }
}

/** Size of an encoded entry, by its own header; undefined when it has none. @throws E_FORMAT… as above */
export function sizeByHeader(read: ReadEntry): number | undefined {
  const headerSize = decodeBltePrefix(read(0, bltePrefixSize));
  if (headerSize === bltePrefixSize) return undefined;
  const bytes = read(0, headerSize);
  const rowSize = bytes[8] === 0x10 ? 40 : 24;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size = headerSize;
  for (let at = 12; at + rowSize <= headerSize; at += rowSize) size += view.getUint32(at);
  return size;
}

function hashOf(read: ReadEntry, offset: number, size: number): string {
  const hash = md5Hasher();
  for (let done = 0; done < size; done += pieceSize) hash.update(read(offset + done, Math.min(pieceSize, size - done)));
  return toHex(hash.digest());
}

/** Runs a check and says what came of it. Errors that are none of ours go on. */
export function checked(name: string, bytes: number, check: () => void): CheckedObject {
  try {
    check();
    return { name, bytes };
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return { name, bytes, problem: { code: error.code, message: error.message } };
  }
}
