/** A window that was not gone on from is small; each that follows it is larger, up to the largest. */
const smallest = 1 << 12;
const largest = 1 << 18;
/** Rows of this many places in the file may take turns. */
const windowCount = 4;
/** Bytes that may lie between a text and the next: a line end, an id. */
const nearby = 64;

interface Window {
  start: number;
  memory: Buffer;
  /** As much of the memory as was read. */
  bytes: Buffer;
}

/**
 * Reads short texts of a file. Where they follow one another, be it in several places by turns, much is read at once; where they lie
 * anywhere, little.
 */
export class TextWindows {
  readonly #read: (memory: Uint8Array, offset: number) => number;
  /** The one that was used last comes first. */
  #windows: Window[] = [];

  /** @param read fills memory from an offset of the file, and says how many bytes there were */
  constructor(read: (memory: Uint8Array, offset: number) => number) {
    this.#read = read;
  }

  read(offset: number, size: number): string {
    const [last] = this.#windows;
    const window = last !== undefined && covers(last, offset, size) ? last : this.#windowFor(offset, size);
    const at = offset - window.start;
    return window.bytes.toString('utf8', at, at + size);
  }

  #windowFor(offset: number, size: number): Window {
    const known = this.#windows.find((window) => covers(window, offset, size));
    const window = known ?? this.#readWindow(offset, size);
    this.#windows = [window, ...this.#windows.filter((other) => other !== window)].slice(0, windowCount);
    return window;
  }

  /** Reads on from the window that ends here, in its place and memory; else anew. */
  #readWindow(offset: number, size: number): Window {
    const before = this.#windows.find(({ start, bytes }) => offset >= start && offset - start <= bytes.length + nearby);
    const length = Math.max(size, before === undefined ? smallest : Math.min(largest, before.memory.length * 4));
    const memory = before?.memory.length === length ? before.memory : Buffer.allocUnsafe(length);
    this.#windows = this.#windows.filter((window) => window !== before);
    return { start: offset, memory, bytes: memory.subarray(0, this.#read(memory, offset)) };
  }
}

function covers({ start, bytes }: Window, offset: number, size: number): boolean {
  return offset >= start && offset + size <= start + bytes.length;
}
