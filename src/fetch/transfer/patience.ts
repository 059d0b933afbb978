/** Bytes of wrong entries that a transfer reads past before any right one came. */
const firstBytes = 64 * 1024 * 1024;

/**
 * How many bytes of wrong entries are worth reading past, for what lies behind them. A damaged stretch of an archive may be longer than what is given up at once, and
 * no other host may have what is behind it; but a host that sends nothing right is not listened to for all of a build. So wrong bytes are never many more than right ones.
 */
export class Patience {
  #left = firstBytes;

  /** Takes patience for an answer of so many bytes, as far as there is some. @returns bytes, to be given to {@link settle} */
  take(bytes: number): number {
    const taken = Math.max(0, Math.min(bytes, this.#left));
    this.#left -= taken;
    return taken;
  }

  /** Gives back what was taken for an answer, now that it is known how many of its bytes were wrong, and how many right. */
  settle(taken: number, { wrong, right }: { wrong: number; right: number }): void {
    this.#left += taken - wrong + right;
  }
}
