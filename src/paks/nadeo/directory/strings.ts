import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import { type NameDecoder, nameDecoder } from '../../names.ts';

const utf8Encoder = new TextEncoder();

/**
 * A string as Nadeo stores it: u32 size in bytes, then the bytes, without a NUL.
 * @param maxSize larger ones are taken for damage (or a wrong key) at once: E_FORMAT_RANGE
 */
export function readString(reader: ByteReader, maxSize: number, decode: NameDecoder = nameDecoder()): string {
  const offset = reader.pos;
  const size = reader.u32le();
  if (size > maxSize) {
    const facts = { offset, expected: `at most ${maxSize}` };
    throw formatError('E_FORMAT_RANGE', reader.what, `a string of ${size} bytes`, facts);
  }
  const start = reader.pos;
  reader.skip(size);
  return decode(reader.bytes, start, reader.pos);
}

/** The mirror of {@link readString}, in UTF-8. */
export function writeString(writer: ByteWriter, text: string): void {
  const bytes = utf8Encoder.encode(text);
  writer.u32le(bytes.length).raw(bytes);
}
