import type { ByteSource } from '../../core/byte-source.ts';
import { equalBytes, isAllZero } from '../../core/bytes.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import type { Hasher } from '../../core/hash.ts';
import { md5Hasher } from '../../core/hash.ts';
import { nameDecoder } from '../names.ts';
import type { EntryStatus, Pak, PakEntry, PakOptions, PakProblem } from '../pak.ts';
import type { FileRecord } from './directory/directory.ts';
import { EntryList, type NadeoEntry } from './directory/entry-list.ts';
import { type MetadataEntry, readMetadata } from './directory/metadata.ts';
import { NameBook } from './directory/names.ts';
import { scanNames } from './directory/scan-names.ts';
import { packCipherKey } from './entries/cipher-stream.ts';
import {
  type EntryContext,
  isEncrypted,
  type KnownMix,
  mayHaveFeedback,
  mayMix,
  piecesOf,
  readFollowed,
  readRaw,
  readStraight,
  startsAsGbx,
  usedChecksum,
} from './entries/entry-reader.ts';
import { PlainRegion } from './entries/plain-region.ts';
import { sha256Hasher } from './entries/sha256.ts';
import { nodeClasses } from './gbx/node-classes.ts';
import { type ChecksumKind, checksumKind, isCounted, slotMatches } from './header/checksums.ts';
import type { PrivateHeader } from './header/header-v3.ts';
import { contentsOffset, newestVersion, type PrivateHeaderV6 } from './header/header-v6.ts';
import { closedError, type OpenedHeader, openHeader } from './header/open-header.ts';
import { choosePackKey } from './keys/choose-key.ts';
import { type KeyCandidate, keyCandidates, type NamedKey } from './keys/keys.ts';
import { packFacts } from './pack-facts.ts';

/** What a NadeoPak may be told beside what every PAK is. */
export interface NadeoOptions extends PakOptions {
  /**
   * Base keys with the names of their packs, from packlist.dat or a key file: those for this pack are tried first,
   * then all.
   */
  namedKeys?: readonly NamedKey[];
  /** Name of the pack in such lists; the file's name by default. */
  packName?: string;
  /** The LZ4 dictionary of the game, for version 18. */
  lz4Dictionary?: Uint8Array;
  /** Real names of hashed files: paths, from any folder on. */
  hashedNames?: Iterable<string>;
}

/** An open NadeoPak. Where `locked` is set, everything that needs the directory throws it, `entries` too. */
export interface NadeoPak extends Pak {
  readonly entries: readonly NadeoEntry[];
  /** Set when the directory is encrypted and no key opens it; `facts` are there nevertheless. */
  readonly locked: PakratError | undefined;
  readonly header: OpenedHeader;
  find(name: string): NadeoEntry | undefined;
  /** IV, content and padding. */
  readRaw(entry: PakEntry): AsyncIterable<Uint8Array>;
  /** A file whose mixes into the feedback are known from elsewhere. */
  readWithMixes(entry: PakEntry, mixes: readonly KnownMix[]): AsyncIterable<Uint8Array>;
  status(entry: PakEntry): Promise<EntryStatus>;
  /** The dataless GBX headers at the end of the pack. Throws E_KEY_MISSING, E_FORMAT... */
  metadata(): Promise<MetadataEntry[]>;
  /** Looks in GBX files and scripts. */
  resolveNames(): Promise<number>;
}

/** Opens a pack whose version is known. Throws E_FORMAT..., E_USAGE for an unknown encoding. */
export async function openPack(source: ByteSource, version: number, options: NadeoOptions): Promise<NadeoPak> {
  const packName = options.packName ?? source.name;
  const candidatesFor = (contentsChecksum: Uint8Array | undefined) =>
    keyCandidates(options, packName, contentsChecksum);
  const header = await openHeader(source, {
    version,
    decodeText: nameDecoder(options.encoding),
    candidates: candidatesFor,
    ignoreHashes: options.ignoreHashes,
  });
  const candidates = candidatesFor(header.publicPart?.contentsChecksum);
  if (header.privatePart === undefined)
    return new OpenPack(source, { header, locked: closedError(source, candidates.length) });
  const bare: EntryContext = {
    source,
    version,
    dataOffset: header.privatePart.dataOffset,
    key: undefined,
    dictionary: options.lz4Dictionary,
    classes: nodeClasses(version),
    ignoreHashes: options.ignoreHashes ?? false,
  };
  const chosen = header.packKey ?? (await choosePackKey(bare, header.privatePart, candidates));
  const book = new NameBook();
  for (const name of options.hashedNames ?? []) book.add(name);
  const key = chosen === undefined ? undefined : packCipherKey(chosen.key, version);
  return new OpenPack(source, {
    header,
    opened: { ...bare, key },
    packKey: chosen,
    candidateCount: candidates.length,
    book,
  });
}

interface OpenPackParts {
  header: OpenedHeader;
  locked?: PakratError;
  opened?: EntryContext;
  packKey?: KeyCandidate | undefined;
  candidateCount?: number;
  book?: NameBook;
}

class OpenPack implements NadeoPak {
  readonly family = 'nadeo';
  readonly version: string;
  readonly notes: string[] = [];
  readonly header: OpenedHeader;
  readonly locked: PakratError | undefined;
  readonly #source: ByteSource;
  readonly #parts: OpenPackParts;
  readonly #book: NameBook;
  readonly #list: EntryList;
  #kind: Promise<ChecksumKind> | undefined;

  constructor(source: ByteSource, parts: OpenPackParts) {
    this.version = String(parts.header.version);
    this.header = parts.header;
    this.locked = parts.locked;
    this.#source = source;
    this.#parts = parts;
    this.#book = parts.book ?? new NameBook();
    this.#list = new EntryList(parts.header.privatePart, parts.header.version, this.#book);
    this.#addNotes();
  }

  get entries(): readonly NadeoEntry[] {
    if (this.locked !== undefined) throw this.locked;
    return this.#list.rows;
  }

  get facts(): Record<string, unknown> {
    return packFacts(this.header, { packKey: this.#parts.packKey, entries: this.#list.rows, locked: this.locked });
  }

  /** The directory of an open pack, and what reading takes. Throws the error of a locked one. */
  get #open(): { directory: PrivateHeader | PrivateHeaderV6; context: EntryContext } {
    if (this.locked !== undefined) throw this.locked;
    return { directory: this.header.privatePart!, context: this.#parts.opened! };
  }

  find(name: string): NadeoEntry | undefined {
    if (this.locked !== undefined) throw this.locked;
    return this.#list.find(name);
  }

  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
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

  async *readWithMixes(entry: PakEntry, mixes: readonly KnownMix[]): AsyncGenerator<Uint8Array> {
    const { context, file } = this.#file(entry);
    yield* piecesOf((await readFollowed(context, file, mixes)).bytes);
  }

  readRaw(entry: PakEntry): AsyncIterable<Uint8Array> {
    const { context, file } = this.#file(entry);
    return readRaw(context, file);
  }

  async status(entry: PakEntry): Promise<EntryStatus> {
    const { context, file } = this.#file(entry);
    if (await this.#isFollowed(file)) return (await readFollowed(context, file)).status;
    for await (const _ of this.read(entry));
    return 'exact';
  }

  async verify(entry: PakEntry): Promise<PakProblem | undefined> {
    const { context, file } = this.#file(entry);
    try {
      if (usedChecksum(file) !== undefined && (await this.#checksumKind()) === 'slot') {
        if (!(await slotMatches(context, file))) {
          return { code: 'E_INTEGRITY', message: 'the checksum of the stored bytes does not match' };
        }
        if (context.key === undefined && isEncrypted(file)) return undefined;
      }
      for await (const _ of this.read(entry));
      return undefined;
    } catch (error) {
      if (!isPakratError(error)) throw error;
      return { code: error.code, message: error.message };
    }
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    const { publicPart, isMd5Right } = this.header;
    if (publicPart !== undefined) {
      if (!(await this.#digestFrom(contentsOffset, sha256Hasher(), publicPart.contentsChecksum))) {
        return { code: 'E_INTEGRITY', message: 'the SHA-256 of the contents does not match' };
      }
    }
    const { directory, context } = this.#open;
    if (!isMd5Right) return { code: 'E_INTEGRITY', message: 'the MD5 of the header does not match' };
    const metadataMd5 = (directory as Partial<PrivateHeaderV6>).metadataMd5;
    if (this.header.version >= newestVersion && metadataMd5 !== undefined && !isAllZero(metadataMd5)) {
      if (!(await this.#digestFrom(directory.metadataOffset, md5Hasher(), metadataMd5))) {
        return { code: 'E_INTEGRITY', message: 'the MD5 of the metadata does not match' };
      }
    }
    if (directory.metadataStoredSize === 0 || context.key === undefined) return undefined;
    try {
      await this.metadata();
      return undefined;
    } catch (error) {
      if (!isPakratError(error)) throw error;
      return { code: error.code, message: `metadata: ${error.message}` };
    }
  }

  metadata(): Promise<MetadataEntry[]> {
    const { directory, context } = this.#open;
    return readMetadata(context, directory, this.header.headerKey);
  }

  async resolveNames(): Promise<number> {
    const { directory, context } = this.#open;
    if (this.#list.rows.every(({ isHashed }) => !isHashed)) return 0;
    const files = directory.files.map((file) => ({ file, path: () => this.#list.realPath(file) }));
    await scanNames(context, files, this.#book);
    return this.#list.refresh();
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  #file(entry: PakEntry): { context: EntryContext; file: FileRecord } {
    const { directory, context } = this.#open;
    const file = directory.files[entry.index];
    if (file === undefined) throw new PakratError('E_NOT_FOUND', `${this.#source.name} has no file ${entry.index}`);
    return { context, file };
  }

  async #isFollowed(file: FileRecord): Promise<boolean> {
    const { context } = this.#open;
    if (file.size === 0 || !mayHaveFeedback(file, this.#list.knownName(file)) || (await isCounted(context, file)))
      return false;
    return startsAsGbx(context, file);
  }

  /** Whether everything from an offset to the end of the pack has this hash. */
  async #digestFrom(offset: number, hasher: Hasher, expected: Uint8Array): Promise<boolean> {
    const rest = new PlainRegion(this.#source, { offset, size: Math.max(0, this.#source.size - offset) });
    for await (const piece of rest.pieces()) hasher.update(piece);
    return equalBytes(hasher.digest(), expected);
  }

  #checksumKind(): Promise<ChecksumKind> {
    const { context, directory } = this.#open;
    this.#kind ??= checksumKind(context, directory.files);
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

  #addNotes(): void {
    const { privatePart, isMd5Right } = this.header;
    if (privatePart === undefined) return;
    if (!isMd5Right) this.notes.push('the MD5 of the header does not match');
    const { packKey, candidateCount } = this.#parts;
    if (packKey === undefined && this.#list.rows.some(({ encrypted }) => encrypted)) {
      const tried = candidateCount ? `none of the ${candidateCount} keys tried fits` : 'no key is given';
      this.notes.push(`files are encrypted, and ${tried}`);
    }
    const duplicates = this.#list.rows.filter(({ hidden }) => hidden !== undefined).length;
    if (duplicates > 0) this.notes.push(`${duplicates} files have the path of an earlier one`);
  }
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
    const isDamage = isPakratError(error) && error.code.startsWith('E_FORMAT');
    if (!isDamage || !mayMix(file)) throw error;
    throw new PakratError(
      'E_INTEGRITY',
      `${name}: the file is damaged, or something is mixed into its encryption that only the game knows`,
      { hint: 'Its stored bytes can be taken out raw.', cause: error },
    );
  }
}
