/*
 * The private part of the header of NadeoPak versions 6 to 18, behind the public one (public-header.ts). Little-endian.
 *
 *   [encrypted] IV       8    only when one of the header flags 1 and 2 is set; all that follows is encrypted then
 *   MD5                  16   of the plain private part as in version 3; in the game's own packs of version 18,
 *                             of the public part from the author on with the private part behind it
 *   metadata offset      u32
 *   [<15] data offset    u32
 *   metadata size, stored size  u32 each
 *   [14+] metadata MD5   16   MD5 from the metadata to the end of the pack, where it is set
 *   [16+] file size      u32
 *   unused               16
 *   [6] author           as in the public part
 *   flags                u32
 *   directory            see directory.ts
 *
 * (Mania Tech Wiki, PAK; the two MD5s of version 18 are told by one source that checked them against the game.)
 */
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { type DirectoryOptions, decodeDirectory, encodeDirectory } from '../directory/directory.ts';
import { headerMd5, type PrivateHeader } from './header-v3.ts';
import { newestVersion, readPackAuthor, writePackAuthor } from './public-header.ts';

/**
 * Decodes the plain private part; padding may follow.
 * @param options `dataOffset`: the header size that the public part tells, for version 15 and above
 * @throws E_FORMAT_TRUNCATED, E_FORMAT_RANGE
 */
export function decodePrivateHeader(
  bytes: Uint8Array,
  options: DirectoryOptions & { dataOffset: number },
): PrivateHeader {
  const { version, decodeText } = options;
  const reader = new ByteReader(bytes, `NadeoPak ${version} private header`);
  const head = {
    md5: reader.take(16).slice(),
    metadataOffset: reader.u32le(),
    dataOffset: version < 15 ? reader.u32le() : options.dataOffset,
    metadataSize: reader.u32le(),
    metadataStoredSize: reader.u32le(),
    metadataMd5: version >= 14 ? reader.take(16).slice() : undefined,
    fileSize: version >= 16 ? reader.u32le() : undefined,
    unused: reader.take(16).slice(),
    author: version === 6 ? readPackAuthor(reader, decodeText) : undefined,
    flags: reader.u32le(),
  };
  const directory = decodeDirectory(reader, options);
  return { ...head, ...directory, plainSize: reader.pos };
}

/**
 * The mirror of {@link decodePrivateHeader}; the MD5 is worked out.
 * @param publicFields bytes of the public part from the author on, which version 18 hashes too
 */
export function encodePrivateHeader(
  header: Omit<PrivateHeader, 'md5' | 'plainSize'>,
  version: number,
  publicFields: Uint8Array,
): Uint8Array {
  const writer = new ByteWriter().zeros(16).u32le(header.metadataOffset);
  if (version < 15) writer.u32le(header.dataOffset);
  writer.u32le(header.metadataSize).u32le(header.metadataStoredSize);
  if (version >= 14) writer.raw(header.metadataMd5 ?? new Uint8Array(16));
  if (version >= 16) writer.u32le(header.fileSize ?? 0);
  writer.raw(header.unused);
  if (version === 6) writePackAuthor(writer, header.author);
  writer.u32le(header.flags);
  encodeDirectory(writer, header, version);
  const bytes = writer.bytes();
  bytes.set(version >= newestVersion ? headerMd5(bytes, publicFields) : headerMd5(bytes));
  return bytes;
}
