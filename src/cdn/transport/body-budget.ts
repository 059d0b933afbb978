import { abortError } from '../../core/errors.ts';

interface Waiting {
  bytes: number;
  begin: () => void;
}

/** The memory for bodies that are taken whole, shared by all that are on their way: one that has no room left in it waits for others to end. */
export class BodyBudget {
  readonly #size: number;
  readonly #waiting: Waiting[] = [];
  #free: number;

  constructor(bytes: number) {
    this.#size = bytes;
    this.#free = bytes;
  }

  /**
   * Runs work that takes up to `bytes` of memory, first come, first served. Work that takes more than all there is runs alone.
   * @throws E_ABORTED when it is interrupted while it waits
   */
  async within<Result>(bytes: number, signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    const share = Math.min(bytes, this.#size);
    await this.#take(share, signal);
    try {
      return await work();
    } finally {
      this.#free += share;
      this.#serve();
    }
  }

  #take(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError());
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#serve();
        reject(abortError());
      };
      const begin = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const waiting = { bytes, begin };
      this.#waiting.push(waiting);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#serve();
    });
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.bytes <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.bytes;
      next.begin();
    }
  }
}
