import type { ByteSource } from '../core/byte-source.ts';
import { isPakratError, PakratError } from '../core/errors.ts';
import type { PackFile, PackResult, PackSink, RewriteOptions, RewriteRow } from './packing.ts';

/** Options that mean the same in every family. A family takes those that its own options name. */
export interface SharedOptions {
  /** Keys the user gave (raw bytes), each tried before it is used; a family ignores what cannot be its own. */
  keys?: readonly Uint8Array[];
  /** Text encoding of names, where the format leaves it open. Default UTF-8, then Latin-1. */
  encoding?: string;
  /** Read although the magic is wrong. */
  ignoreMagic?: boolean;
  /** Read as this version, whatever the file says. */
  forceVersion?: number;
  /** Read although a hash of the directory or of an entry does not match; the mismatch becomes a note. */
  ignoreHashes?: boolean;
}

/**
 * Why a row is not what its name gives: `shadowed` by another row of the same name, `deleted` by a delete record of a
 * patch, or a `delete-record` itself.
 */
export type HiddenKind = 'shadowed' | 'deleted' | 'delete-record';

/** One row of a PAK's directory, in directory order. Duplicate names are separate rows. */
export interface PakEntry {
  /** Position in the directory, from 0: the address of the entry. */
  readonly index: number;
  /** As stored, but cleaned (names.ts): `/` between the parts, no `.`. Not safe as an output path: see files/output. */
  readonly name: string;
  /** Bytes after decoding. */
  readonly size: number;
  /** Bytes it takes in the file. */
  readonly storedSize: number;
  /** Offset of these bytes in the file; absent where there are none, and for a loose file. */
  readonly offset?: number | undefined;
  /** The method by which it is compressed: `none`, `zlib`, `zstd`, `oodle` … */
  readonly method: string;
  readonly encrypted: boolean;
  /** Time of the file, where the format has one. */
  readonly mtime?: Date | undefined;
  /** Hash over the stored bytes, hex, where the format has one. */
  readonly sha1?: string | undefined;
  /** Set when the engine would not give this row for its name; the note says more. Left out when everything is extracted. */
  readonly hidden?: HiddenKind | undefined;
  /** The PAK or folder of a search path that it comes from. */
  readonly origin?: string | undefined;
  /** True when reading it without an error may not be enough to be sure of its content: `Pak.status` tells. */
  readonly mayBeUnsure?: boolean | undefined;
  /** A remark for the reader: shadowed by an earlier duplicate, unreadable and why … */
  readonly note?: string | undefined;
}

/**
 * The certainty of an entry's bytes: `exact` when no feedback has a part in them (or none that was missed could),
 * `exact by checksum` when it has and a checksum in the PAK says that it was followed right, `feedback unverified`
 * when nothing says so; `key unverified` when nothing in the PAK says that the key is its own.
 */
export type EntryStatus = 'exact' | 'exact by checksum' | 'feedback unverified' | 'key unverified';

/** The depth of a check. */
export interface VerifyWork {
  /** Decode what is compressed, too. Needs its key. */
  decode?: boolean | undefined;
}

/** A fault of an entry or of a directory. */
export type PakProblem = { code: string; message: string; hint?: string | undefined };

/** Part of the decoded bytes of an entry. */
export interface EntryPart {
  offset: number;
  size: number;
}

/**
 * Reads an entry, or part of it, without waiting, in pieces that are good until the next is asked for. It ends with true when all of it came and is right. It is
 * for entries that are as most are: of any other, or where something is wrong, it ends with false. What it gave is nothing then, and `Pak.read` tells why.
 */
export type ReadAtOnce = (entry: PakEntry, part?: EntryPart) => Generator<Uint8Array, boolean>;

/** Entries and parts of entries up to this size are read in a moment: no signal is heard meanwhile. */
export const momentBytes = 8 << 20;

/** A PAK of a folder whose directory no key opens. */
export interface LockedPart {
  origin: string;
  error: PakratError;
}

/**
 * An open PAK. Every read is a range read; opening reads the directory only.
 * Not every family can do everything: a method that may be absent is asked for with `pak.readRaw !== undefined`.
 */
export interface Pak {
  readonly family: string;
  readonly version: string;
  /** Set when the directory is encrypted and no key opens it: what needs the directory throws it, the rest can still be asked. */
  readonly locked?: PakratError | undefined;
  /** Of a folder: the PAKs that no key opens. They are left out, but for a note. */
  readonly lockedParts?: readonly LockedPart[] | undefined;
  /** Throws `locked` when that is set. */
  readonly entries: readonly PakEntry[];
  /** Oddities of the file that are no errors. */
  readonly notes: readonly string[];
  /** Facts that `info` shows beside counts: mount point, key kinds, compression methods, author … Plain JSON. */
  readonly facts: Record<string, unknown>;
  /** The entry the engine would take for this name (case rules of the engine), or undefined. Throws as `entries`. */
  find(name: string): PakEntry | undefined;
  /**
   * The entries whose names are this one when case is ignored, in the order of `entries`, found without listing all of them. Undefined
   * where only all entries tell; absent where these are at hand anyway. Throws as `entries`.
   */
  namesakes?(name: string): readonly PakEntry[] | undefined;
  /** The decoded bytes of an entry, in pieces of bounded size. Throws E_UNSUPPORTED, E_KEY_MISSING, E_INTEGRITY, E_FORMAT…. */
  read(entry: PakEntry): AsyncIterable<Uint8Array>;
  /**
   * Part of the decoded bytes, reading little more than what holds it. Where it is absent an entry can only be read
   * from its start. Throws as `read`, and E_FORMAT_RANGE when the entry does not have that part.
   */
  readRange?(entry: PakEntry, offset: number, size: number): AsyncIterable<Uint8Array>;
  /** The way to read thousands of small entries, and parts of large ones, one after the other. Absent where each read waits. */
  readerAtOnce?(): Promise<ReadAtOnce>;
  /** The bytes of an entry as they are stored, encrypted and compressed; needs no key. Absent where they cannot be had. */
  readRaw?(entry: PakEntry): AsyncIterable<Uint8Array>;
  /**
   * Size of the parts in which an entry can be read side by side, each part carrying a proof of its own that it is right.
   * Undefined (or absent) where only the whole proves itself.
   */
  partSize?(entry: PakEntry): number | undefined;
  /** The certainty of an entry's content; may read all of it. Absent where reading itself tells. Throws as `read`. */
  status?(entry: PakEntry): Promise<EntryStatus>;
  /**
   * Looks in the PAK itself for the real names of entries that are stored under a hash; `entries` have them afterwards.
   * Absent where no name is stored so. Throws as `entries`.
   * @returns how many are new
   */
  resolveNames?(): Promise<number>;
  /** Checks one entry as far as the format allows, without keys where hashes are over stored bytes. Undefined when it is right. */
  verify(entry: PakEntry, work?: VerifyWork): Promise<PakProblem | undefined>;
  /** The way to check thousands of small entries: true for one that is right and has proof, false for one of which that is not known before `verify` looks. */
  checkerAtOnce?(): Promise<(entry: PakEntry) => boolean>;
  /** False when `verify` finds the entry right by its bounds alone, for there is no hash of it and nothing to decode. Throws as `read`. */
  hasProof(entry: PakEntry, work?: VerifyWork): Promise<boolean>;
  /** Checks what belongs to no entry (index hash, header hash). Undefined when it is right. */
  verifyDirectory(): Promise<PakProblem | undefined>;
  /**
   * Makes a new PAK out of this one, without decoding what is taken over: content, order, flags, ids and names stay what they are.
   * Absent for folders.
   * @param rows in the order in which the directory is to have them
   * @throws E_UNSUPPORTED for a form that is only read, E_KEY_MISSING for new content that has to be encrypted, and as packing does
   */
  rewrite?(rows: readonly RewriteRow[], sink: PackSink, options?: RewriteOptions): Promise<PackResult>;
  close(): Promise<void>;
}

/**
 * One family of PAK files: a folder beside this, and a line in index.ts.
 * @template Options what opening takes: plain data, for it travels to threads
 * @template PackOptions what packing takes
 */
export interface PakFamily<Options = SharedOptions, PackOptions = object> {
  readonly name: string;
  /** Endings that names of its files mostly have: lower case, with the dot. For paths that are not there; bytes decide. */
  readonly extensions: readonly string[];
  /**
   * True for a file of this family, by its bytes alone. Cheap: every family is asked about every file.
   * @param head up to 4 KiB from its start, @param tail up to 4 KiB from its end
   */
  matches(head: Uint8Array, tail: Uint8Array): boolean;
  /**
   * Opens a PAK: reads the directory, and nothing else. The source belongs to the PAK then; after an error it is the caller's.
   * @param shared what `shareDirectory` (many-entries.ts) of the same PAK gave, opened with the same options: then the directory need not be read
   */
  open(source: ByteSource, options?: Options, shared?: unknown): Promise<Pak>;
  /** Folders that its engines read as one whole. Absent where there is no such thing. */
  readonly folders?: PakFolders<Options>;
  /** Writes a PAK. Without options it is what needs none. Absent where the family is only read. */
  pack?(files: Iterable<PackFile>, sink: PackSink, options?: PackOptions): Promise<PackResult>;
}

/** Folders of PAKs that the engines of a family read as one whole. */
export interface PakFolders<Options = SharedOptions> {
  /** `family` of what opening gives. */
  readonly name: string;
  /** Such a folder in words, for the sentence "Name …". */
  readonly what: string;
  /** True for such a folder, or when the options ask for it. Throws E_NOT_FOUND, E_STORE. */
  matches(path: string, options: Options): Promise<boolean>;
  /** Opens all of it as one PAK. Throws as the PAKs in it do. @param shared as for {@link PakFamily.open} */
  open(path: string, options?: Options, shared?: unknown): Promise<Pak>;
}

/** An error of ours as the fault of what was checked. Throws any other: that is a bug. */
export function problemOf(error: unknown): PakProblem {
  if (!isPakratError(error)) throw error;
  return { code: error.code, message: error.message };
}

/** True for content that may be wrong: only some files prove that they were decrypted right. Throws as the PAK does. */
export async function isUnsure(pak: Pak, entry: PakEntry): Promise<boolean> {
  return entry.mayBeUnsure === true && (await pak.status?.(entry))?.endsWith('unverified') === true;
}

/** The error for a number that no entry has. */
export function noEntry(index: number): PakratError {
  return new PakratError('E_NOT_FOUND', `there is no entry ${index}`);
}

/** The row of an entry, by its number. Throws E_NOT_FOUND for an entry of another PAK. */
export function getRow<Row>(rows: readonly Row[], { index }: Pick<PakEntry, 'index'>): Row {
  const row = rows[index];
  if (row === undefined) throw noEntry(index);
  return row;
}
