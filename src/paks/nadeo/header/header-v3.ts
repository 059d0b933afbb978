/*
 * The header of NadeoPak versions 1 to 5. Little-endian.
 *
 *   magic                8    "NadeoPak"
 *   version              u32
 *   IV                   8    then, encrypted with the pack key:
 *   MD5                  16   of the plain header from here to its last file, with this field zeroed, without padding
 *   metadata offset      u32  from the start of the pack
 *   data offset          u32  from the start of the pack; where the encrypted header ends at the latest
 *   [2+] metadata size   u32  inflated
 *        metadata stored u32  as compressed, without the padding to 256 bytes
 *   [3+] unused          16
 *   flags                u32
 *   directory            see directory.ts
 *
 * (Mania Tech Wiki, PAK; the extent of the MD5 agrees between two other readers.)
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
import type { PackAuthor } from './public-header.ts';

/** Offset of the encrypted header's IV. */
export const headerV3IvOffset = 12;
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
 * Decodes the decrypted part of a header of versions 1 to 5; it may be followed by padding.
 * @throws E_FORMAT_TRUNCATED, E_FORMAT_RANGE
 */
export function decodeHeaderV3(bytes: Uint8Array, options: DirectoryOptions): PrivateHeader {
  const { version } = options;
  const reader = new ByteReader(bytes, `NadeoPak ${version} header`);
  const head = {
    md5: reader.take(md5Size).slice(),
    metadataOffset: reader.u32le(),
    dataOffset: reader.u32le(),
    metadataSize: version >= 2 ? reader.u32le() : 0,
    metadataStoredSize: version >= 2 ? reader.u32le() : 0,
    unused: version >= 3 ? reader.take(16).slice() : new Uint8Array(16),
    flags: reader.u32le(),
  };
  const directory = decodeDirectory(reader, options);
  return { ...head, ...directory, plainSize: reader.pos };
}

/** The mirror of {@link decodeHeaderV3}; `md5` is worked out, what the header says of it is ignored. */
export function encodeHeaderV3(header: Omit<PrivateHeader, 'md5' | 'plainSize'>, version: number): Uint8Array {
  const writer = new ByteWriter().zeros(md5Size).u32le(header.metadataOffset).u32le(header.dataOffset);
  if (version >= 2) writer.u32le(header.metadataSize).u32le(header.metadataStoredSize);
  if (version >= 3) writer.raw(header.unused);
  writer.u32le(header.flags);
  encodeDirectory(writer, header, version);
  const bytes = writer.bytes();
  bytes.set(headerMd5(bytes));
  return bytes;
}

/**
 * MD5 of a plain header (without padding), its own MD5 field taken as zeros.
 * @param before bytes that are hashed in front of it
 */
export function headerMd5(plain: Uint8Array, before: Uint8Array = new Uint8Array(0)): Uint8Array {
  const image = new Uint8Array(before.length + plain.length);
  image.set(before);
  image.set(plain.subarray(md5Size), before.length + md5Size);
  return md5(image);
}

/** True when the MD5 at the start of a plain header is its own. */
export function headerMd5Matches(plain: Uint8Array, before?: Uint8Array): boolean {
  return equalBytes(headerMd5(plain, before), plain.subarray(0, md5Size));
}
