/*
 * Strings of Unreal's archives.
 *
 *   length   i32    above 0: bytes, the last a NUL · below 0: UTF-16LE units, the last a NUL · 0: empty
 *
 * File names in the directory index of version 12 and above are UTF-8 without a NUL; the names of directories kept it.
 * (Checked on real files.)
 */
import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import type { NameDecoder } from '../../names.ts';
import { hashAscii, noHash } from './rows/name-hash.ts';

const lengthSize = 4;

/** Reads a string that ends in a NUL. Throws E_FORMAT_TRUNCATED for one that does not fit, E_FORMAT when the NUL is missing. */
export function readFString(reader: ByteReader, decode: NameDecoder): string {
  const start = reader.pos + lengthSize;
  const units = skipFString(reader);
  if (units === 0) return '';
  const isWide = reader.pos - start > units + 1;
  const end = reader.pos - (isWide ? 2 : 1);
  return isWide ? decodeUtf16(reader.bytes.subarray(start, end)) : decode(reader.bytes, start, end);
}

/** Moves behind a string. Returns its length in bytes or UTF-16 units, without the NUL. Throws as {@link readFString}. */
export function skipFString(reader: ByteReader): number {
  const { offset } = reader;
  const length = reader.i32le();
  if (length === 0) return 0;
  reader.skip(length > 0 ? length : length * -2);
  const end = reader.pos - (length > 0 ? 1 : 2);
  if (reader.bytes[end] !== 0 || reader.bytes[reader.pos - 1] !== 0) {
    throw formatError('E_FORMAT', reader.what, 'a string without its closing NUL', { offset });
  }
  return Math.abs(length) - 1;
}

/** The end of a string whose start is known, and which was read or skipped before; of a name that may end in a NUL, too. */
export function endOfFString(bytes: Uint8Array, start: number): number {
  const length = lengthAt(bytes, start);
  return start + lengthSize + (length >= 0 ? length : length * -2);
}

/** Goes on with the hash of a name by a string that was read or skipped before (name-hash.ts); its NUL may be missing. */
export function hashFString(bytes: Uint8Array, start: number, state: number): number {
  const length = lengthAt(bytes, start);
  if (length < 0) return noHash;
  const end = start + lengthSize + length;
  const isClosed = length > 0 && bytes[end - 1] === 0;
  return hashAscii(bytes, start + lengthSize, isClosed ? end - 1 : end, state);
}

/** The number in front of a string. */
function lengthAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Reads a name that may end in a NUL or not. Throws as {@link readFString}, but for the NUL. */
export function readOpenString(reader: ByteReader, decode: NameDecoder): string {
  const length = reader.i32le();
  const start = reader.pos;
  reader.skip(length >= 0 ? length : length * -2);
  if (length < 0) return decodeUtf16(reader.bytes.subarray(start, reader.pos)).replace(/\0$/, '');
  const isClosed = length > 0 && reader.bytes[reader.pos - 1] === 0;
  return decode(reader.bytes, start, isClosed ? reader.pos - 1 : reader.pos);
}

function decodeUtf16(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf16le');
}

/** Writes a string as the engine does: ASCII as bytes, anything else as UTF-16. */
export function writeFString(writer: ByteWriter, text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is the whole of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) {
    writer.i32le(text.length + 1).cstring(text);
  } else {
    writer.i32le(-text.length - 1).raw(Buffer.from(`${text}\0`, 'utf16le'));
  }
}
