import type { MissingKey } from './app/keys/missing-keys.ts';
import type { OpenedSource } from './app/session/open-source.ts';
import type { RunningWork } from './app/session/running-work.ts';
import { listOf } from './app/session/session-options.ts';
import { eitherSignal } from './core/breathe.ts';
import { concatBytes } from './core/bytes.ts';
import { isNotFound, valueUnless } from './core/errors.ts';
import { nameMatcher, withFolders } from './core/glob.ts';
import type { Source, SourceEntry } from './sources/source.ts';

/** A file of a source. */
export interface SourceFile {
  /** With `/` between the parts. */
  name: string;
  /** Bytes after decoding; null when nothing tells before it is decoded. */
  size: number | null;
  /** MD5 of the content in hex, where the source knows it. */
  md5?: string | undefined;
  mtime?: Date | undefined;
  /** The reason for which the source does not give this file for its name; it is listed, and has no other name than `index:N`. */
  hidden?: string | undefined;
  /** Something that a reader should know. */
  note?: string | undefined;
  /** Facts that `ls --json` shows beside name and size: `fileDataId`, `ckey`, `ekey`, `locale` of builds; `storedSize`, `method` … of PAKs. */
  facts: Readonly<Record<string, unknown>>;
}

/** The part of a file that is read. */
export interface StreamOptions {
  offset?: number | undefined;
  /** Bytes; absent: to the end of the file. */
  size?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** An open source: a build, a PAK, a game folder, an installed game. Needs `close`, or `await using`. */
export class PakratSource {
  readonly #opened: OpenedSource;
  readonly #source: Source;
  readonly #work: RunningWork;
  readonly #onClosed: () => void;

  /** Made by `open` of a session. @param work whose signal the source was opened with */
  constructor(opened: OpenedSource, work: RunningWork, onClosed: () => void) {
    this.#opened = opened;
    this.#work = work;
    this.#onClosed = onClosed;
    this.#source = opened.source;
  }

  /** `build`, `pak`, `casc`, `cdn`. */
  get kind(): string {
    return this.#source.kind;
  }

  /** The source as a person would name it. */
  get label(): string {
    return this.#source.label;
  }

  /**
   * The files of the source as they come, for there may be millions: those of a build, an install and a CDN folder sorted by the bytes of their
   * names, those of a PAK in its own order.
   * @param which a glob or a folder, or several, of which a name must match one; or a test of names. Absent: all
   * @throws E_USAGE for a glob that cannot be used, E_ABORTED
   */
  list(
    which?: string | readonly string[] | ((name: string) => boolean),
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<SourceFile> {
    return this.#work.each(() => this.#source.list(matcherOf(which)), fileOf, signal);
  }

  /** One file by its name (`fdid:N`, `ckey:HEX`, `ekey:HEX` in a build, `index:N` in a PAK); undefined when there is none. */
  async find(name: string): Promise<SourceFile | undefined> {
    const entry = await this.#work.do(() => valueUnless(isNotFound, this.#source.get(name)));
    return entry && fileOf(entry);
  }

  /**
   * The bytes of a file, or a part of them. What the store does not hold is fetched first, only the range of this file.
   * @throws E_NOT_FOUND, E_KEY_MISSING, E_INTEGRITY, E_OFFLINE, E_ABORTED
   */
  async bytes(name: string, options: StreamOptions = {}): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#pieces(name, options)) pieces.push(piece);
    return concatBytes(pieces);
  }

  /** As {@link bytes}, as a web stream: one that fails at its end must not be believed. */
  stream(name: string, options: StreamOptions = {}): ReadableStream<Uint8Array> {
    const left = new AbortController();
    const pieces = this.#pieces(name, { ...options, signal: eitherSignal(left.signal, options.signal) });
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        left.abort();
        await pieces.return(undefined);
      },
    });
  }

  /** Copies of the pieces of a file: sources use their memory again. */
  #pieces(name: string, options: StreamOptions): AsyncGenerator<Uint8Array> {
    return this.#work.each(
      () => this.#read(name, options),
      (piece) => piece.slice(),
      options.signal,
    );
  }

  async *#read(name: string, { offset = 0, size, signal }: StreamOptions): AsyncGenerator<Uint8Array> {
    const { getNamed } = await import('./sources/names-hint.ts');
    const { readPart } = await import('./sources/file-reader.ts');
    const entry = await getNamed(this.#source, name);
    yield* readPart(this.#source, entry, { offset, size, signal });
  }

  /** True for a file whose bytes may be wrong although nothing fails: nothing tells whether they were decrypted right. Throws as {@link bytes}. */
  async isUnsure(name: string): Promise<boolean> {
    const { getNamed } = await import('./sources/names-hint.ts');
    return this.#work.do(async () => (await this.#source.isUnsure?.(await getNamed(this.#source, name))) ?? false);
  }

  /** The facts of the source, as `info --json` prints them. */
  info(): Promise<Record<string, unknown>> {
    return this.#work.do(() => this.#source.info());
  }

  /** The keys that are missing to read it, and what they lock. @throws E_UNSUPPORTED for a source that cannot tell, E_ABORTED */
  async missingKeys({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<MissingKey[]> {
    const { missingKeysOf } = await import('./app/keys/missing-keys.ts');
    return this.#work.do(() => missingKeysOf(this.#source, this.#work.signal(signal)));
  }

  /** Closes the source, after what goes on with it, which ends with E_ABORTED; a second time does nothing. */
  close(): Promise<void> {
    return this.#work.close(() => this.#opened.close().finally(this.#onClosed));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function matcherOf(which: string | readonly string[] | ((name: string) => boolean) | undefined) {
  if (typeof which === 'function') return which;
  const globs = listOf(which);
  return globs.length === 0 ? () => true : nameMatcher(withFolders(globs));
}

function fileOf({ name, size, md5, mtime, hidden, note, facts }: SourceEntry): SourceFile {
  return { name, size: size ?? null, md5, mtime, hidden, note, facts };
}
