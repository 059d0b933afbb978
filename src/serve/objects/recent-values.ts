/** Values that were made of bytes and can be made again. Of all of them together those go that were not asked for the longest. */
export class RecentValues<Value extends { bytes: number }> {
  readonly #mostBytes: number;
  readonly #values = new Map<string, Value>();
  #bytes = 0;

  /** @param mostBytes that stay in memory; the newest value stays, however large it is */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** A value, which is the newest now. */
  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  /** Adds a value under a key that has none. */
  add(key: string, value: Value): Value {
    this.#values.set(key, value);
    this.#bytes += value.bytes;
    for (const [oldest, { bytes }] of this.#values) {
      if (this.#bytes <= this.#mostBytes || oldest === key) break;
      this.#values.delete(oldest);
      this.#bytes -= bytes;
    }
    return value;
  }
}
