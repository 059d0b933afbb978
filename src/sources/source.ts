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
  /** What `ls --json` shows beside name and size. Plain JSON. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/**
 * Anything with named files in it. Every reading command is written against this, once.
 * `Entry` is the source's own row; only the source that listed it may be given it. Needs `close`.
 */
export interface Source<Entry extends SourceEntry = SourceEntry> {
  /** `build`, `pak`, … */
  readonly kind: string;
  /** How a person would name it. */
  readonly label: string;
  /** Every file whose name `matches`, in the source's own order. */
  list(matches: (name: string) => boolean): AsyncIterable<Entry>;
  /** One file by name. @throws E_NOT_FOUND with what to try */
  get(name: string): Promise<Entry>;
  /** Brings whatever these files need, together rather than one by one. What cannot be had is reported when it is read. */
  prepare(entries: readonly Entry[]): Promise<void>;
  /** The decoded bytes of a file, in pieces. An error after the last piece means that none may be kept. */
  read(entry: Entry): AsyncIterable<Uint8Array>;
  /** What it is, as plain JSON. */
  info(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}
