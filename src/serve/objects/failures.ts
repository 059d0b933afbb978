import { mayPass, type PakratError } from '../../core/errors.ts';

const mostFailed = 100_000;

/** What could not be brought a short while ago, and why. */
export class Failures {
  readonly #failed = new Map<string, { time: number; error: PakratError | undefined }>();
  readonly #ms: number;

  /** @param ms milliseconds for which what could not be brought is not asked for again */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @param error undefined where nothing is wrong, and yet it did not come */
  add(key: string, error: PakratError | undefined): void {
    if (this.#failed.size > mostFailed) this.#failed.clear();
    this.#failed.set(key, { time: performance.now(), error });
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** Tells what is no absence: it may pass, and a client that heard "not there" would not ask again. @throws E_NETWORK…, E_STORE…, E_ABORTED */
  tell(key: string): void {
    const error = this.#find(key)?.error;
    if (mayPass(error)) throw error;
  }

  #find(key: string): { error: PakratError | undefined } | undefined {
    const failed = this.#failed.get(key);
    return failed !== undefined && performance.now() - failed.time < this.#ms ? failed : undefined;
  }
}
