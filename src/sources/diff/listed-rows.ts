import { asBuffer, u32At, writeU32 } from '../../core/bytes.ts';
import { GrowingRecords } from '../../core/tables/growing-records.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import { type DiffRow, factsAt, factsSize, writeFacts } from './diff-table.ts';

/*
 * What is known of a row without a look at the row itself: 11 bytes.
 *
 *   0   u32  hash of what it is told apart by
 *   4   u48  where its bytes are
 *   10  u8   1 when it is done with
 *
 * Its bytes: its facts as diff-table.ts has them, u32 bytes of its name (0xffffffff for none), its name.
 */
const stride = 11;
const [placeAt, doneAt] = [4, 10];
const headSize = factsSize + 4;
const none = 0xffffffff;

/** Bytes that are read at once where rows are mostly asked for one behind the other, and where they are not. */
const windowBytes = 1 << 16;
const leastRead = 1 << 9;

/**
 * The files of the first side of a comparison, of which most turn out to be the same in the second: three millions of them, with their names, are 300 MB.
 * They lie in a temporary file, and only what they are found by is in memory. Needs `close`.
 */
export class ListedRows {
  readonly #rows = new GrowingRecords(stride);
  readonly #bytes: GrowingFile;
  /** Bytes that were read last, and where they lie. */
  #window: Buffer = Buffer.alloc(0);
  #start = 0;

  /** @param temporary folder for the file, made when it is needed */
  constructor(temporary: string) {
    this.#bytes = new GrowingFile(temporary);
  }

  get count(): number {
    return this.#rows.count;
  }

  /** Removes the file, and gives memory back: no row can be asked for any more. */
  close(): void {
    this.#bytes.close();
    this.#rows.giveBack();
  }

  /** @param hash of what the file is told apart by, 32 bits @throws E_STORE_FULL, E_STORE */
  add(row: DiffRow, hash: number): void {
    const name = row.name === undefined ? undefined : Buffer.from(row.name);
    const number = this.#rows.add();
    const [known, at] = [this.#rows.blockOf(number), this.#rows.offsetOf(number)];
    known.writeUInt32BE(hash, at);
    known.writeUIntBE(this.#bytes.size, at + placeAt, 6);
    const head = Buffer.allocUnsafe(headSize);
    writeFacts(head, 0, row);
    writeU32(head, factsSize, name?.length ?? none);
    this.#bytes.append(head);
    if (name !== undefined) this.#bytes.append(name);
  }

  /** The hash of a row. */
  hash(number: number): number {
    return u32At(this.#rows.blockOf(number), this.#rows.offsetOf(number));
  }

  isDone(number: number): boolean {
    return this.#rows.blockOf(number)[this.#rows.offsetOf(number) + doneAt] === 1;
  }

  setDone(number: number): void {
    this.#rows.blockOf(number)[this.#rows.offsetOf(number) + doneAt] = 1;
  }

  /** A row as an object. @throws E_STORE, errors of the system as they come */
  at(number: number): DiffRow {
    const place = this.#rows.blockOf(number).readUIntBE(this.#rows.offsetOf(number) + placeAt, 6);
    const head = this.#reach(place, headSize);
    const facts = factsAt(this.#window, head);
    const size = u32At(this.#window, head + factsSize);
    if (size === none) return { name: undefined, ...facts };
    // From the start of the row, which is asked for again in a moment.
    const start = this.#reach(place, headSize + size) + headSize;
    return { name: this.#window.toString('utf8', start, start + size), ...facts };
  }

  /** Sees to it that some bytes of a row are in the window. @returns where */
  #reach(place: number, size: number): number {
    const end = this.#start + this.#window.length;
    if (place < this.#start || place + size > end) {
      const isNear = place >= this.#start && place < end + windowBytes;
      const wanted = Math.min(Math.max(size, isNear ? windowBytes : leastRead), this.#bytes.size - place);
      this.#window = asBuffer(this.#bytes.read(place, wanted));
      this.#start = place;
    }
    return place - this.#start;
  }
}
