import { waitUnlessAborted } from '../../core/breathe.ts';
import { codeOf, isPakratError, PakratError, throwIfAborted } from '../../core/errors.ts';
import { throttled, type WorkOptions } from '../../core/progress.ts';
import type { Listing } from '../../sources/source.ts';

/** The work that is done with something that will be closed: nothing begins after its end, and what goes on then is ended and waited for. */
export class RunningWork {
  readonly #what: string;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;
  #count = 0;
  #onIdle: (() => void) | undefined;

  /** @param what names it in errors, such as `the session` */
  constructor(what: string) {
    this.#what = what;
  }

  /** A signal for one piece of work: ends it when all is to end, or when its own says so. Never the same twice, for each gets many listeners. */
  signal(own?: AbortSignal): AbortSignal {
    const closing = this.#closing.signal;
    return AbortSignal.any(own === undefined ? [closing] : [closing, own]);
  }

  /** Does a piece of work. @throws E_USAGE after {@link close}, and what the work throws */
  async do<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#begin();
    try {
      return await work();
    } finally {
      this.#finish();
    }
  }

  /**
   * Does work that lasts, until its signal or the end of all ends it. Its listener hears of progress ten times a second at most, and of the rest at
   * the end.
   * @throws as {@link do}; of work that was ended the signal's reason, where that is an error of ours
   */
  calmly<Options extends WorkOptions, Result>(
    options: Options,
    work: (options: Options) => Promise<Result>,
  ): Promise<Result> {
    return this.do(async () => {
      const signal = this.signal(options.signal);
      const { tell, flush } = throttled(options.onProgress);
      try {
        return await work({ ...options, signal, onProgress: tell });
      } catch (error) {
        throw reasonOf(error, signal);
      } finally {
        flush();
      }
    });
  }

  /**
   * Hands on what rows, or pieces, are made into. It goes on only while one is waited for, for nobody has to take all of them.
   * @param signal ends it; what has to be brought for the first one may be for others, too, and then goes on
   * @throws as {@link calmly}
   */
  async *each<Row, Made>(
    rows: () => Listing<Row>,
    make: (row: Row) => Made,
    signal?: AbortSignal,
  ): AsyncGenerator<Made> {
    // Counted by hand: to `do` each row would take a quarter longer, of millions.
    this.#begin();
    let isGoingOn = true;
    try {
      const all = iteratorOf(rows());
      let isFirst = true;
      try {
        let next = await waitUnlessAborted(
          this.do(async () => all.next()),
          signal,
        );
        isFirst = false;
        while (next.done !== true) {
          throwIfAborted(signal);
          const made = make(next.value);
          isGoingOn = false;
          this.#finish();
          yield made;
          throwIfAborted(this.#closing.signal);
          this.#begin();
          isGoingOn = true;
          next = await all.next();
        }
      } finally {
        const returned = Promise.resolve(all.return?.()).catch(() => {});
        // The work on the first may go on.
        if (!isFirst) await returned;
      }
    } catch (error) {
      throw reasonOf(reasonOf(error, this.#closing.signal), signal);
    } finally {
      if (isGoingOn) this.#finish();
    }
  }

  /**
   * Lets nothing begin any more, ends what goes on with E_ABORTED, waits until it has ended, and does what comes last; a second time does nothing.
   * @throws as the last does
   */
  close(last: () => Promise<void>): Promise<void> {
    this.#closed ??= this.#end().then(last);
    return this.#closed;
  }

  async #end(): Promise<void> {
    this.#closing.abort(new PakratError('E_ABORTED', `${this.#what} is being closed`));
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #begin(): void {
    if (this.#closing.signal.aborted) throw new PakratError('E_USAGE', `${this.#what} is closed`);
    this.#count += 1;
  }

  #finish(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onIdle?.();
  }
}

function iteratorOf<Row>(rows: Listing<Row>): AsyncIterator<Row> | Iterator<Row> {
  return Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
}

/** Work may end with an error of its own when a signal ends it. */
function reasonOf(error: unknown, signal: AbortSignal | undefined): unknown {
  return codeOf(error) === 'E_ABORTED' && isPakratError(signal?.reason) ? signal.reason : error;
}
