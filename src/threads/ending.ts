/**
 * An end that comes late or never, and waits that it cuts short. A `Promise.race` would do the same, but the promise that loses all races keeps
 * what each of them came to for as long as it lives.
 */
export class Ending {
  #hasCome = false;
  readonly #cuts = new Set<() => void>();

  /** Says that the end is there. */
  come(): void {
    this.#hasCome = true;
    for (const cut of this.#cuts) cut();
  }

  /** The outcome of work that is begun here; undefined when the end was there before, or comes first. @throws as the work does */
  async before<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    if (this.#hasCome) return undefined;
    let cut = (): void => {};
    const ended = new Promise<undefined>((resolve) => {
      cut = () => resolve(undefined);
    });
    this.#cuts.add(cut);
    try {
      return await Promise.race([work(), ended]);
    } finally {
      this.#cuts.delete(cut);
    }
  }
}
