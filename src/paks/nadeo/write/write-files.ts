import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { deflateExactInSteps } from '../../../codecs/compression/deflate-exact.ts';
import { breathe } from '../../../core/breathe.ts';
import { concatBytes } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';
import { contentOf, type PackFile } from '../../packing.ts';
import {
  type DirectoryRecords,
  type FileRecord,
  type FolderRecord,
  fileFlag,
  folderPaths,
} from '../directory/directory.ts';
import { hashedName, storedPath } from '../directory/names.ts';
import { decryptCounted, firstVersionOfEightRounds, ivSize, paddedSize } from '../entries/cipher-stream.ts';
import { isEncrypted } from '../entries/entry-reader.ts';
import { SealedRegion } from '../entries/sealed-region.ts';
import { type EntryMethod, steppedPieces } from '../gbx/gbx-entry.ts';
import { GbxScanner } from '../gbx/gbx-feedback.ts';
import { looksLikeGbx } from '../gbx/gbx-header.ts';
import type { NodeClasses } from '../gbx/node-classes.ts';

const zlibLevel = 9;
/** zlib in the directory's four bits of compression. */
const zlibFlag = 4n;
const maxFileBytes = 0x7fffffff;
/** Bytes that are encrypted before the clock is looked at. */
const sealedAtOnce = 1 << 18;

/** A file for a NadeoPak. All but name and content can be left to the packer. */
export interface NadeoPackFile extends PackFile {
  /** Class in the game's engine; told by ending or GBX header when absent. */
  readonly classId?: number | undefined;
  /** Store it without encryption. */
  readonly isPublic?: boolean | undefined;
  /** Store what its name says below this folder as a hash. */
  readonly hashedBelow?: string | undefined;
  /** A dataless GBX for the metadata section; that of a GBX with user data when absent. */
  readonly metadata?: Uint8Array | undefined;
  /** The form of an entry of an older pack whose place the file takes. */
  readonly like?: StoredLike | undefined;
}

/** The form in which an entry is stored. */
export interface StoredLike {
  flags: bigint;
  /** In counter mode. */
  isCounted: boolean;
  /** False when its name says that it is no GBX. */
  mayBeGbx: boolean;
}

/** The form in which the files of a pack are stored. */
export interface FileStorage {
  version: number;
  /** Absent: nothing is encrypted. */
  key: BlowfishKey | undefined;
  compress: boolean;
  classes: NodeClasses;
  signal: AbortSignal | undefined;
}

/** A file as it goes into a pack. */
export interface StoredFile {
  /** IV, content and padding. */
  bytes: Uint8Array;
  content: Uint8Array;
  compressedSize: number;
  flags: bigint;
}

/**
 * Reads a file and makes what is stored of it: the same bytes each time.
 * @throws E_INTEGRITY when it changes meanwhile, E_UNSUPPORTED for 2 GiB and more, E_ABORTED
 */
export async function storeFile(file: NadeoPackFile, storage: FileStorage): Promise<StoredFile> {
  const { version, key, signal } = storage;
  if (file.size > maxFileBytes)
    throw new PakratError('E_UNSUPPORTED', `${file.name}: files of 2 GiB and more cannot be packed`);
  const pieces: Uint8Array[] = [];
  for await (const piece of contentOf(file)) pieces.push(piece);
  const content = concatBytes(pieces);
  const compress = file.like === undefined ? storage.compress : (file.like.flags & fileFlag.compressionMask) !== 0n;
  const deflated =
    compress && version < firstVersionOfEightRounds
      ? await deflateExactInSteps(content, { level: zlibLevel }, signal)
      : content;
  const isSmaller = deflated.length < content.length;
  const stored = isSmaller ? deflated : content;
  const plain = { content, compressedSize: stored.length };
  if (file.like !== undefined) return storeLike(file, { ...plain, bytes: stored, flags: 0n }, storage, file.like);
  const flags = isSmaller ? zlibFlag : 0n;
  if (key === undefined) return { ...plain, bytes: stored, flags: flags | fileFlag.forceNoCrypt };
  if (file.isPublic) return { ...plain, bytes: stored, flags: flags | fileFlag.publicFile };
  if (content.length === 0) return { ...plain, bytes: stored, flags };
  const bytes = await seal(file, { ...plain, bytes: stored, flags }, storage, /\.gbx$/i.test(file.name));
  return { ...plain, bytes, flags };
}

/** What is stored under the flags of an older entry. Only whether it is compressed may be another. */
async function storeLike(
  file: NadeoPackFile,
  plain: StoredFile,
  storage: FileStorage,
  { flags: old, isCounted, mayBeGbx }: StoredLike,
): Promise<StoredFile> {
  const isCompressed = plain.compressedSize < plain.content.length;
  const flags = isCompressed ? old : old & ~fileFlag.compressionMask;
  const { key } = storage;
  if (!isEncrypted({ flags }) || plain.content.length === 0) return { ...plain, flags };
  if (key === undefined) {
    throw new PakratError('E_KEY_MISSING', `${file.name} has to be encrypted, and no key of the pack is given`, {
      hint: 'Give the key of the pack with --key: hex, base64 or @packlist.dat.',
    });
  }
  if (!isCounted) return { ...plain, flags, bytes: await seal(file, { ...plain, flags }, storage, mayBeGbx) };
  const iv = ivFor(file.name, plain.content);
  const sealed = new Uint8Array(paddedSize(plain.bytes.length));
  sealed.set(plain.bytes);
  // The mode is its own opposite.
  decryptCounted(key, iv, 0, sealed);
  return { ...plain, flags, bytes: concatBytes([iv, sealed]) };
}

/** The encrypted form of stored bytes; a GBX mixes into it what the game would. */
async function seal(
  file: NadeoPackFile,
  { content, bytes, flags }: StoredFile,
  { key, version, classes, signal }: FileStorage,
  mayBeGbx: boolean,
): Promise<Uint8Array> {
  if (key === undefined) return bytes;
  const region = new SealedRegion(bytes, { key, iv: ivFor(file.name, content), version });
  if (mayBeGbx && (flags & fileFlag.dontUseDummyWrite) === 0n && looksLikeGbx(content)) {
    const method: EntryMethod = bytes.length < content.length ? 'zlib' : 'none';
    const scanner = new GbxScanner({ classes, packVersion: version, size: content.length });
    await takeAsReader(region, { method, size: content.length }, scanner);
  }
  for (; region.remaining > 0; await breathe(signal)) region.take(sealedAtOnce);
  return region.bytes();
}

/** Reads the plain bytes in the steps of the game, and mixes into what is encrypted what the game would. */
async function takeAsReader(
  region: SealedRegion,
  { method, size }: { method: EntryMethod; size: number },
  scanner: GbxScanner,
): Promise<void> {
  const output = new Uint8Array(size);
  let filled = 0;
  for await (const piece of steppedPieces(region, { method, size, dictionary: undefined })) {
    output.set(piece, filled);
    filled += piece.length;
    for (const { choices } of scanner.next(output.subarray(0, filled)))
      if (choices[0] !== undefined) region.mix(choices[0]);
  }
}

/** An IV that is the same for the same file, and another for every other. */
export function ivFor(name: string, content: Uint8Array): Uint8Array {
  return md5(concatBytes([new TextEncoder().encode(`${name}\0`), md5(content)])).slice(0, ivSize);
}

/**
 * The folders and files of a directory, in the order given; sizes, offsets and classes are still to be filled in.
 * @param known folders that are there already, and stay where they are
 * @throws E_USAGE when a file is not below the folder below which it is to be hashed
 */
export function planDirectory(files: readonly NadeoPackFile[], known: readonly FolderRecord[] = []): DirectoryRecords {
  const plan = new DirectoryPlan(known);
  return { files: files.map((file) => plan.recordOf(file)), folders: plan.folders };
}

/** The folders of a directory, which become more as files are put into them. */
export class DirectoryPlan {
  readonly folders: FolderRecord[];
  /** By the path of the folder. */
  readonly #indices: Map<string, number>;

  constructor(known: readonly FolderRecord[] = []) {
    this.folders = [...known];
    const paths = folderPaths(known).map((path, index): [string, number] => [path, index]);
    this.#indices = new Map([...paths.reverse(), ['', -1]]);
  }

  /** The record of a file, as {@link planDirectory} gives it. @throws as it does */
  recordOf(file: NadeoPackFile): FileRecord {
    const { folder, name, flags } = placeOf(file);
    return {
      folder: this.#indexOf(folder),
      name,
      unknown: 0xffffffff,
      size: file.size,
      compressedSize: 0,
      offset: 0,
      classId: file.classId ?? 0,
      flags,
    };
  }

  #indexOf(path: string): number {
    const there = this.#indices.get(path);
    if (there !== undefined) return there;
    const cut = path.lastIndexOf('\\', path.length - 2) + 1;
    const parent = this.#indexOf(path.slice(0, cut));
    this.#indices.set(path, this.folders.length);
    return this.folders.push({ parent, name: path.slice(cut) }) - 1;
  }
}

/** Folder with its trailing backslash, and the name in it. */
function placeOf({ name, hashedBelow }: NadeoPackFile): { folder: string; name: string; flags: bigint } {
  const path = storedPath(name);
  if (hashedBelow === undefined) {
    const cut = path.lastIndexOf('\\') + 1;
    return { folder: path.slice(0, cut), name: path.slice(cut), flags: 0n };
  }
  const folder = hashedBelow === '' ? '' : `${storedPath(hashedBelow).replace(/\\+$/, '')}\\`;
  if (!path.startsWith(folder)) {
    throw new PakratError('E_USAGE', `${name} is to be hashed below ${hashedBelow}, but does not stand there`);
  }
  return { folder, name: hashedName(path.slice(folder.length)), flags: fileFlag.isHashed };
}
