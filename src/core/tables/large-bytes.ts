/** The C library maps what is larger than 32 MiB by itself, unless a free piece of its own holds it, so that it is given back as soon as it is freed. */
const mappedBytes = 33 << 20;
/** From this size on it is worth it. */
const largeBytesLeast = 1 << 20;

/**
 * Bytes for a large table, all of them 0. A table of some MiB that was freed between others stays with the process, for the C library cuts it from memory
 * that it gives back from its end only; and it takes each such table for a sign that larger ones should be cut as well. So it lies at the start of a stretch that
 * is mapped by itself: what is never touched of that takes no memory. Its `buffer` is larger than the table: not for what is sent to threads.
 */
export function largeBytes(size: number): Uint8Array<ArrayBuffer> {
  const isLarge = size >= largeBytesLeast && size < mappedBytes;
  return new Uint8Array(new ArrayBuffer(isLarge ? mappedBytes : size), 0, size);
}

/** As {@link largeBytes}, of numbers of 32 bits. */
export function largeWords(count: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(largeBytes(4 * count).buffer, 0, count);
}

let nowhere: InstanceType<typeof MessageChannel>['port1'] | undefined;

/**
 * Gives the memory of large tables, each of which has a buffer of its own, back to the system at once; they are empty afterwards, and nobody may look at them any more. Memory that nothing leads to is else
 * given back when garbage is collected: that may be long after more was taken, and then both count.
 */
export function giveBack(...tables: readonly ArrayBufferView[]): void {
  if (nowhere === undefined) {
    nowhere = new MessageChannel().port1;
    nowhere.close();
  }
  // What is handed over to a port that is closed is lost, with its memory.
  nowhere.postMessage(
    null,
    tables.map(({ buffer }) => buffer as ArrayBuffer),
  );
}

/** As {@link giveBack}, of bytes that nobody else has a view of. Small ones are left: Node cuts them, each less than half of it, from a buffer that they share. */
export function giveBackOwn(bytes: Uint8Array): void {
  if (bytes.length * 2 > bytes.buffer.byteLength) giveBack(bytes);
}

/** Memory for one thing after the other: what was taken before is overwritten. */
export class ReusedBytes {
  #memory = new Uint8Array(0);

  /** So many bytes; what is in them is left over. */
  take(size: number): Uint8Array {
    // Things that are about as large differ a little.
    if (size > this.#memory.length) this.#memory = new Uint8Array(Math.ceil(size * 1.25));
    return this.#memory.subarray(0, size);
  }

  /** Gives the memory back to the system: of what was taken nothing may be looked at any more. */
  giveBack(): void {
    giveBack(this.#memory);
    this.#memory = new Uint8Array(0);
  }
}
