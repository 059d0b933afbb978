import { formatError, PakratError } from '../../core/errors.ts';
import type { ByteReader } from '../../core/reader.ts';
import type { ByteWriter } from '../../core/writer.ts';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
const latin1 = new TextDecoder('latin1');
const utf8Encoder = new TextEncoder();

/** Turns the bytes of a name into text. */
export type TextDecode = (bytes: Uint8Array) => string;

/** UTF-8, or Latin-1 for bytes that are none; or the encoding asked for. Throws E_USAGE for an unknown encoding. */
export function textDecoder(encoding?: string): TextDecode {
  if (encoding === undefined) return decodeUtf8OrLatin1;
  try {
    const decoder = new TextDecoder(encoding);
    return (bytes) => decoder.decode(bytes);
  } catch (cause) {
    throw new PakratError('E_USAGE', `unknown text encoding ${JSON.stringify(encoding)}`, { cause });
  }
}

function decodeUtf8OrLatin1(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}

/**
 * A string as Nadeo stores it: u32 size in bytes, then the bytes, without a NUL.
 * @param maxSize larger ones are taken for damage (or a wrong key) at once: E_FORMAT_RANGE
 */
export function readString(reader: ByteReader, maxSize: number, decode: TextDecode = decodeUtf8OrLatin1): string {
  const offset = reader.pos;
  const size = reader.u32le();
  if (size > maxSize) {
    throw formatError('E_FORMAT_RANGE', reader.what, `a string of ${size} bytes`, { offset, expected: `at most ${maxSize}` });
  }
  return decode(reader.take(size));
}

/** The mirror of {@link readString}, in UTF-8. */
export function writeString(writer: ByteWriter, text: string): void {
  const bytes = utf8Encoder.encode(text);
  writer.u32le(bytes.length).raw(bytes);
}
