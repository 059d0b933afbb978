import * as fs from 'node:fs';
import { u32At, writeU32 } from '../../core/bytes.ts';
import { GrowingRecords } from '../../core/tables/growing-records.ts';
import { inStore, makeFolderDurable, writeAll } from '../../files/durable.ts';
import { readInto } from '../../files/read-at.ts';
import { removeTemporary, temporaryName } from '../../files/temporary.ts';
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

/** Bytes of rows in memory before they go to disk: few rows never do. */
const memoryBytes = 1 << 20;
/** Bytes that are read at once where rows are mostly asked for one behind the other, and where they are not. */
const windowBytes = 1 << 16;
const leastRead = 1 << 9;

/**
 * The files of the first side of a comparison, of which most turn out to be the same in the second: three millions of them, with their names, are 300 MB.
 * They lie in a temporary file, and only what they are found by is in memory. Needs `close`.
 */
export class ListedRows {
  readonly #temporary: string;
  readonly #rows = new GrowingRecords(stride);
  /** The bytes of the last rows, behind those that are on disk. */
  #memory = Buffer.allocUnsafe(memoryBytes);
  #filled = 0;
  #written = 0;
  #file: { name: string; fd: number } | undefined;
  /** Bytes of the file that were read last, and where they lie. */
  #window = Buffer.allocUnsafeSlow(windowBytes);
  #start = 0;
  #end = 0;

  /** @param temporary folder for the file, made when it is needed */
  constructor(temporary: string) {
    this.#temporary = temporary;
  }

  get count(): number {
    return this.#rows.count;
  }

  /** Removes the file: no row can be asked for any more. */
  close(): void {
    if (this.#file === undefined) return;
    fs.closeSync(this.#file.fd);
    removeTemporary(this.#file.name);
    this.#file = undefined;
  }

  /** @param hash of what the file is told apart by, 32 bits @throws E_STORE_FULL, E_STORE */
  add(row: DiffRow, hash: number): void {
    const { name } = row;
    const most = headSize + 3 * (name?.length ?? 0);
    if (this.#filled + most > this.#memory.length) this.#spill();
    if (most > this.#memory.length) this.#memory = Buffer.allocUnsafe(most);
    const number = this.#rows.add();
    const [known, at] = [this.#rows.blockOf(number), this.#rows.offsetOf(number)];
    known.writeUInt32BE(hash, at);
    known.writeUIntBE(this.#written + this.#filled, at + placeAt, 6);
    const memory = this.#memory;
    writeFacts(memory, this.#filled, row);
    const size = name === undefined ? 0 : memory.write(name, this.#filled + headSize);
    writeU32(memory, this.#filled + factsSize, name === undefined ? none : size);
    this.#filled += headSize + size;
  }

  #spill(): void {
    inStore(this.#temporary, () => {
      this.#file ??= openFile(this.#temporary);
      writeAll(this.#file.fd, this.#memory.subarray(0, this.#filled), this.#written);
    });
    this.#written += this.#filled;
    this.#filled = 0;
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

  /** A row as an object. @throws errors of the system as they come */
  at(number: number): DiffRow {
    const place = this.#rows.blockOf(number).readUIntBE(this.#rows.offsetOf(number) + placeAt, 6);
    const head = this.#bytes(place, headSize);
    const facts = factsAt(head, 0);
    const size = u32At(head, factsSize);
    const name = size === none ? undefined : this.#bytes(place + headSize, size).toString('utf8');
    return { name, ...facts };
  }

  /** Some bytes of a row; they hold until the next are asked for. */
  #bytes(place: number, size: number): Buffer {
    const inMemory = place - this.#written;
    if (inMemory >= 0) return this.#memory.subarray(inMemory, inMemory + size);
    if (place < this.#start || place + size > this.#end) this.#read(place, size);
    return this.#window.subarray(place - this.#start, place - this.#start + size);
  }

  #read(place: number, size: number): void {
    const isNear = place >= this.#start && place < this.#end + windowBytes;
    const wanted = Math.min(Math.max(size, isNear ? windowBytes : leastRead), this.#written - place);
    if (wanted > this.#window.length) this.#window = Buffer.allocUnsafeSlow(wanted);
    readInto(this.#file!.fd, this.#window.subarray(0, wanted), { offset: place, what: 'listed rows' });
    this.#start = place;
    this.#end = place + wanted;
  }
}

function openFile(folder: string): { name: string; fd: number } {
  makeFolderDurable(folder);
  const name = temporaryName(folder);
  return { name, fd: fs.openSync(name, 'wx+', 0o600) };
}
