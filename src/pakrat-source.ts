import type { MissingKey } from './app/keys/missing-keys.ts';
import type { OpenedSource } from './app/session/open-source.ts';
import { listOf } from './app/session/session-options.ts';
import { concatBytes } from './core/bytes.ts';
import { isNotFound, throwIfAborted, valueUnless } from './core/errors.ts';
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
  readonly #onClose: () => void;
  #closed: Promise<void> | undefined;

  /** Made by `open` of a session. */
  constructor(opened: OpenedSource, onClose: () => void) {
    this.#opened = opened;
    this.#onClose = onClose;
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
  async *list(
    which?: string | readonly string[] | ((name: string) => boolean),
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<SourceFile> {
    for await (const entry of this.#source.list(matcherOf(which))) {
      throwIfAborted(signal);
      yield fileOf(entry);
    }
  }

  /** One file by its name (`fdid:N`, `ckey:HEX`, `ekey:HEX` in a build, `index:N` in a PAK); undefined when there is none. */
  async find(name: string): Promise<SourceFile | undefined> {
    const entry = await valueUnless(isNotFound, this.#source.get(name));
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
    const pieces = this.#pieces(name, options);
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await pieces.return(undefined)),
    });
  }

  /** Copies of the pieces of a file: sources use their memory again. */
  async *#pieces(name: string, { offset = 0, size, signal }: StreamOptions): AsyncGenerator<Uint8Array> {
    const { getNamed } = await import('./sources/names-hint.ts');
    const { readPart } = await import('./sources/file-reader.ts');
    const entry = await getNamed(this.#source, name);
    for await (const piece of readPart(this.#source, entry, offset, size)) {
      throwIfAborted(signal);
      yield piece.slice();
    }
  }

  /** True for a file whose bytes may be wrong although nothing fails: nothing tells whether they were decrypted right. Throws as {@link bytes}. */
  async isUnsure(name: string): Promise<boolean> {
    const { getNamed } = await import('./sources/names-hint.ts');
    return (await this.#source.isUnsure?.(await getNamed(this.#source, name))) ?? false;
  }

  /** The facts of the source, as `info --json` prints them. */
  info(): Promise<Record<string, unknown>> {
    return this.#source.info();
  }

  /** The keys that are missing to read it, and what they lock. @throws E_UNSUPPORTED for a source that cannot tell, E_ABORTED */
  async missingKeys({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<MissingKey[]> {
    const { missingKeysOf } = await import('./app/keys/missing-keys.ts');
    return missingKeysOf(this.#source, signal);
  }

  /** Closes the source; a second time does nothing. */
  close(): Promise<void> {
    this.#onClose();
    this.#closed ??= this.#opened.close();
    return this.#closed;
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
