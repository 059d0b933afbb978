import type { ByteSource } from '../../../core/byte-source.ts';
import { viewOf } from '../../../core/bytes.ts';
import { formatError, isDamage, isPakratError, PakratError, valueUnless } from '../../../core/errors.ts';
import type { NameDecoder } from '../../names.ts';
import { directoryFeedback } from '../directory/directory.ts';
import { CipherStream, ivSize, packCipherKey, pageSize } from '../entries/cipher-stream.ts';
import { headerFlag, headerKey, type KeyCandidate } from '../keys/keys.ts';
import { decodePrivateHeader, headerMd5Matches, oldHeaderOffset, type PrivateHeader } from './private-header.ts';
import { decodePublicHeader, type PublicHeader, publicFieldsOffset } from './public-header.ts';

/** The largest header that the format foresees; larger ones are taken for damage. */
const maxHeaderBytes = 0x1000000;
const firstWindowBytes = 0x10000;
/** MD5, two offsets, flags and two counts, filled up. */
const minPrivateBytes = 40;
/** Offset of the field in the private part of versions below 15 that says how far it may reach. */
const dataOffsetAt = 20;

/** The header of a pack, as far as it could be read. */
export interface OpenedHeader {
  version: number;
  /** Version 6 and above. */
  publicPart: PublicHeader | undefined;
  /** Undefined when it is encrypted and no key fits. */
  privatePart: PrivateHeader | undefined;
  /** The key that opened the private part, when it is encrypted with the pack key. */
  packKey: KeyCandidate | undefined;
  /** The key that the private part is encrypted with, 16 bytes; undefined when it is plain (or closed). */
  headerKey: Uint8Array | undefined;
  /** True when the MD5 of the header is right. */
  isMd5Right: boolean;
  /** True when that MD5 is also over fields of the public part. */
  isMd5OverPublic: boolean;
}

interface OpenHeaderOptions {
  version: number;
  decodeText: NameDecoder;
  /** Keys to try, once the contents checksum is known (from version 6 on). */
  candidates: (contentsChecksum: Uint8Array | undefined) => readonly KeyCandidate[];
  /** Open although the MD5 is wrong. */
  ignoreHashes?: boolean | undefined;
}

/**
 * Reads the header of a pack, with the first key that opens it.
 * @throws E_FORMAT... for damage; below version 6 E_FORMAT_CHECKSUM when a key opens it but the MD5 is wrong (what
 *   that MD5 is over is not sure of every later version, so there a wrong one is told and no error)
 */
export async function openHeader(source: ByteSource, options: OpenHeaderOptions): Promise<OpenedHeader> {
  return options.version < 6 ? openOldHeader(source, options) : openNewHeader(source, options);
}

async function openOldHeader(source: ByteSource, options: OpenHeaderOptions): Promise<OpenedHeader> {
  const { version, decodeText } = options;
  const place: PrivatePlace = { offset: oldHeaderOffset, version, decodeText };
  const opened = await tryKeys(source, place, options.candidates(undefined), (key) => key);
  if (opened !== undefined && !opened.isMd5Right && !options.ignoreHashes) {
    throw formatError('E_FORMAT_CHECKSUM', `NadeoPak ${version} header`, 'the MD5 does not match: it is damaged');
  }
  return { version, publicPart: undefined, ...(opened ?? closed) };
}

async function openNewHeader(source: ByteSource, options: OpenHeaderOptions): Promise<OpenedHeader> {
  const { version, decodeText, candidates } = options;
  const { header: publicPart, end, fields } = await readPublic(source, version, decodeText);
  const dataOffset = version >= 15 ? publicPart.headerSize : undefined;
  const place: PrivatePlace = { offset: end, version, decodeText, publicFields: fields, dataOffset };
  const base = { version, publicPart };
  const { headerFlags } = publicPart;
  if ((headerFlags & headerFlag.isHeaderPrivate) === 0) {
    const key = headerKey(headerFlags, undefined);
    return { ...base, packKey: undefined, headerKey: key, ...(await readPrivate(source, place, key)) };
  }
  const toHeaderKey = (key: Uint8Array) => headerKey(headerFlags, key) ?? key;
  const opened = await tryKeys(source, place, candidates(publicPart.contentsChecksum), toHeaderKey);
  return { ...base, ...(opened ?? closed) };
}

const closed = {
  privatePart: undefined,
  packKey: undefined,
  headerKey: undefined,
  isMd5Right: false,
  isMd5OverPublic: false,
};

/** The place of the private part, and what is known of it beforehand. */
interface PrivatePlace {
  /** Of its IV when it is encrypted. */
  offset: number;
  version: number;
  decodeText: NameDecoder;
  /** The bytes that the MD5 of version 18 is over, in front of the private part. */
  publicFields?: Uint8Array;
  /** Offset of the data, where the public part tells it. */
  dataOffset?: number | undefined;
}

type PrivateRead = Pick<OpenedHeader, 'isMd5Right' | 'isMd5OverPublic'> & { privatePart: PrivateHeader };
type OpenedRead = PrivateRead & { packKey: KeyCandidate; headerKey: Uint8Array };

/** Throws E_FORMAT_TRUNCATED for a pack that ends before its directory could: no key would help. */
function checkRoom(source: ByteSource, { offset, version }: PrivatePlace): void {
  const needed = offset + ivSize + minPrivateBytes;
  if (source.size >= needed) return;
  const facts = { offset, expected: needed, found: source.size };
  throw formatError('E_FORMAT_TRUNCATED', `NadeoPak ${version} header`, 'the pack ends inside it', facts);
}

/** The private part as the first fitting key gives it: best one with a right MD5, else one that decodes at all. */
async function tryKeys(
  source: ByteSource,
  place: PrivatePlace,
  candidates: readonly KeyCandidate[],
  toHeaderKey: (packKey: Uint8Array) => Uint8Array,
): Promise<OpenedRead | undefined> {
  checkRoom(source, place);
  let doubtful: OpenedRead | undefined;
  for (const packKey of candidates) {
    const key = toHeaderKey(packKey.key);
    const read = await valueUnless(isDamage, readPrivate(source, place, key));
    if (read === undefined) continue;
    const found = { ...read, packKey, headerKey: key };
    if (read.isMd5Right) return found;
    doubtful ??= found;
  }
  return doubtful;
}

async function readPublic(source: ByteSource, version: number, decodeText: NameDecoder) {
  return growing(source, { offset: 0, size: Math.min(source.size, maxHeaderBytes) }, (bytes) => {
    const { header, end } = decodePublicHeader(bytes, version, decodeText);
    return { header, end, fields: bytes.slice(publicFieldsOffset(version), end) };
  });
}

async function readPrivate(source: ByteSource, place: PrivatePlace, key: Uint8Array | undefined): Promise<PrivateRead> {
  const { version } = place;
  const iv = new Uint8Array(await source.read(place.offset, key === undefined ? 0 : ivSize));
  const cipher = key && (() => new CipherStream(packCipherKey(key, version), iv, version));
  const offset = place.offset + iv.length;
  const start = new Uint8Array(await source.read(offset, Math.min(pageSize, roundedDown(source.size - offset))));
  cipher?.().decrypt(start);
  const headerSize = headerRoom(start, place, { offset, sourceSize: source.size });
  const size = Math.min(headerSize, source.size - offset);
  return growing(source, { offset, size }, (stored) => decodePrivate(stored, { place, headerSize, cipher }));
}

/** Decodes what is there of the private part; `cipher` makes its cipher, from its start, where it has one. */
function decodePrivate(
  stored: Uint8Array,
  { place, headerSize, cipher }: { place: PrivatePlace; headerSize: number; cipher: (() => CipherStream) | undefined },
): PrivateRead {
  const bytes = cipher === undefined ? stored : stored.subarray(0, roundedDown(stored.length));
  const plain = bytes.slice();
  cipher?.().decrypt(plain);
  const { version, decodeText, dataOffset } = place;
  const privatePart = decodePrivateHeader(plain, {
    version,
    headerSize,
    decodeText,
    dataOffset,
    // The files behind the folders are encrypted with feedback from the folders, from the next page on.
    afterFolders: (folders, end) => {
      const mix = directoryFeedback(folders);
      if (cipher === undefined || mix === undefined) return;
      const page = Math.min(Math.ceil(end / pageSize) * pageSize, bytes.length);
      const again = bytes.slice();
      const stream = cipher();
      stream.decrypt(again.subarray(0, page));
      stream.mix(mix);
      stream.decrypt(again.subarray(page));
      plain.set(again.subarray(page), page);
    },
  });
  const image = plain.subarray(0, privatePart.plainSize);
  const isAlone = headerMd5Matches(image);
  const isMd5OverPublic = !isAlone && headerMd5Matches(image, place.publicFields);
  return { privatePart, isMd5Right: isAlone || isMd5OverPublic, isMd5OverPublic };
}

/** Bytes that the private part may take: up to the data. Throws E_FORMAT_RANGE for offsets that cannot be. */
function headerRoom(
  start: Uint8Array,
  place: PrivatePlace,
  { offset, sourceSize }: { offset: number; sourceSize: number },
): number {
  const what = `NadeoPak ${place.version} header`;
  if (start.length < dataOffsetAt + 4)
    throw formatError('E_FORMAT_TRUNCATED', what, 'the pack ends inside it', { offset });
  const view = viewOf(start);
  const dataOffset = place.dataOffset ?? view.getUint32(dataOffsetAt, true);
  const room = dataOffset - offset;
  if (room < dataOffsetAt || room > maxHeaderBytes) {
    throw formatError('E_FORMAT_RANGE', what, `data at ${dataOffset}`, { offset: offset + dataOffsetAt });
  }
  if (dataOffset > sourceSize)
    throw formatError('E_FORMAT_TRUNCATED', what, `the pack ends in front of its data at ${dataOffset}`);
  return room;
}

/** Decodes a region by more and more of its start: little is read of a small header, and nothing twice over. */
async function growing<T>(
  source: ByteSource,
  { offset, size }: { offset: number; size: number },
  decode: (bytes: Uint8Array) => T,
): Promise<T> {
  for (let window = firstWindowBytes; ; window *= 4) {
    // A copy in a plain array: a source may give its own memory, and the slice of a Buffer would be that too.
    const bytes = new Uint8Array(await source.read(offset, Math.min(window, size)));
    try {
      return decode(bytes);
    } catch (error) {
      const isShort = isPakratError(error) && error.code === 'E_FORMAT_TRUNCATED' && window < size;
      if (!isShort) throw error;
    }
  }
}

function roundedDown(size: number): number {
  return Math.max(0, Math.floor(size / ivSize) * ivSize);
}

/** The error for a pack whose directory cannot be read without a key. */
export function closedError(source: ByteSource, keyCount: number): PakratError {
  const problem =
    keyCount === 0 ? 'and no key is given' : `and none of the ${keyCount} keys tried opens it (or it is damaged)`;
  return new PakratError('E_KEY_MISSING', `${source.name}: the directory is encrypted, ${problem}`, {
    hint: 'Give its key with --key: hex, base64 or @packlist.dat. `pakrat keys import packlist.dat` keeps those of the game for all commands.',
    data: { keyName: source.name },
  });
}
