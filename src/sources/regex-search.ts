import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { concatBytes } from '../core/bytes.ts';
import { codeOf, messageOf, PakratError, throwIfAborted } from '../core/errors.ts';
import type { Source } from './source.ts';

/** How long a search may take, and where it runs. */
export interface RegexSearchOptions {
  /** Ends the search at once. */
  signal?: AbortSignal | undefined;
  /** Time for a batch of names, once the thread runs. */
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
  /** Fulfilled when the thread runs, or will not: what it takes to start, on a busy machine, is not the pattern's time. */
  readonly #started: Promise<unknown>;
  /** Aborted when nothing more is to be waited for, with the error that says why. */
  readonly #end = new AbortController();
  /** Batches that were sent, and those that were answered: the thread takes them in turn. */
  #sent = 0;
  #answered = 0;
  /** Answers that nobody has taken yet, by the numbers of their batches. */
  readonly #answers = new Map<number, Uint8Array>();

  /** Starts the thread. @throws E_USAGE for what is no regular expression, before it starts */
  constructor(patterns: readonly string[], options: RegexSearchOptions = {}) {
    const { signal, workerUrl = new URL('./regex-worker.js', import.meta.url) } = options;
    this.text = patterns.join(' or ');
    this.#options = options;
    const workerData = patterns.map(withForwardSlashes);
    throwIfAborted(signal);
    this.#thread = new Worker(workerUrl, { workerData });
    this.#thread.on('message', (answer: Uint8Array) => this.#answers.set(this.#answered++, answer));
    this.#thread.on('error', (error) => this.#end.abort(this.#failure(error)));
    signal?.addEventListener('abort', () => this.#end.abort(), { signal: this.#end.signal });
    this.#started = once(this.#thread, 'online', { signal: this.#end.signal }).catch(() => {});
  }

  /** True for a name that has one of the patterns. @throws as {@link filter} */
  async finds(name: string): Promise<boolean> {
    return (await this.#found([this.#send([name])]))[0] === 1;
  }

  /**
   * A test for one listing of a source, of the names that `matches` takes and that have one of the patterns. The names are gone
   * through here, and then once more: to make rows of all files, for the few that are found, would take longer. Several may be made at a time.
   * @throws E_USAGE for a pattern that takes too long, E_ABORTED
   */
  async filter(source: Pick<Source, 'list'>, matches: (name: string) => boolean): Promise<(name: string) => boolean> {
    const batch: string[] = [];
    const sent: number[] = [];
    const none = source.list((name) => {
      if (matches(name) && batch.push(name) === batchNames) sent.push(this.#send(batch.splice(0)));
      return false;
    });
    for await (const _ of none);
    sent.push(this.#send(batch));
    const found = await this.#found(sent);
    let next = 0;
    return (name) => matches(name) && found[next++] === 1;
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#thread.terminate();
  }

  /** @returns the number of the batch */
  #send(names: readonly string[]): number {
    this.#thread.postMessage(names);
    return this.#sent++;
  }

  /** For each name of some batches whether it has a pattern, 1 or 0, when all of them have been answered. */
  async #found(batches: readonly number[]): Promise<Uint8Array> {
    const found: Uint8Array[] = [];
    await this.#started;
    for (const batch of batches) {
      while (this.#answered <= batch) await this.#answer();
      found.push(this.#answers.get(batch) ?? new Uint8Array());
      this.#answers.delete(batch);
    }
    return concatBytes(found);
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
