/*
 * The footer, the last bytes of an Unreal PAK. Little-endian. Newer fields stand before the old ones and behind them:
 *
 *   key GUID           16   from 7
 *   encrypted index    u8   from 4
 *   magic              u32  0x5A6F12E1
 *   version            u32
 *   index offset       i64
 *   index size         i64  padded to 16 when encrypted
 *   index SHA-1        20   over the decrypted index, padding included
 *   frozen             u8   version 9 only
 *   method names       32 each, from 8: ASCII up to a NUL; method number k is name k - 1
 *                           four names in the first form of version 8 ("8A", engine 4.22), five later ("8B", 4.23)
 *   PAK chunk index    i32  from 14
 *   encryption method  u8   from 15: 1 AES-ECB, 2 AES-CTR
 *   IVs                12 each, from 15: of the index, the path-hash index and the full directory index
 *
 *   version   1-3  4-6  7   8A   8B   9    10-13  14   15
 *   size      44   45   61  189  221  222  221    225  262
 *
 * (Sizes 44, 45, 61, 189, 221 and 222 and versions up to 12 checked on real files, 14 and 15 by description. Version 8
 * with fewer than four names is said to exist; it cannot be told from a file that lost its end, and is not read.)
 */
import { formatError, type PakratError, withHint } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { SharedOptions } from '../pak.ts';

const magic = 0x5a6f12e1;
/** No footer is longer. */
export const maxFooterSize = 262;
/** The newest version that is known. */
export const newestVersion = 15;
const nameSize = 32;
const coreSize = 44;
const guidSize = 16;
const ivSize = 12;

/** The form of a footer: where its magic is, and what is around it. */
export interface FooterLayout {
  readonly versions: readonly [first: number, last: number];
  readonly size: number;
  /** Bytes before the magic. */
  readonly lead: number;
  readonly names: number;
}

const layouts: readonly FooterLayout[] = [
  { versions: [1, 3], size: 44, lead: 0, names: 0 },
  { versions: [4, 6], size: 45, lead: 1, names: 0 },
  { versions: [7, 7], size: 61, lead: 17, names: 0 },
  { versions: [8, 8], size: 221, lead: 17, names: 5 },
  { versions: [8, 8], size: 189, lead: 17, names: 4 },
  { versions: [9, 9], size: 222, lead: 17, names: 5 },
  { versions: [10, 13], size: 221, lead: 17, names: 5 },
  { versions: [14, 14], size: 225, lead: 17, names: 5 },
  { versions: [15, 15], size: 262, lead: 17, names: 5 },
];

/** The cipher of the encrypted parts of a PAK. */
export type EncryptionMethod = 'AES-256-ECB' | 'AES-256-CTR';

/** A decoded footer. */
export interface Footer {
  version: number;
  /** The version with the letter of its form: `8A`, `8B`, otherwise the number. */
  label: string;
  /** Bytes of the footer. */
  size: number;
  /** Lower-case hex; all zeros for a game's main key, and below version 7. */
  keyGuid: string;
  encryptedIndex: boolean;
  indexOffset: number;
  indexSize: number;
  indexHash: Uint8Array;
  isFrozen: boolean;
  /** As stored, empty ones included. */
  methodNames: readonly string[];
  pakchunkIndex: number | undefined;
  encryption: EncryptionMethod;
  /** Of the index, the path-hash index and the full directory index; none below version 15. */
  ivs: readonly Uint8Array[];
  /** False when the magic is another and was ignored. */
  hasMagic: boolean;
}

type FooterOptions = Pick<SharedOptions, 'ignoreMagic' | 'forceVersion'>;

/** True when the magic stands where some version has it, whatever version the footer names. */
export function hasFooterMagic(tail: Uint8Array): boolean {
  return layouts.some((layout) => readMagic(tail, layout)?.magic === magic);
}

/** The form of a version's footer, by its label; undefined for a version that does not exist. Version 8 alone is 8B. */
export function footerLayout(label: string): FooterLayout | undefined {
  const version = Number.parseInt(label, 10);
  const names = label === '8A' ? 4 : undefined;
  return layouts.find((layout) => hasVersion(layout, version) && layout.names === (names ?? layout.names));
}

/**
 * Decodes the footer at the end of some bytes.
 * @param tail the last bytes of the file, at least {@link maxFooterSize} where the file has them
 * @param fileSize size of the whole file
 * @throws E_FORMAT_MAGIC when there is none, E_FORMAT_VERSION for a version that is not known or has another footer,
 *   E_FORMAT_TRUNCATED when the index is not in the file
 */
export function decodeFooter(tail: Uint8Array, fileSize: number, options: FooterOptions = {}): Footer {
  const layout = chooseLayout(tail, fileSize, options);
  const reader = new ByteReader(tail, 'Unreal PAK footer', tail.length - layout.size);
  const footer = readFooter(reader, layout, options.forceVersion);
  const limit = fileSize - layout.size;
  if (footer.indexOffset + footer.indexSize > limit) {
    throw formatError(
      'E_FORMAT_TRUNCATED',
      'Unreal PAK footer',
      `the index ends at ${footer.indexOffset + footer.indexSize}, the file before its footer at ${limit}`,
    );
  }
  return footer;
}

function chooseLayout(tail: Uint8Array, fileSize: number, { ignoreMagic, forceVersion }: FooterOptions): FooterLayout {
  let seen: number | undefined;
  const fitting: FooterLayout[] = [];
  for (const layout of layouts) {
    const found = readMagic(tail, layout);
    if (found?.magic !== magic) continue;
    if (hasVersion(layout, forceVersion ?? found.version)) return layout;
    seen = found.version;
    fitting.push(layout);
  }
  const likely =
    ignoreMagic === true ? layouts.find((layout) => isLikely(tail, layout, { fileSize, forceVersion })) : undefined;
  if (likely !== undefined) return likely;
  throw seen === undefined ? noFooter(tail) : wrongVersion(seen, { forced: forceVersion, fitting });
}

function hasVersion({ versions }: FooterLayout, version: number): boolean {
  return version >= versions[0] && version <= versions[1];
}

/** Without the magic, version and index must make sense together. */
function isLikely(
  tail: Uint8Array,
  layout: FooterLayout,
  { fileSize, forceVersion }: { fileSize: number; forceVersion: number | undefined },
): boolean {
  const found = readMagic(tail, layout);
  if (found === undefined || !hasVersion(layout, forceVersion ?? found.version)) return false;
  const end = found.indexOffset + found.indexSize;
  return found.indexSize > 0 && end <= BigInt(fileSize - layout.size);
}

function readMagic(tail: Uint8Array, layout: FooterLayout) {
  if (tail.length < layout.size) return undefined;
  const reader = new ByteReader(tail, 'Unreal PAK footer', tail.length - layout.size + layout.lead);
  return {
    magic: reader.u32le(),
    version: reader.u32le(),
    indexOffset: reader.u64leBig(),
    indexSize: reader.u64leBig(),
  };
}

function noFooter(tail: Uint8Array): PakratError {
  if (tail.length < coreSize) {
    return formatError('E_FORMAT_TRUNCATED', 'Unreal PAK', `${tail.length} bytes are too few for a footer`);
  }
  return formatError('E_FORMAT_MAGIC', 'Unreal PAK', 'no footer of any known version at its end');
}

/** @param fitting the forms that have the magic where it is */
function wrongVersion(
  seen: number,
  { forced, fitting }: { forced: number | undefined; fitting: readonly FooterLayout[] },
): PakratError {
  const isKnown = seen >= 1 && seen <= newestVersion;
  const own = isKnown ? `it is not that of version ${seen}: a game changed it` : `version ${seen} is not known`;
  const problem = forced === undefined ? own : `it cannot be read as version ${forced}`;
  const facts = forced === undefined ? { expected: `1 to ${newestVersion}`, found: seen } : { found: seen };
  const error = formatError('E_FORMAT_VERSION', 'Unreal PAK footer', problem, facts);
  const versions = Array.from({ length: newestVersion }, (_, i) => i + 1);
  const likely = versions.filter((version) => fitting.some((layout) => hasVersion(layout, version)));
  const hint = `By its place the magic is that of version ${likely.join(', ')}: --force-version N reads it as one of them.`;
  return withHint(error, hint);
}

function readFooter(reader: ByteReader, layout: FooterLayout, forceVersion: number | undefined): Footer {
  const keyGuid = layout.lead > guidSize ? reader.key(guidSize) : '0'.repeat(guidSize * 2);
  const encryptedIndex = layout.lead > 0 && reader.u8() !== 0;
  const hasMagic = reader.u32le() === magic;
  const stored = reader.u32le();
  const version = forceVersion ?? stored;
  const label = version === 8 ? (layout.names < 5 ? '8A' : '8B') : String(version);
  return {
    version,
    label,
    size: layout.size,
    keyGuid,
    encryptedIndex,
    indexOffset: reader.u64le(),
    indexSize: reader.u64le(),
    indexHash: reader.take(20),
    isFrozen: version === 9 && reader.u8() !== 0,
    methodNames: Array.from({ length: layout.names }, () => methodName(reader.take(nameSize))),
    pakchunkIndex: version >= 14 ? reader.i32le() : undefined,
    encryption: version >= 15 && reader.u8() === 2 ? 'AES-256-CTR' : 'AES-256-ECB',
    ivs: version >= 15 ? [reader.take(ivSize), reader.take(ivSize), reader.take(ivSize)] : [],
    hasMagic,
  };
}

function methodName(field: Uint8Array): string {
  const end = field.indexOf(0);
  return String.fromCharCode(...(end < 0 ? field : field.subarray(0, end)));
}

/** The mirror of {@link decodeFooter}, up to version 13. The index it names is taken as it is. */
export function encodeFooter(footer: Footer, { lead, names }: FooterLayout): Uint8Array {
  const writer = new ByteWriter(maxFooterSize);
  if (lead > guidSize) writer.key(footer.keyGuid);
  if (lead > 0) writer.u8(footer.encryptedIndex ? 1 : 0);
  writer.u32le(magic).u32le(footer.version).u64le(footer.indexOffset).u64le(footer.indexSize).raw(footer.indexHash);
  if (footer.version === 9) writer.u8(footer.isFrozen ? 1 : 0);
  for (let i = 0; i < names; i++) {
    const name = footer.methodNames[i] ?? '';
    writer.text(name).zeros(nameSize - name.length);
  }
  return writer.bytes();
}
