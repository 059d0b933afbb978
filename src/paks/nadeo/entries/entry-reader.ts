import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { inflatePieces } from '../../../codecs/compression/inflate.ts';
import type { ByteSource } from '../../../core/byte-source.ts';
import { isAllZero } from '../../../core/bytes.ts';
import { formatError, PakratError } from '../../../core/errors.ts';
import type { EntryStatus } from '../../pak.ts';
import { type FileRecord, fileFlag } from '../directory/directory.ts';
import {
  type EntryMethod,
  type FollowedEntry,
  followEntry,
  type PlaceFinder,
  steppedPieces,
} from '../gbx/gbx-entry.ts';
import { GbxScanner } from '../gbx/gbx-feedback.ts';
import { looksLikeGbx } from '../gbx/gbx-header.ts';
import type { NodeClasses } from '../gbx/node-classes.ts';
import { firstVersionOfEightRounds, ivSize, paddedSize } from './cipher-stream.ts';
import { Lz4Blocks } from './lz4-blocks.ts';
import { PlainRegion, type RegionPlace } from './plain-region.ts';

const pieceSize = 0x10000;

/** A pack whose files are read: its bytes, its keys and the classes of its game. */
export interface EntryContext {
  source: ByteSource;
  version: number;
  dataOffset: number;
  /** The pack key, made ready; absent when none fits. */
  key: BlowfishKey | undefined;
  dictionary: Uint8Array | undefined;
  classes: NodeClasses;
  /** Read although a checksum is wrong. */
  ignoreHashes: boolean;
  /** Keys that were tried. */
  keysTried: number;
}

/** Something mixed into the feedback at a known place: when `offset` bytes of the file have been read. */
export interface KnownMix {
  offset: number;
  bytes: Uint8Array;
}

/** The compression of a file. */
export function methodOf(file: FileRecord, version: number): EntryMethod {
  if ((file.flags & fileFlag.compressionMask) === 0n) return 'none';
  return version >= firstVersionOfEightRounds ? 'lz4' : 'zlib';
}

/** True for a file that is stored encrypted. */
export function isEncrypted({ flags }: Pick<FileRecord, 'flags'>): boolean {
  return (flags & (fileFlag.publicFile | fileFlag.forceNoCrypt)) === 0n;
}

/** Bytes of the file's content as stored, without IV and padding. */
export function contentSize(file: FileRecord, version: number): number {
  return methodOf(file, version) === 'none' ? file.size : file.compressedSize;
}

/** Bytes that the file takes in the pack: IV, content and padding. Nothing at all for an empty file. */
export function storedSize(file: FileRecord, version: number): number {
  const size = contentSize(file, version);
  if (size === 0 || !isEncrypted(file)) return size;
  return ivSize + paddedSize(size);
}

/**
 * True when the content of a file may have a part in how the rest of it is decrypted: it is a GBX (or, under a hashed
 * name, may be one), it is encrypted, and it is not marked as read without feedback.
 * @param name the file's real name, where it is known
 */
export function mayHaveFeedback(file: FileRecord, name: string | undefined): boolean {
  return mayMix(file) && (name === undefined || /\.gbx$/i.test(name));
}

/** True when reading a file may mix something into its decryption, whatever the file is. */
export function mayMix(file: FileRecord): boolean {
  return isEncrypted(file) && (file.flags & fileFlag.dontUseDummyWrite) === 0n;
}

/** The stored bytes of a file, IV and padding included. */
export function readRaw({ source, version, dataOffset }: EntryContext, file: FileRecord): AsyncIterable<Uint8Array> {
  return new PlainRegion(source, { offset: dataOffset + file.offset, size: storedSize(file, version) }).pieces();
}

/**
 * A file read without feedback, in pieces of at most 256 KiB.
 * @param isCounted whether it is in counter mode
 * @throws E_KEY_MISSING, E_FORMAT..., E_UNSUPPORTED when the LZ4 dictionary is needed
 */
export async function* readStraight(
  context: EntryContext,
  file: FileRecord,
  isCounted = false,
): AsyncGenerator<Uint8Array> {
  if (file.size === 0) return;
  const region = new PlainRegion(context.source, regionOf(context, file, isCounted));
  const method = methodOf(file, context.version);
  if (method === 'zlib') {
    yield* inflatePieces(region.pieces(), { size: file.size, maxSize: file.size, what: 'packed file' });
  } else if (method === 'lz4') {
    const blocks = new Lz4Blocks(file.size, context.dictionary);
    while (blocks.remaining > 0) yield await blocks.next((size) => region.take(size));
  } else {
    yield* region.pieces();
  }
}

/**
 * A GBX file, its feedback followed as far as it can be known; or with mixes that are known.
 * @throws E_INTEGRITY when it cannot be followed, E_KEY_MISSING, E_UNSUPPORTED
 */
export async function readFollowed(
  context: EntryContext,
  file: FileRecord,
  mixes?: readonly KnownMix[],
): Promise<{ bytes: Uint8Array; status: EntryStatus }> {
  if (file.size === 0) return { bytes: new Uint8Array(0), status: 'exact' };
  const { source, version, dictionary, classes } = context;
  const entry: FollowedEntry = {
    source,
    region: regionOf(context, file, false),
    method: methodOf(file, version),
    size: file.size,
    dictionary,
    packVersion: version,
    checksum: usedChecksum(file),
    ignoreHashes: context.ignoreHashes,
    finder: () =>
      mixes === undefined ? new GbxScanner({ classes, packVersion: version, size: file.size }) : knownPlaces(mixes),
  };
  return followEntry(entry);
}

/**
 * The start of a file in the small steps in which a GBX is read, without feedback: right up to the body of a GBX.
 * Throws as {@link readStraight}, but does not check the end.
 */
export async function* startPieces(
  context: EntryContext,
  file: FileRecord,
  isCounted = false,
): AsyncGenerator<Uint8Array> {
  if (file.size === 0) return;
  const region = new PlainRegion(context.source, regionOf(context, file, isCounted));
  const method = methodOf(file, context.version);
  yield* steppedPieces(region, { method, size: file.size, dictionary: context.dictionary });
}

/** True when a file whose content may count for its decryption is a GBX indeed. */
export async function startsAsGbx(context: EntryContext, file: FileRecord): Promise<boolean> {
  for await (const piece of startPieces(context, file)) return looksLikeGbx(piece);
  return false;
}

/** The per-file checksum of version 14 and above, where it is set. */
export function usedChecksum({ checksum }: FileRecord): Uint8Array | undefined {
  return checksum === undefined || isAllZero(checksum) ? undefined : checksum;
}

/** True for a file that may be in counter mode: the seekable ones in the game's own packs of version 18 are. */
export function mayBeCounted({ version }: EntryContext, file: FileRecord): boolean {
  return version >= firstVersionOfEightRounds && isEncrypted(file) && (file.flags & fileFlag.isSeekable) !== 0n;
}

/** The pieces of bytes that are in memory. */
export function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize);
}

function regionOf(
  { source, version, dataOffset, key, keysTried }: EntryContext,
  file: FileRecord,
  isCounted: boolean,
): RegionPlace {
  const place = { offset: dataOffset + file.offset, size: contentSize(file, version) };
  const end = place.offset + storedSize(file, version);
  if (end > source.size) {
    throw formatError('E_FORMAT_TRUNCATED', 'packed file', `it ends at ${end}, and the pack has ${source.size} bytes`);
  }
  if (!isEncrypted(file)) return place;
  if (key === undefined) {
    const tried = keysTried === 0 ? 'no key is given' : `none of the ${keysTried} keys tried fits its pack`;
    throw new PakratError('E_KEY_MISSING', `the file is encrypted, and ${tried}`, {
      hint: 'Give its key with --key: hex, base64 or @packlist.dat. `pakrat keys import packlist.dat` keeps those of the game for all commands.',
    });
  }
  return { ...place, cipher: { key, version, isCounted } };
}

function knownPlaces(mixes: readonly KnownMix[]): PlaceFinder {
  const waiting = [...mixes].sort((a, b) => a.offset - b.offset);
  return {
    next(bytes) {
      const count = waiting.findIndex(({ offset }) => offset > bytes.length);
      const due = waiting.splice(0, count < 0 ? waiting.length : count);
      return due.map(({ offset, bytes: mix }) => ({ offset, choices: [mix] }));
    },
  };
}
