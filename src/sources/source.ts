import type { EncodedFile } from '../builds/encoded-files.ts';
import type { MissingKey } from '../builds/keys/missing-key.ts';
import type { NeededText } from '../core/glob.ts';
import type { KeyRing } from '../formats/blte/keys.ts';

/** A file of a source, as listed. */
export interface SourceEntry {
  /** With `/` between the parts; not safe as an output path before output-path has seen it. */
  readonly name: string;
  /** Bytes after decoding; undefined when nothing tells before it is decoded. */
  readonly size: number | undefined;
  /** MD5 of the content in hex, where the source knows it. */
  readonly md5?: string | undefined;
  /** Time of the file, where the source has one. */
  readonly mtime?: Date | undefined;
  /** Its number in the source, where a name can be there twice. */
  readonly index?: number | undefined;
  /** Set when the source does not give this row for its name, with why. Such rows are listed, and left out of what takes everything. */
  readonly hidden?: string | undefined;
  /** The part of the source that it comes from, where there are several. */
  readonly origin?: string | undefined;
  /** A remark for the reader. */
  readonly note?: string | undefined;
  /** Facts that `ls --json` shows beside name and size. Plain JSON. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Rows that have to be waited for, or that are there: then going through them without waiting costs a third. */
export type Listing<Row> = AsyncIterable<Row> | Iterable<Row>;

/** What a source may leave undone when it lists. */
export interface ListHints {
  /** Of these texts a name that matches has one: no others need be asked about. */
  needed?: readonly NeededText[] | undefined;
  /**
   * Of folders that this gives one file is enough, where none that is listed otherwise lies in them: what the names of the folder begin with as which a file
   * is listed.
   */
  folderOf?: ((name: string) => string | undefined) | undefined;
  /** Nothing is asked of a row but its name. */
  namesOnly?: boolean | undefined;
}

/**
 * Anything with named files in it. Every reading command is written against this, once. Not every kind can do everything: a
 * method that may be absent is asked for with `source.readRange !== undefined`.
 * `Entry` is the source's own row; only the source that listed it may be given it. Needs `close`.
 */
export interface Source<Entry extends SourceEntry = SourceEntry> {
  /** `build`, `pak`, … */
  readonly kind: string;
  /** The name that a person would give it. */
  readonly label: string;
  /** True when {@link list} goes by the bytes of names in UTF-8, as `LC_ALL=C sort` does; files without a name come last, by number. */
  readonly isInNameOrder?: boolean;
  /**
   * Every file whose name `matches`, in the source's own order. Another listing asks about the same names in the same order.
   */
  list(matches: (name: string) => boolean, hints?: ListHints): Listing<Entry>;
  /** The row that has a number, made anew, where rows need not be kept for it. */
  rowAt?(index: number): Entry;
  /** As {@link list}, many rows at a time, where that spares waiting for each. */
  listBatches?(matches: (name: string) => boolean, hints?: ListHints): AsyncIterable<readonly Entry[]>;
  /** One file by name. @throws E_NOT_FOUND with what to try */
  get(name: string): Promise<Entry>;
  /** Fetches all that these files need, at once rather than one by one. A file that cannot be had says so when it is read. */
  prepare(entries: readonly Entry[]): Promise<void>;
  /**
   * The decoded bytes of a file, in pieces. An error after the last piece means that none may be kept.
   * @param signal ends the waiting for bytes that have to be fetched; whoever takes pieces stops by itself
   */
  read(entry: Entry, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** What reads small files at once. Absent where nothing does. */
  readerAtOnce?(): Promise<ReaderAtOnce<Entry>>;
  /** Part of a file, from little more than the bytes that hold it. Absent where files can only be read from their start. */
  readRange?(entry: Entry, offset: number, size: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** True where a file that is read in many pieces is better read along: only all of it together is checked against what it must be. */
  readonly readsWhole?: boolean;
  /** The bytes of a file as they are stored, encrypted and compressed. Absent where the source cannot give them. */
  readRaw?(entry: Entry): AsyncIterable<Uint8Array>;
  /** True for a file whose content may be wrong although it can be read. Absent where reading tells. Throws as `read`. */
  isUnsure?(entry: Entry): Promise<boolean>;
  /** True when all that it takes to read a file is held here. Absent where that goes without saying. */
  isHeld?(entry: Entry): boolean;
  /** The keys that are missing to read it, and what they lock. Absent where that cannot be told. */
  missingKeys?(signal?: AbortSignal): Promise<MissingKey[]>;
  /** Its files for threads that decode them beside each other. Absent where there are none for them. */
  readonly forThreads?: FilesForThreads<Entry>;
  /** The facts of the source that `info` shows. Plain JSON. */
  info(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Reads files without waiting for each. */
export interface ReaderAtOnce<Entry extends SourceEntry = SourceEntry> {
  /**
   * The decoded bytes of a file, in pieces that are good until the next is asked for. It ends with true when all of them came and are right; else with false,
   * and what it gave is nothing: `Source.read` tells why.
   */
  read(entry: Entry): Generator<Uint8Array, boolean>;
}

/** Files as threads take them. */
export interface FilesForThreads<Entry extends SourceEntry = SourceEntry> {
  /** Where files that were prepared lie; undefined for one that only `read` can give. */
  find(entries: readonly Entry[]): Promise<(EncodedFile | undefined)[]>;
  /** For encrypted chunks. */
  keys: KeyRing;
}
