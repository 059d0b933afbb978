import { damagedFile } from '../store/derived/derived-file.ts';

/**
 * Runs work that reads derived files. Where one turns out to be damaged, which removes it, it is run once more after `mend`, which may meet
 * another.
 * @param mend makes again what is not there
 * @throws E_FORMAT_CHECKSUM when a file is damaged a second time, else as the work does
 */
export async function retryDamaged<Result>(
  work: () => Promise<Result> | Result,
  mend: () => Promise<void>,
): Promise<Result> {
  const damaged = new Set<string>();
  for (;;) {
    try {
      if (damaged.size > 0) await mend();
      return await work();
    } catch (error) {
      const file = damagedFile(error);
      if (file === undefined || damaged.has(file)) throw error;
      damaged.add(file);
    }
  }
}

/** Mends for all who meet damage at one time. */
export class Mending {
  readonly #mend: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** @param mend makes again what is not there */
  constructor(mend: () => Promise<void>) {
    this.#mend = mend;
  }

  /** Mends what is damaged now: one that runs may have opened a file before that turned out to be damaged, so the next one is waited for. */
  run(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#mend().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const again = (): Promise<void> => {
      this.#next = undefined;
      return this.run();
    };
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }
}
