import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { concatBytes } from '../core/bytes.ts';
import { codeOf, messageOf, PakratError, throwIfAborted } from '../core/errors.ts';
import type { Source } from './source.ts';

/** How long a search may take, and where it runs. */
export interface RegexSearchOptions {
  /** Ends the search at once. */
  signal?: AbortSignal | undefined;
  /** Time for a batch of names. */
  batchMs?: number | undefined;
  /** The file that the thread runs; absent: the one that lies beside this program. */
  workerUrl?: URL | undefined;
}

/** Names that are sent at a time: a pattern that does not go back much takes them in a few milliseconds. */
const batchNames = 4096;
const defaultBatchMs = 5000;
/** Characters of a pattern. A thread cannot be ended while it compiles one, which takes time that grows with the square of its length. */
const maxLength = 10_000;

/**
 * Regular expressions of JavaScript, looked for in names by a thread, which can be ended when one of them goes back for too long.
 * Case and the direction of slashes do not matter. Needs `close`.
 */
export class RegexSearch {
  /** The patterns as a person wrote them, in one line. */
  readonly text: string;
  readonly #options: RegexSearchOptions;
  readonly #thread: Worker;
  /** Aborted when nothing more is to be waited for, with the error that says why. */
  readonly #end = new AbortController();
  #sent = 0;
  #answers: Uint8Array[] = [];

  /** Starts the thread. @throws E_USAGE for what is no regular expression, before it starts */
  constructor(patterns: readonly string[], options: RegexSearchOptions = {}) {
    const { signal, workerUrl = new URL('./regex-worker.js', import.meta.url) } = options;
    this.text = patterns.join(' or ');
    this.#options = options;
    const workerData = patterns.map(withForwardSlashes);
    throwIfAborted(signal);
    this.#thread = new Worker(workerUrl, { workerData });
    this.#thread.on('message', (answer: Uint8Array) => this.#answers.push(answer));
    this.#thread.on('error', (error) => this.#end.abort(this.#failure(error)));
    signal?.addEventListener('abort', () => this.#end.abort(), { signal: this.#end.signal });
  }

  /** True for a name that has one of the patterns. @throws as {@link filter} */
  async finds(name: string): Promise<boolean> {
    this.#send([name]);
    return (await this.#found())[0] === 1;
  }

  /**
   * A test for one listing of a source, of the names that `matches` takes and that have one of the patterns. The names are gone
   * through here, and then once more: to make rows of all files, for the few that are found, would take longer.
   * @throws E_USAGE for a pattern that takes too long, E_ABORTED
   */
  async filter(source: Pick<Source, 'list'>, matches: (name: string) => boolean): Promise<(name: string) => boolean> {
    const batch: string[] = [];
    const none = source.list((name) => {
      if (matches(name) && batch.push(name) === batchNames) this.#send(batch.splice(0));
      return false;
    });
    for await (const _ of none);
    this.#send(batch);
    const found = await this.#found();
    let next = 0;
    return (name) => matches(name) && found[next++] === 1;
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#thread.terminate();
  }

  #send(names: readonly string[]): void {
    this.#sent += 1;
    this.#thread.postMessage(names);
  }

  /** For each name that was sent whether it has a pattern, 1 or 0, when all batches have been answered. */
  async #found(): Promise<Uint8Array> {
    while (this.#answers.length < this.#sent) await this.#answer();
    this.#sent = 0;
    return concatBytes(this.#answers.splice(0));
  }

  async #answer(): Promise<void> {
    const { signal, batchMs = defaultBatchMs } = this.#options;
    const hint = 'Repeats in repeats, as in (a+)+, go through every way to part a name.';
    const tooSlow = badRegex(this.text, 'takes too long', hint);
    const timer = setTimeout(() => this.#end.abort(tooSlow), batchMs);
    try {
      await once(this.#thread, 'message', { signal: this.#end.signal });
    } catch {
      throwIfAborted(signal);
      throw this.#end.signal.reason;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Some patterns are found to be too large only when they are first used; an error with a code is no pattern's. */
  #failure(error: unknown): Error {
    if (codeOf(error) === undefined) return unusable(this.text, error);
    return new Error(`a thread died: ${messageOf(error)}`, { cause: error });
  }
}

/** A pattern for names whose slashes all lean forward. */
function withForwardSlashes(pattern: string): string {
  if (pattern.length > maxLength) throw badRegex(pattern, `is longer than ${maxLength} characters`);
  try {
    return new RegExp(pattern.replace(/\\./gs, (escaped) => (escaped === '\\\\' ? '/' : escaped))).source;
  } catch (error) {
    throw unusable(pattern, error);
  }
}

function unusable(pattern: string, error: unknown): PakratError {
  // RegExp says the whole pattern again before it comes to what is wrong.
  return badRegex(pattern, `cannot be used: ${messageOf(error).replace(/^.*\/: /s, '')}`);
}

function badRegex(pattern: string, problem: string, hint?: string): PakratError {
  const shown = pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
  return new PakratError('E_USAGE', `the regular expression ${shown} ${problem}`, { hint, data: { pattern: shown } });
}
