/*
 * The header of NadeoPak versions 6 to 18: a public part, and a private part that may be encrypted. Little-endian.
 *
 *   magic                8    "NadeoPak"
 *   version              u32
 *   contents checksum    32   SHA-256 of everything behind itself
 *   header flags         u32  1 header is private, 2 default header key is used, 4 data is private, 8 impostor
 *   [15+] header size    u32  room for the whole header: where the data starts
 *   [7+]  author         version u32 · login, nick, zone, extra: strings
 *   [7,8] comment        string · 16 unused bytes · [8: build info, author URL: strings]
 *   [9+]  manialink      string · [13+ download URL string] · time u64 (100 ns since 1601) · comment string ·
 *                        [12+ XML, title id: strings] · usage folder, build info: strings · 16 unused bytes
 *   [10+] included packs count u32, each: SHA-256 32 · name string · author · manialink string · time u64 ·
 *                        second name string · [11+ depth u32]
 *   [encrypted] IV       8    only when one of the flags 1 and 2 is set; all that follows is encrypted then
 *   MD5                  16   of the plain private part as in version 3; in the game's own packs of version 18,
 *                             of the public part from the author on with the private part behind it
 *   metadata offset      u32
 *   [<15] data offset    u32
 *   metadata size, stored size  u32 each
 *   [14+] metadata MD5   16   MD5 from the metadata to the end of the pack, where it is set
 *   [16+] file size      u32
 *   unused               16
 *   [6] author           as above
 *   flags                u32
 *   directory            see directory.ts
 *
 * (Mania Tech Wiki, PAK; the two MD5s of version 18 are told by one source that checked them against the game.)
 */
import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import type { NameDecoder } from '../../names.ts';
import { type DirectoryOptions, decodeDirectory, encodeDirectory } from '../directory/directory.ts';
import { readString, writeString } from '../directory/strings.ts';
import { headerFlag } from '../keys/keys.ts';
import { headerMd5, type PrivateHeader } from './header-v3.ts';

/** The newest version of the format. */
export const newestVersion = 18;
/** Offset of the header flags, behind magic, version and checksum: the SHA-256 is over everything from here. */
export const contentsOffset = 44;
const maxTextBytes = 1 << 20;
/** The least that an included pack takes. */
const minIncludedBytes = 68;

export interface PackAuthor {
  version: number;
  login: string;
  nick: string;
  zone: string;
  extra: string;
}

export interface IncludedPack {
  contentsChecksum: Uint8Array;
  name: string;
  author: PackAuthor;
  manialink: string;
  time: bigint;
  secondName: string;
  depth: number;
}

/** The public part. Fields that a version does not have are empty. */
export interface PublicHeader {
  version: number;
  contentsChecksum: Uint8Array;
  headerFlags: number;
  /** Version 15 and above: where the data starts; else 0. */
  headerSize: number;
  author: PackAuthor | undefined;
  comment: string;
  manialink: string;
  downloadUrl: string;
  authorUrl: string;
  /** 100-nanosecond steps since 1601-01-01, 0 where there is none. */
  time: bigint;
  xml: string;
  titleId: string;
  usageFolder: string;
  buildInfo: string;
  unused: Uint8Array;
  includedPacks: IncludedPack[];
}

/** The private part of versions 6 and above. */
export interface PrivateHeaderV6 extends PrivateHeader {
  /** Version 14 and above, 16 bytes. */
  metadataMd5: Uint8Array | undefined;
  /** Version 16 and above. */
  fileSize: number | undefined;
  /** Version 6, which has no public author. */
  author: PackAuthor | undefined;
}

/**
 * Decodes the public part.
 * @returns it, and the offset behind it. Throws E_FORMAT_MAGIC, E_FORMAT_TRUNCATED, E_FORMAT_RANGE.
 */
export function decodePublicHeader(
  bytes: Uint8Array,
  version: number,
  decodeText?: NameDecoder,
): { header: PublicHeader; end: number } {
  const reader = new ByteReader(bytes, `NadeoPak ${version} public header`);
  reader.seek(Math.min(12, bytes.length));
  const text = () => readString(reader, maxTextBytes, decodeText);
  const header = emptyPublicHeader(version);
  header.contentsChecksum = reader.take(32).slice();
  header.headerFlags = reader.u32le();
  if (version >= 15) header.headerSize = reader.u32le();
  if (version >= 7) header.author = readAuthor(reader, text);
  if (version === 7 || version === 8) {
    header.comment = text();
    header.unused = reader.take(16).slice();
  }
  if (version === 8) {
    header.buildInfo = text();
    header.authorUrl = text();
  }
  if (version >= 9) readModernPart(reader, header, text);
  return { header, end: reader.pos };
}

function readModernPart(reader: ByteReader, header: PublicHeader, text: () => string): void {
  const { version } = header;
  header.manialink = text();
  if (version >= 13) header.downloadUrl = text();
  header.time = reader.u64leBig();
  header.comment = text();
  if (version >= 12) {
    header.xml = text();
    header.titleId = text();
  }
  header.usageFolder = text();
  header.buildInfo = text();
  header.unused = reader.take(16).slice();
  if (version < 10) return;
  const count = reader.count(reader.u32le(), minIncludedBytes + (version >= 11 ? 4 : 0));
  for (let i = 0; i < count; i++) {
    header.includedPacks.push({
      contentsChecksum: reader.take(32).slice(),
      name: text(),
      author: readAuthor(reader, text),
      manialink: text(),
      time: reader.u64leBig(),
      secondName: text(),
      depth: version >= 11 ? reader.u32le() : 0,
    });
  }
}

function readAuthor(reader: ByteReader, text: () => string): PackAuthor {
  return { version: reader.u32le(), login: text(), nick: text(), zone: text(), extra: text() };
}

/** The mirror of {@link decodePublicHeader}. */
export function encodePublicHeader(header: PublicHeader): Uint8Array {
  const { version } = header;
  const writer = new ByteWriter()
    .text('NadeoPak')
    .u32le(version)
    .raw(header.contentsChecksum)
    .u32le(header.headerFlags);
  const texts = (...list: string[]) => {
    for (const text of list) writeString(writer, text);
  };
  if (version >= 15) writer.u32le(header.headerSize);
  if (version >= 7) writeAuthor(writer, header.author ?? noAuthor());
  if (version === 7 || version === 8) {
    texts(header.comment);
    writer.raw(header.unused);
  }
  if (version === 8) texts(header.buildInfo, header.authorUrl);
  if (version < 9) return writer.bytes();
  texts(header.manialink);
  if (version >= 13) texts(header.downloadUrl);
  writer.u64le(header.time);
  texts(header.comment);
  if (version >= 12) texts(header.xml, header.titleId);
  texts(header.usageFolder, header.buildInfo);
  writer.raw(header.unused);
  if (version < 10) return writer.bytes();
  writer.u32le(header.includedPacks.length);
  for (const pack of header.includedPacks) {
    writer.raw(pack.contentsChecksum);
    texts(pack.name);
    writeAuthor(writer, pack.author);
    texts(pack.manialink);
    writer.u64le(pack.time);
    texts(pack.secondName);
    if (version >= 11) writer.u32le(pack.depth);
  }
  return writer.bytes();
}

function writeAuthor(writer: ByteWriter, author: PackAuthor): void {
  writer.u32le(author.version);
  for (const text of [author.login, author.nick, author.zone, author.extra]) writeString(writer, text);
}

/** True when the private part is encrypted. */
export function isHeaderEncrypted(headerFlags: number): boolean {
  return (headerFlags & (headerFlag.isHeaderPrivate | headerFlag.useDefaultHeaderKey)) !== 0;
}

/**
 * Decodes the plain private part; padding may follow.
 * @param options `dataOffset`: the header size that the public part tells, for version 15 and above
 * @throws E_FORMAT_TRUNCATED, E_FORMAT_RANGE
 */
export function decodePrivateHeaderV6(
  bytes: Uint8Array,
  options: DirectoryOptions & { dataOffset: number },
): PrivateHeaderV6 {
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
    author: version === 6 ? readAuthor(reader, () => readString(reader, maxTextBytes, decodeText)) : undefined,
    flags: reader.u32le(),
  };
  const directory = decodeDirectory(reader, options);
  return { ...head, ...directory, plainSize: reader.pos };
}

/**
 * The mirror of {@link decodePrivateHeaderV6}; the MD5 is worked out.
 * @param publicFields bytes of the public part from the author on, which version 18 hashes too
 */
export function encodePrivateHeaderV6(
  header: Omit<PrivateHeaderV6, 'md5' | 'plainSize'>,
  version: number,
  publicFields: Uint8Array,
): Uint8Array {
  const writer = new ByteWriter().zeros(16).u32le(header.metadataOffset);
  if (version < 15) writer.u32le(header.dataOffset);
  writer.u32le(header.metadataSize).u32le(header.metadataStoredSize);
  if (version >= 14) writer.raw(header.metadataMd5 ?? new Uint8Array(16));
  if (version >= 16) writer.u32le(header.fileSize ?? 0);
  writer.raw(header.unused);
  if (version === 6) writeAuthor(writer, header.author ?? noAuthor());
  writer.u32le(header.flags);
  encodeDirectory(writer, header, version);
  const bytes = writer.bytes();
  bytes.set(version >= newestVersion ? headerMd5(bytes, publicFields) : headerMd5(bytes));
  return bytes;
}

/** Where the fields start that the MD5 of version 18 is over: behind the header flags and size. */
export function publicFieldsOffset(version: number): number {
  return contentsOffset + (version >= 15 ? 8 : 4);
}

/** An author with empty fields. */
export function noAuthor(): PackAuthor {
  return { version: 0, login: '', nick: '', zone: '', extra: '' };
}

/** A public header without anything in it. Throws E_FORMAT_VERSION for a version that has none. */
export function emptyPublicHeader(version: number): PublicHeader {
  if (version < 6 || version > newestVersion) {
    throw formatError('E_FORMAT_VERSION', 'NadeoPak', 'unknown version', {
      offset: 8,
      expected: '1 to 18',
      found: version,
    });
  }
  return {
    version,
    contentsChecksum: new Uint8Array(32),
    headerFlags: 0,
    headerSize: 0,
    author: undefined,
    comment: '',
    manialink: '',
    downloadUrl: '',
    authorUrl: '',
    time: 0n,
    xml: '',
    titleId: '',
    usageFolder: '',
    buildInfo: '',
    unused: new Uint8Array(16),
    includedPacks: [],
  };
}

/** A time of the format as a date, or undefined for none. */
export function packTime(time: bigint): Date | undefined {
  if (time === 0n) return undefined;
  const date = new Date(Number(time / 10_000n) - 11_644_473_600_000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
