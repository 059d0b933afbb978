import { equalBytes, isAllZero, toHex } from '../../core/bytes.ts';
import type { ByteSource } from '../../core/byte-source.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import type { Hasher } from '../../core/hash.ts';
import { md5Hasher } from '../../core/hash.ts';
import type { Pak, PakEntry, PakOptions, PakProblem } from '../pak.ts';
import { choosePackKey } from './choose-key.ts';
import { packCipherKey } from './cipher-stream.ts';
import { type FileRecord, fileFlag, folderPaths } from './directory.ts';
import {
  contentHashIs,
  type EntryContext,
  isCountedFile,
  isEncrypted,
  type KnownMix,
  mayHaveFeedback,
  methodOf,
  piecesOf,
  readFollowed,
  readRaw,
  readStraight,
  startsAsGbx,
  storedSize,
  usedChecksum,
} from './entry-reader.ts';
import type { EntryStatus } from './gbx-entry.ts';
import type { PrivateHeader } from './header-v3.ts';
import { contentsOffset, type PrivateHeaderV6 } from './header-v6.ts';
import { type KeyCandidate, keyCandidates, type NamedKey } from './keys.ts';
import { type MetadataEntry, readMetadata } from './metadata.ts';
import { hashedName, isHashedName, NameBook, storedPath } from './names.ts';
import { nodeClasses } from './node-classes.ts';
import { closedError, openHeader, type OpenedHeader } from './open-header.ts';
import { packFacts } from './pack-facts.ts';
import { PlainRegion } from './plain-region.ts';
import { sha256Hasher } from './sha256.ts';
import { textDecoder } from './strings.ts';

/** What a NadeoPak may be told beside what every PAK is. */
export interface NadeoOptions extends PakOptions {
  /** Base keys with the names of their packs, from packlist.dat or a key file: those for this pack are tried first, then all. */
  namedKeys?: readonly NamedKey[];
  /** Name of the pack in such lists; the file's name by default. */
  packName?: string;
  /** The LZ4 dictionary of the game, for version 18. */
  lz4Dictionary?: Uint8Array;
  /** Real names of hashed files: paths, from any folder on. */
  hashedNames?: Iterable<string>;
}

/** A row of a NadeoPak. */
export interface NadeoEntry extends PakEntry {
  /** Folder and name as stored, with backslashes; the name may be a hash. */
  readonly storedPath: string;
  /** Whether the stored name is a hash of the real one. */
  readonly isHashed: boolean;
  /** Class of the file in the game's engine: 0x09041000 is text. */
  readonly classId: number;
  /** The flags as stored, in hex. */
  readonly flags: string;
  /** Whether the content may count for the decryption of what follows; then only reading tells its status. */
  readonly mayHaveFeedback: boolean;
}

/** An open NadeoPak. Where `locked` is set, everything that needs the directory throws it, `entries` too. */
export interface NadeoPak extends Pak {
  readonly entries: readonly NadeoEntry[];
  /** Set when the directory is encrypted and no key opens it; `facts` are there nevertheless. */
  readonly locked: PakratError | undefined;
  readonly header: OpenedHeader;
  find(name: string): NadeoEntry | undefined;
  /** The bytes as stored: IV, content, padding. Needs no key. */
  readRaw(entry: PakEntry): AsyncIterable<Uint8Array>;
  /** A file whose mixes into the feedback are known from elsewhere. */
  readWithMixes(entry: PakEntry, mixes: readonly KnownMix[]): AsyncIterable<Uint8Array>;
  /** How sure the bytes of a file are; reads it. Throws as `read`. */
  status(entry: PakEntry): Promise<EntryStatus>;
  /** The dataless GBX headers at the end of the pack. Throws E_KEY_MISSING, E_FORMAT... */
  metadata(): Promise<MetadataEntry[]>;
  /** Looks for real names of hashed files in the pack's own GBX files and scripts; `entries` have them afterwards. @returns how many are new */
  resolveNames(): Promise<number>;
}

/** Opens a pack whose version is known. Throws E_FORMAT..., E_USAGE for an unknown encoding. */
export async function openPack(source: ByteSource, version: number, options: NadeoOptions): Promise<NadeoPak> {
  const packName = options.packName ?? source.name;
  const candidatesFor = (contentsChecksum: Uint8Array | undefined) => keyCandidates(options, packName, contentsChecksum);
  const header = await openHeader(source, {
    version,
    decodeText: textDecoder(options.encoding),
    candidates: candidatesFor,
  });
  const candidates = candidatesFor(header.publicPart?.contentsChecksum);
  if (header.privatePart === undefined) return new OpenPack(source, { header, locked: closedError(source, candidates.length) });
  const bare: EntryContext = {
    source,
    version,
    dataOffset: header.privatePart.dataOffset,
    key: undefined,
    dictionary: options.lz4Dictionary,
    classes: nodeClasses(version),
  };
  const chosen = header.packKey ?? (await choosePackKey(bare, header.privatePart, candidates));
  const book = new NameBook();
  for (const name of options.hashedNames ?? []) book.add(name);
  const key = chosen === undefined ? undefined : packCipherKey(chosen.key, version);
  return new OpenPack(source, { header, opened: { ...bare, key }, packKey: chosen, candidateCount: candidates.length, book });
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
  readonly #folders: readonly string[];
  #entries: readonly NadeoEntry[];
  #byPath: Map<string, NadeoEntry> | undefined;

  constructor(source: ByteSource, parts: OpenPackParts) {
    this.version = String(parts.header.version);
    this.header = parts.header;
    this.locked = parts.locked;
    this.#source = source;
    this.#parts = parts;
    this.#book = parts.book ?? new NameBook();
    this.#folders = folderPaths(parts.header.privatePart?.folders ?? []);
    this.#entries = this.#list();
    this.#addNotes();
  }

  get entries(): readonly NadeoEntry[] {
    if (this.locked !== undefined) throw this.locked;
    return this.#entries;
  }

  get facts(): Record<string, unknown> {
    return packFacts(this.header, { packKey: this.#parts.packKey, entries: this.#entries, locked: this.locked });
  }

  /** The directory of an open pack, and what reading takes. Throws the error of a locked one. */
  get #open(): { directory: PrivateHeader | PrivateHeaderV6; context: EntryContext } {
    if (this.locked !== undefined) throw this.locked;
    return { directory: this.header.privatePart!, context: this.#parts.opened! };
  }

  find(name: string): NadeoEntry | undefined {
    this.#byPath ??= pathMap(this.entries);
    const path = storedPath(name);
    return this.#byPath.get(path) ?? this.#byPath.get(path.toLowerCase()) ?? this.#findHashed(path);
  }

  /** A file stored under the hash of what `path` says below one of its folders. */
  #findHashed(path: string): NadeoEntry | undefined {
    for (let at = 0; ; ) {
      const stored = path.slice(0, at) + hashedName(path.slice(at));
      const found = this.#byPath!.get(stored.toLowerCase());
      if (found !== undefined) return found;
      const next = path.indexOf('\\', at);
      if (next < 0) return undefined;
      at = next + 1;
    }
  }

  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
    const { context, file } = this.#file(entry);
    if (await this.#isFollowed(entry)) yield* piecesOf((await readFollowed(context, file)).bytes);
    else yield* readStraight(context, file, await isCountedFile(context, file));
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
    if (await this.#isFollowed(entry)) return (await readFollowed(context, file)).status;
    const hasher = md5Hasher();
    for await (const piece of this.read(entry)) hasher.update(piece);
    const isSure = !isEncrypted(file) || methodOf(file, context.version) === 'zlib';
    const isWrong = async () => (await this.#checksumProblem(file, hasher)) !== undefined;
    return !isSure && (await isWrong()) ? 'feedback unverified' : 'exact';
  }

  async verify(entry: PakEntry): Promise<PakProblem | undefined> {
    const { context, file } = this.#file(entry);
    try {
      const hasher = md5Hasher();
      for await (const piece of this.read(entry)) hasher.update(piece);
      return await this.#checksumProblem(file, hasher);
    } catch (error) {
      if (!isPakratError(error)) throw error;
      // Without a key the stored bytes can still be checked, where the pack has their hash.
      if (error.code === 'E_KEY_MISSING' && (await this.#slotIsRight(context, file))) return undefined;
      return { code: error.code, message: error.message };
    }
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    const { publicPart, isMd5Right } = this.header;
    if (publicPart !== undefined) {
      const rest = { offset: contentsOffset, size: this.#source.size - contentsOffset };
      if (!(await digestIs(sha256Hasher(), new PlainRegion(this.#source, rest), publicPart.contentsChecksum))) {
        return { code: 'E_INTEGRITY', message: 'the SHA-256 of the contents does not match' };
      }
    }
    const { directory, context } = this.#open;
    if (!isMd5Right) return { code: 'E_INTEGRITY', message: 'the MD5 of the header does not match' };
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
    const before = this.#resolvedCount();
    if (before === this.#entries.filter(({ isHashed }) => isHashed).length) return 0;
    const { scanNames } = await import('./scan-names.ts');
    const files = directory.files.map((file) => ({ file, path: () => this.#realPath(file) }));
    await scanNames(context, files, this.#book);
    this.#entries = this.#list();
    this.#byPath = undefined;
    return this.#resolvedCount() - before;
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

  async #isFollowed(entry: PakEntry): Promise<boolean> {
    const { context, file } = this.#file(entry);
    if (!this.#entries[entry.index]!.mayHaveFeedback || file.size === 0) return false;
    if (await isCountedFile(context, file)) return false;
    return startsAsGbx(context, file);
  }

  /** What is wrong by the file's own checksum, which may be over its slot or its content. */
  async #checksumProblem(file: FileRecord, content: Hasher): Promise<PakProblem | undefined> {
    const checksum = usedChecksum(file);
    if (checksum === undefined || equalBytes(content.digest(), checksum)) return undefined;
    if (await this.#slotIsRight(this.#open.context, file)) return undefined;
    return { code: 'E_INTEGRITY', message: 'the checksum matches neither the stored nor the decoded bytes' };
  }

  async #slotIsRight(context: EntryContext, file: FileRecord): Promise<boolean> {
    const checksum = usedChecksum(file);
    if (checksum === undefined) return false;
    const offset = context.dataOffset + file.offset;
    const size = file.slotSize || storedSize(file, context.version);
    return contentHashIs(checksum, new PlainRegion(context.source, { offset, size }).pieces());
  }

  #realPath(file: FileRecord): string {
    const folder = file.folder < 0 ? '' : this.#folders[file.folder]!;
    const isHashed = (file.flags & fileFlag.isHashed) !== 0n || isHashedName(file.name);
    return folder + ((isHashed ? this.#book.find(file.name) : undefined) ?? file.name);
  }

  #resolvedCount(): number {
    return this.#entries.filter(({ isHashed, storedPath, name }) => isHashed && name !== slashed(storedPath)).length;
  }

  #list(): NadeoEntry[] {
    const { version, privatePart } = this.header;
    const firsts = new Map<string, number>();
    return (privatePart?.files ?? []).map((file, index) => {
      const path = (file.folder < 0 ? '' : this.#folders[file.folder]!) + file.name;
      const real = this.#realPath(file);
      const isHashed = (file.flags & fileFlag.isHashed) !== 0n || isHashedName(file.name);
      const first = firsts.get(path);
      if (first === undefined) firsts.set(path, index);
      const note = noteOf({ first, isHashed, isResolved: real !== path });
      return {
        index,
        name: slashed(real),
        size: file.size,
        storedSize: storedSize(file, version),
        method: methodOf(file, version),
        encrypted: isEncrypted(file),
        ...(note === undefined ? {} : { note }),
        storedPath: path,
        isHashed,
        classId: file.classId,
        flags: `0x${file.flags.toString(16)}`,
        mayHaveFeedback: mayHaveFeedback(file, isHashed ? undefined : file.name),
      };
    });
  }

  #addNotes(): void {
    const { privatePart, isMd5Right } = this.header;
    if (privatePart === undefined) return;
    if (!isMd5Right) this.notes.push('the MD5 of the header does not match');
    const { packKey, candidateCount } = this.#parts;
    if (packKey === undefined && this.#entries.some(({ encrypted }) => encrypted)) {
      const tried = candidateCount ? `none of the ${candidateCount} keys tried fits` : 'no key is given';
      this.notes.push(`files are encrypted, and ${tried}`);
    }
    const duplicates = this.#entries.filter(({ note }) => note?.startsWith('same path')).length;
    if (duplicates > 0) this.notes.push(`${duplicates} files have the path of an earlier one`);
    const metadataMd5 = (privatePart as Partial<PrivateHeaderV6>).metadataMd5;
    if (metadataMd5 !== undefined && !isAllZero(metadataMd5)) this.notes.push(`metadata MD5 ${toHex(metadataMd5)}`);
  }
}

function noteOf(facts: { first: number | undefined; isHashed: boolean; isResolved: boolean }): string | undefined {
  if (facts.first !== undefined) return `same path as file ${facts.first}, which is found by name`;
  if (!facts.isHashed) return undefined;
  return facts.isResolved ? 'stored under a hash' : 'name is a hash';
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/');
}

/** Entries by stored and real path, as they are and in lower case; the first one with a path has it. */
function pathMap(entries: readonly NadeoEntry[]): Map<string, NadeoEntry> {
  const map = new Map<string, NadeoEntry>();
  const add = (path: string, entry: NadeoEntry) => {
    if (!map.has(path)) map.set(path, entry);
  };
  for (const entry of entries) for (const path of [entry.storedPath, storedPath(entry.name)]) add(path, entry);
  for (const entry of entries) {
    for (const path of [entry.storedPath, storedPath(entry.name)]) add(path.toLowerCase(), entry);
  }
  return map;
}

async function digestIs(hasher: Hasher, region: PlainRegion, expected: Uint8Array): Promise<boolean> {
  for await (const piece of region.pieces()) hasher.update(piece);
  return equalBytes(hasher.digest(), expected);
}
