/*
 * The private part of the header of a NadeoPak: behind magic and version in versions 1 to 5, behind the public part
 * (public-header.ts) from 6 on. Little-endian.
 *
 *   [encrypted] IV       8    always below version 6, then only when one of the header flags 1 and 2 is set; all that
 *                             follows is encrypted then
 *   MD5                  16   of the plain private part to its last file, with this field zeroed, without padding; in the
 *                             game's own packs of version 18, of the public part from the author on with it behind
 *   metadata offset      u32  from the start of the pack
 *   [<15] data offset    u32  from the start of the pack; where the header ends at the latest
 *   [2+]  metadata size, stored size  u32 each: inflated; as compressed, without the padding to 256 bytes
 *   [14+] metadata MD5   16   MD5 from the metadata to the end of the pack, where it is set
 *   [16+] file size      u32
 *   [3+]  unused         16
 *   [6]   author         as in the public part
 *   flags                u32
 *   directory            see directory.ts
 *
 * (Mania Tech Wiki, PAK; the extent of the MD5 below version 6 agrees between two other readers, the two MD5s of version
 * 18 are told by one source that checked them against the game.)
 */
import { equalBytes } from '../../../core/bytes.ts';
import { md5 } from '../../../core/hash.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import {
  type DirectoryOptions,
  type DirectoryRecords,
  decodeDirectory,
  encodeDirectory,
} from '../directory/directory.ts';
import { newestVersion, type PackAuthor, readPackAuthor, writePackAuthor } from './public-header.ts';

/** Offset of the private part, that is of its IV, below version 6: behind magic and version. */
export const oldHeaderOffset = 12;
const md5Size = 16;

/** The private part of a header, of every version. */
export interface PrivateHeader extends DirectoryRecords {
  /** 16 bytes, as stored. */
  md5: Uint8Array;
  metadataOffset: number;
  dataOffset: number;
  /** Inflated size; 0 below version 2. */
  metadataSize: number;
  /** Size as compressed, without padding; 0 below version 2. */
  metadataStoredSize: number;
  /** Version 14 and above: 16 bytes. */
  metadataMd5?: Uint8Array | undefined;
  /** Version 16 and above. */
  fileSize?: number | undefined;
  /** 16 bytes that are zero in known packs. */
  unused: Uint8Array;
  /** Version 6, which has no public author. */
  author?: PackAuthor | undefined;
  flags: number;
  /** Bytes of this part, without padding. */
  plainSize: number;
}

/**
 * Decodes the plain private part; padding may follow.
 * @param options `dataOffset`: the header size that the public part tells, for version 15 and above
 * @throws E_FORMAT_TRUNCATED, E_FORMAT_RANGE
 */
export function decodePrivateHeader(
  bytes: Uint8Array,
  options: DirectoryOptions & { dataOffset?: number | undefined },
): PrivateHeader {
  const { version, decodeText, dataOffset = 0 } = options;
  const reader = new ByteReader(bytes, `NadeoPak ${version} private header`);
  const head = {
    md5: reader.take(md5Size).slice(),
    metadataOffset: reader.u32le(),
    dataOffset: version < 15 ? reader.u32le() : dataOffset,
    metadataSize: version >= 2 ? reader.u32le() : 0,
    metadataStoredSize: version >= 2 ? reader.u32le() : 0,
    metadataMd5: version >= 14 ? reader.take(16).slice() : undefined,
    fileSize: version >= 16 ? reader.u32le() : undefined,
    unused: version >= 3 ? reader.take(16).slice() : new Uint8Array(16),
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
  publicFields?: Uint8Array,
): Uint8Array {
  const writer = encodePrivateStart(header, version);
  encodeDirectory(writer, header, version);
  const bytes = writer.bytes();
  bytes.set(headerMd5(bytes, version >= newestVersion ? publicFields : undefined));
  return bytes;
}

/** The private part up to its directory; the MD5, which it starts with, is still zeros. */
export function encodePrivateStart(
  header: Omit<PrivateHeader, 'md5' | 'plainSize' | keyof DirectoryRecords>,
  version: number,
): ByteWriter {
  const writer = new ByteWriter().zeros(md5Size).u32le(header.metadataOffset);
  if (version < 15) writer.u32le(header.dataOffset);
  if (version >= 2) writer.u32le(header.metadataSize).u32le(header.metadataStoredSize);
  if (version >= 14) writer.raw(header.metadataMd5 ?? new Uint8Array(16));
  if (version >= 16) writer.u32le(header.fileSize ?? 0);
  if (version >= 3) writer.raw(header.unused);
  if (version === 6) writePackAuthor(writer, header.author);
  return writer.u32le(header.flags);
}

/** MD5 of a plain header (without padding) behind some other bytes, its own MD5 field taken as zeros. */
function headerMd5(plain: Uint8Array, before: Uint8Array = new Uint8Array(0)): Uint8Array {
  const image = new Uint8Array(before.length + plain.length);
  image.set(before);
  image.set(plain.subarray(md5Size), before.length + md5Size);
  return md5(image);
}

/** True when the MD5 at the start of a plain header is its own. */
export function headerMd5Matches(plain: Uint8Array, before?: Uint8Array): boolean {
  return equalBytes(headerMd5(plain, before), plain.subarray(0, md5Size));
}
