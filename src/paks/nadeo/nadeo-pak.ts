import type { ByteSource } from '../../core/byte-source.ts';
import { equalBytes, isAllZero } from '../../core/bytes.ts';
import { isDamage, isPakratError, PakratError } from '../../core/errors.ts';
import { type Hasher, md5Hasher, sha256Hasher } from '../../core/hash.ts';
import type { PackResult, PackSink, RewriteOptions, RewriteRow } from '../packing.ts';
import {
  type EntryStatus,
  getRow,
  type Pak,
  type PakEntry,
  type PakProblem,
  problemOf,
  type VerifyWork,
} from '../pak.ts';
import type { FileRecord } from './directory/directory.ts';
import { EntryList, type NadeoEntry } from './directory/entry-list.ts';
import { type MetadataEntry, readMetadata } from './directory/metadata.ts';
import type { NameBook } from './directory/names.ts';
import { scanNames } from './directory/scan-names.ts';
import {
  type EntryContext,
  isEncrypted,
  type KnownMix,
  mayBeCounted,
  mayHaveFeedback,
  mayMix,
  methodOf,
  piecesOf,
  readFollowed,
  readRaw,
  readStraight,
  startsAsGbx,
  usedChecksum,
} from './entries/entry-reader.ts';
import { PlainRegion } from './entries/plain-region.ts';
import { type ChecksumKind, checksumKind, isCounted, slotMatches } from './header/checksums.ts';
import type { OpenedHeader } from './header/open-header.ts';
import { contentsOffset, newestVersion } from './header/public-header.ts';
import type { OpenedDirectory } from './opened-directory.ts';
import { packFacts } from './pack-facts.ts';

/** An open NadeoPak. With a locked directory everything that needs it throws `locked`, `entries` too. */
export class NadeoPak implements Pak {
  readonly family = 'nadeo';
  readonly version: string;
  readonly notes: readonly string[];
  readonly header: OpenedHeader;
  readonly #source: ByteSource;
  readonly #directory: OpenedDirectory | PakratError;
  readonly #book: NameBook;
  readonly #list: EntryList;
  #kind: Promise<ChecksumKind> | undefined;
  #isContentsRight: Promise<boolean> | undefined;

  /** Throws E_FORMAT… for folders that contain themselves. */
  constructor(
    source: ByteSource,
    { header, directory, book }: { header: OpenedHeader; directory: OpenedDirectory | PakratError; book: NameBook },
  ) {
    this.version = String(header.version);
    this.header = header;
    this.#source = source;
    this.#directory = directory;
    this.#book = book;
    const isKeyProven = isPakratError(directory) || directory.isKeyProven;
    this.#list = new EntryList(header.privatePart, { version: header.version, book, isKeyProven });
    this.notes = isPakratError(directory) ? [] : packNotes(header, directory, this.#list.rows);
  }

  /** Set when the directory is encrypted and no key opens it; `facts` are there nevertheless. */
  get locked(): PakratError | undefined {
    return isPakratError(this.#directory) ? this.#directory : undefined;
  }

  get entries(): readonly NadeoEntry[] {
    if (this.locked !== undefined) throw this.locked;
    return this.#list.rows;
  }

  get facts(): Record<string, unknown> {
    const packKey = isPakratError(this.#directory) ? undefined : this.#directory.packKey;
    return packFacts(this.header, {
      packKey,
      entries: this.#list.rows,
      locked: this.locked,
      fileSize: this.#source.size,
    });
  }

  get #open(): OpenedDirectory {
    if (isPakratError(this.#directory)) throw this.#directory;
    return this.#directory;
  }

  find(name: string): NadeoEntry | undefined {
    if (this.locked !== undefined) throw this.locked;
    return this.#list.find(name);
  }

  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
    if (!this.#open.context.ignoreHashes) await this.#checkStored(entry);
    yield* this.#content(entry);
  }

  async *#content(entry: PakEntry): AsyncGenerator<Uint8Array> {
    const { context, file } = this.#file(entry);
    const hasher = md5Hasher();
    const isFollowed = await this.#isFollowed(file);
    const pieces = isFollowed
      ? piecesOf((await readFollowed(context, file)).bytes)
      : unfollowed(entry.name, file, readStraight(context, file, await isCounted(context, file)));
    for await (const piece of pieces) {
      hasher.update(piece);
      yield piece;
    }
    await this.#checkContent(entry.name, file, hasher);
  }

  /** A file whose mixes into the feedback are known from elsewhere. */
  async *readWithMixes(entry: PakEntry, mixes: readonly KnownMix[]): AsyncGenerator<Uint8Array> {
    const { context, file } = this.#file(entry);
    yield* piecesOf((await readFollowed(context, file, mixes)).bytes);
  }

  /** IV, content and padding. */
  readRaw(entry: PakEntry): AsyncIterable<Uint8Array> {
    const { context, file } = this.#file(entry);
    return readRaw(context, file);
  }

  async status(entry: PakEntry): Promise<EntryStatus> {
    const { context, file } = this.#file(entry);
    if (await this.#isFollowed(file)) return (await readFollowed(context, file)).status;
    for await (const _ of this.read(entry));
    if (this.#open.isKeyProven || !isEncrypted(file) || methodOf(file, context.version) !== 'none') return 'exact';
    return usedChecksum(file) !== undefined && (await this.#checksumKind()) === 'content' ? 'exact' : 'key unverified';
  }

  async verify(entry: PakEntry, { decode = false }: VerifyWork = {}): Promise<PakProblem | undefined> {
    const { context, file } = this.#file(entry);
    try {
      if (await this.#hasSlotChecksum(file)) {
        await this.#checkSlot(entry);
        if (!decode && context.key === undefined && isEncrypted(file)) return undefined;
      }
      // Damage that only the hash of the whole shows is that of the directory.
      for await (const _ of this.#content(entry));
      return undefined;
    } catch (error) {
      return problemOf(error);
    }
  }

  async hasProof(entry: PakEntry): Promise<boolean> {
    const { context, file } = this.#file(entry);
    if (this.#contentsHash !== undefined) return true;
    if (!this.header.isMd5Right) return false;
    if (file.size === 0 || methodOf(file, context.version) !== 'none') return true;
    return this.#hasOwnChecksum(file);
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    const { publicPart, isMd5Right } = this.header;
    if (publicPart !== undefined && !(await this.#contentsMatch())) {
      return { code: 'E_INTEGRITY', message: 'the SHA-256 of the contents does not match' };
    }
    const { records, context } = this.#open;
    if (!isMd5Right) return { code: 'E_INTEGRITY', message: 'the MD5 of the header does not match' };
    const { metadataMd5 } = records;
    if (this.header.version >= newestVersion && metadataMd5 !== undefined && !isAllZero(metadataMd5)) {
      if (!(await this.#digestFrom(records.metadataOffset, md5Hasher(), metadataMd5))) {
        return { code: 'E_INTEGRITY', message: 'the MD5 of the metadata does not match' };
      }
    }
    if (records.metadataStoredSize === 0 || context.key === undefined) return undefined;
    try {
      await this.metadata();
      return undefined;
    } catch (error) {
      const { code, message } = problemOf(error);
      return { code, message: `metadata: ${message}` };
    }
  }

  /** The dataless GBX headers at the end of the pack. Throws E_KEY_MISSING, E_FORMAT…. */
  metadata(): Promise<MetadataEntry[]> {
    const { records, context } = this.#open;
    return readMetadata(context, records, this.header.headerKey);
  }

  /** Looks in GBX files and scripts. */
  async resolveNames(): Promise<number> {
    const { records, context } = this.#open;
    if (this.#list.rows.every(({ isHashed }) => !isHashed)) return 0;
    const files = records.files.map((file) => ({ file, path: () => this.#list.realPath(file) }));
    await scanNames(context, files, this.#book);
    return this.#list.refresh();
  }

  async rewrite(rows: readonly RewriteRow[], sink: PackSink, options?: RewriteOptions): Promise<PackResult> {
    const { rewriteNadeoPak } = await import('./write/rewrite.ts');
    const likeOf = async (file: FileRecord) => ({
      flags: file.flags,
      isCounted: mayBeCounted(this.#open.context, file) && (await isCounted(this.#open.context, file)),
      mayBeGbx: mayHaveFeedback(file, this.#list.knownName(file)),
    });
    const checksumKind = (): Promise<ChecksumKind> => this.#checksumKind();
    const metadata = (): Promise<MetadataEntry[]> => this.metadata();
    const old = { header: this.header, directory: this.#open, likeOf, checksumKind, metadata };
    return rewriteNadeoPak(old, rows, sink, options);
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  #file(entry: PakEntry): { context: EntryContext; file: FileRecord } {
    const { records, context } = this.#open;
    return { context, file: getRow(records.files, entry) };
  }

  async #isFollowed(file: FileRecord): Promise<boolean> {
    const { context } = this.#open;
    if (file.size === 0 || !mayHaveFeedback(file, this.#list.knownName(file)) || (await isCounted(context, file)))
      return false;
    return startsAsGbx(context, file);
  }

  /** True when everything from an offset to the end of the pack has this hash. */
  async #digestFrom(offset: number, hasher: Hasher, expected: Uint8Array): Promise<boolean> {
    const rest = new PlainRegion(this.#source, { offset, size: Math.max(0, this.#source.size - offset) });
    for await (const piece of rest.pieces()) hasher.update(piece);
    return equalBytes(hasher.digest(), expected);
  }

  /** The SHA-256 of everything behind the header, where the pack has it. */
  get #contentsHash(): Uint8Array | undefined {
    const hash = this.header.publicPart?.contentsChecksum;
    return hash === undefined || isAllZero(hash) ? undefined : hash;
  }

  #contentsMatch(): Promise<boolean> {
    const hash = this.header.publicPart?.contentsChecksum ?? new Uint8Array(0);
    this.#isContentsRight ??= this.#digestFrom(contentsOffset, sha256Hasher(), hash);
    return this.#isContentsRight;
  }

  async #hasSlotChecksum(file: FileRecord): Promise<boolean> {
    return usedChecksum(file) !== undefined && (await this.#checksumKind()) === 'slot';
  }

  async #hasOwnChecksum(file: FileRecord): Promise<boolean> {
    return usedChecksum(file) !== undefined && (await this.#checksumKind()) !== 'unknown';
  }

  /** Throws E_INTEGRITY when the stored bytes of a file are not those of its checksum. */
  async #checkSlot(entry: PakEntry): Promise<void> {
    const { context, file } = this.#file(entry);
    if (await slotMatches(context, file)) return;
    throw new PakratError('E_INTEGRITY', `${entry.name}: the checksum of the stored bytes does not match`, {
      hint: 'Its stored bytes can be taken out raw.',
    });
  }

  /**
   * Checks what can be checked before a file is decoded: its stored bytes, or the whole pack where nothing in the file itself
   * would show damage, and where the directory may be damaged, which says what the file is. Throws E_INTEGRITY.
   */
  async #checkStored(entry: PakEntry): Promise<void> {
    const { context, file } = this.#file(entry);
    const isWhole = async (): Promise<boolean> => this.#contentsHash === undefined || (await this.#contentsMatch());
    if (this.header.isMd5Right || (await isWhole())) {
      if (file.size === 0) return;
      if (await this.#hasSlotChecksum(file)) return this.#checkSlot(entry);
      if (methodOf(file, context.version) === 'zlib' || (await this.#hasOwnChecksum(file))) return;
      if (await isWhole()) return;
    }
    throw new PakratError('E_INTEGRITY', `${entry.name}: the pack is damaged, and no hash tells whether this file is`, {
      hint: 'It can be read all the same when hashes are ignored, and its stored bytes can be taken out raw.',
    });
  }

  #checksumKind(): Promise<ChecksumKind> {
    const { context, records } = this.#open;
    this.#kind ??= checksumKind(context, records.files);
    return this.#kind;
  }

  /** Throws E_INTEGRITY when the pack has hashes of contents and this file's is another. */
  async #checkContent(name: string, file: FileRecord, content: Hasher): Promise<void> {
    const checksum = usedChecksum(file);
    if (checksum === undefined || this.#open.context.ignoreHashes || (await this.#checksumKind()) !== 'content') return;
    if (!equalBytes(content.digest(), checksum)) {
      throw new PakratError('E_INTEGRITY', `${name}: the MD5 of the content does not match`, {
        hint: 'Its stored bytes can be taken out raw.',
      });
    }
  }
}

function packNotes(
  { isMd5Right }: OpenedHeader,
  { packKey, context: { keysTried } }: OpenedDirectory,
  rows: readonly NadeoEntry[],
): string[] {
  const notes: string[] = [];
  if (!isMd5Right) notes.push('the MD5 of the header does not match');
  if (packKey === undefined && rows.some(({ encrypted }) => encrypted)) {
    const tried = keysTried > 0 ? `none of the ${keysTried} keys tried fits` : 'no key is given';
    notes.push(`files are encrypted, and ${tried}`);
  }
  const duplicates = rows.filter(({ hidden }) => hidden !== undefined).length;
  if (duplicates > 0) notes.push(`${duplicates} files have the path of an earlier one`);
  return notes;
}

/** Only of GBX files is it known what they mix: in another one a mix looks like damage, and none can be told from the other. */
async function* unfollowed(
  name: string,
  file: FileRecord,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    if (!isDamage(error) || !mayMix(file)) throw error;
    const problem = `${name}: the file is damaged, or something is mixed into its encryption that only the game knows`;
    throw new PakratError('E_INTEGRITY', problem, { hint: 'Its stored bytes can be taken out raw.', cause: error });
  }
}
