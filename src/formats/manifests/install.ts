// The install manifest: files that lie on disk beside the data (programs, libraries), by path.
//
//   magic        "IN"
//   version      u8, 1 or 2
//   ckeyBytes    u8 = 16
//   tagCount     u16
//   entryCount   u32
//   version 2:   u8 (record size), u32 (a second count), u8 (unknown): kept, not used
//   tags         see tags.ts; before the entries
//   entries      path NUL-terminated, with back-slashes   ckey [16]   size u32   version 2: u8 (file type)
//
//   49 4e 01 10 00 1d 00 00 00 f0      a real header: version 1, 29 tags, 240 entries
// Known from wowdev.wiki (TACT) and checked on a real manifest of version 1; version 2 only from descriptions of it.

import { formatError, PakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import { type Format, startsWith } from '../format.ts';
import { readTags, type Tag, writeTags } from './tags.ts';

/** A file to install. Several may have one path, told apart by their tags. */
export interface InstallEntry {
  /** As written; mostly with back-slashes. */
  readonly path: string;
  /** Lower-case hex. */
  readonly ckey: string;
  /** Decoded size in bytes. */
  readonly size: number;
  /** Version 2 only. */
  readonly fileType?: number;
}

/** A decoded install manifest. Bit `i` of a tag's mask belongs to entry `i`. */
export interface Install {
  readonly version: 1 | 2;
  readonly tags: readonly Tag[];
  readonly entries: readonly InstallEntry[];
  /** The 6 bytes that version 2 adds to the header, as they are. */
  readonly headerExtra?: Uint8Array;
}

const format = 'install manifest';

/** Told by its magic and version. */
export const installFormat: Format = { name: format, matches: startsWith('IN\x01', 'IN\x02') };

const extraSize = 6;

/** Reads an install manifest. @throws E_FORMAT… when it is none, is cut off or goes on behind its last entry */
export function decodeInstall(bytes: Uint8Array): Install {
  const reader = new ByteReader(bytes, format);
  reader.magic('IN');
  const version = reader.version('u8', 1, 2);
  const ckeyBytes = reader.u8();
  if (ckeyBytes !== 16) throw new PakratError('E_UNSUPPORTED', `${format}: keys of ${ckeyBytes} bytes`);
  const tagCount = reader.u16();
  const entryCount = reader.u32();
  const headerExtra = version === 2 ? reader.take(extraSize) : undefined;
  const tags = readTags(reader, tagCount, entryCount);
  reader.count(entryCount, version === 2 ? 22 : 21);
  const entries = Array.from({ length: entryCount }, () => decodeEntry(reader, version));
  reader.end();
  return { version, tags, entries, ...(headerExtra && { headerExtra }) };
}

function decodeEntry(reader: ByteReader, version: number): InstallEntry {
  const entry = { path: reader.cstring(), ckey: reader.key(), size: reader.u32() };
  return version === 2 ? { ...entry, fileType: reader.u8() } : entry;
}

/** Writes an install manifest. Throws E_FORMAT_RANGE when a size does not fit. */
export function encodeInstall({ version, tags, entries, headerExtra }: Install): Uint8Array {
  const writer = new ByteWriter().text('IN').u8(version).u8(16).u16(tags.length).u32(entries.length);
  if (version === 2) writer.raw(headerExtra ?? new Uint8Array(extraSize));
  writeTags(writer, tags);
  for (const { path, ckey, size, fileType = 0 } of entries) {
    if (!(size >= 0 && size < 2 ** 32)) {
      throw formatError('E_FORMAT_RANGE', format, `${path} is too large for 32 bits`, { found: size });
    }
    writer.cstring(path).key(ckey).u32(size);
    if (version === 2) writer.u8(fileType);
  }
  return writer.bytes();
}
