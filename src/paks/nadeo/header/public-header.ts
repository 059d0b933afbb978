/*
 * The public part of the header of NadeoPak versions 6 to 18. Little-endian.
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
 *
 * The private part follows (private-header.ts). (Mania Tech Wiki, PAK)
 */
import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import type { NameDecoder } from '../../names.ts';
import { readString, writeString } from '../directory/strings.ts';

/** The newest version of the format. */
export const newestVersion = 18;
/** Offset of the header flags, behind magic, version and checksum: the SHA-256 is over everything from here. */
export const contentsOffset = 44;
const maxTextBytes = 1 << 20;
/** The least that an included pack takes. */
const minIncludedBytes = 68;

/** The maker of a pack, as the pack says. */
export interface PackAuthor {
  version: number;
  login: string;
  nick: string;
  zone: string;
  extra: string;
}

/** Another pack that a pack includes. */
export interface IncludedPack {
  /** The 32 bytes in the header of that pack. */
  contentsChecksum: Uint8Array;
  name: string;
  author: PackAuthor;
  manialink: string;
  /** 100-nanosecond steps since 1601-01-01, 0 where there is none. */
  time: bigint;
  secondName: string;
  /** Version 11 and above, else 0. */
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

/** Decodes the public part; `end` is the offset behind it. Throws E_FORMAT_VERSION, E_FORMAT_TRUNCATED, …_RANGE. */
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
  if (version >= 7) header.author = readPackAuthor(reader, decodeText);
  if (version === 7 || version === 8) {
    header.comment = text();
    header.unused = reader.take(16).slice();
  }
  if (version === 8) {
    header.buildInfo = text();
    header.authorUrl = text();
  }
  if (version >= 9) readModernPart(reader, header, decodeText);
  return { header, end: reader.pos };
}

function readModernPart(reader: ByteReader, header: PublicHeader, decodeText: NameDecoder | undefined): void {
  const { version } = header;
  const text = () => readString(reader, maxTextBytes, decodeText);
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
      author: readPackAuthor(reader, decodeText),
      manialink: text(),
      time: reader.u64leBig(),
      secondName: text(),
      depth: version >= 11 ? reader.u32le() : 0,
    });
  }
}

/** Reads an author: a version and four strings. Throws E_FORMAT_TRUNCATED, E_FORMAT_RANGE. */
export function readPackAuthor(reader: ByteReader, decodeText: NameDecoder | undefined): PackAuthor {
  const text = () => readString(reader, maxTextBytes, decodeText);
  return { version: reader.u32le(), login: text(), nick: text(), zone: text(), extra: text() };
}

/** The mirror of {@link decodePublicHeader}. */
export function encodePublicHeader(header: PublicHeader): Uint8Array {
  const { version } = header;
  const writer = new ByteWriter().text('NadeoPak').u32le(version);
  writer.raw(header.contentsChecksum).u32le(header.headerFlags);
  const texts = (...list: string[]) => {
    for (const text of list) writeString(writer, text);
  };
  if (version >= 15) writer.u32le(header.headerSize);
  if (version >= 7) writePackAuthor(writer, header.author);
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
    writePackAuthor(writer, pack.author);
    texts(pack.manialink);
    writer.u64le(pack.time);
    texts(pack.secondName);
    if (version >= 11) writer.u32le(pack.depth);
  }
  return writer.bytes();
}

/** The mirror of {@link readPackAuthor}; without an author its fields are empty. */
export function writePackAuthor(writer: ByteWriter, author: PackAuthor = noAuthor()): void {
  writer.u32le(author.version);
  for (const text of [author.login, author.nick, author.zone, author.extra]) writeString(writer, text);
}

/** Offset of the fields that the MD5 of version 18 is over: behind the header flags and size. */
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
    const facts = { offset: 8, expected: '1 to 18', found: version };
    throw formatError('E_FORMAT_VERSION', 'NadeoPak', 'unknown version', facts);
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
