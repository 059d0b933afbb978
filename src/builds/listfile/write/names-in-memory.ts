import { breathe } from '../../../core/breathe.ts';
import type { ViewPart } from '../../../core/jenkins.ts';
import { IdSet } from '../../../core/tables/id-set.ts';
import { type ListfileRows, noListedId } from '../../../formats/roots/listfile-rows.ts';
import { listfileRows } from '../listfile-paths.ts';
import type { NameBytes, NamePlace, TextWriter } from '../listfile-text.ts';
import type { ListfileLookups } from './listfile-lookups.ts';
import { sortedNames } from './sorted-names.ts';

const { noId } = listfileRows;
const [lf, semicolon] = [0x0a, 0x3b];

/**
 * Memory for lines grows to twice its size up to so many bytes, and that for names up to so many; then to all that it may have: what is not written to costs
 * nothing, and what was grown from would wait to be collected.
 */
const growsTo = 1 << 24;
const fewNames = 1 << 16;
/** Bytes that a name costs beside its line until all is written. */
const bytesOfName = 36;
/** Names that are written before the clock is looked at. */
const namesPerTurn = 4096;

/** What takes the sorted names. */
export interface ListTarget {
  text: TextWriter;
  lookups: ListfileLookups;
}

/**
 * The names of a list with their ids, as lines in memory: sorted they are copied from there, many at a time where they follow one another, and nothing but
 * what is the result is written to disk.
 */
export class NamesInMemory {
  count = 0;
  readonly #limit: number;
  #bytes = new Uint8Array(1 << 12);
  #filled = 0;
  /** Of each name: where it starts in memory, its bytes, and its id. Its line is `id;name` and a line end. */
  #starts = new Uint32Array(1 << 8);
  #sizes = new Uint16Array(1 << 8);
  #ids = new Uint32Array(1 << 8);

  /** @param limit bytes of memory that all of it may take */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds the rows of a piece of a list. @returns false where there is no room for them: none was added */
  addRows(rows: ListfileRows): boolean {
    const { bytes, ids, starts, ends, count } = rows;
    if (!this.#isRoomFor(count, bytes.length + count)) return false;
    if (!areLines(rows)) {
      for (let row = 0; row < count; row++) {
        const id = ids[row] === noListedId ? undefined : ids[row];
        this.#addLine(id, { bytes, start: starts[row]!, end: ends[row]! });
      }
      return true;
    }
    const memory = this.#reserve(bytes.length);
    const first = this.#filled;
    memory.set(bytes, first);
    this.#filled += bytes.length;
    for (let row = 0; row < count; row++) this.#addName(ids[row]!, first + starts[row]!, first + ends[row]!);
    return true;
  }

  /** Adds a name. @returns false where there is no room for it */
  add(id: number | undefined, name: NameBytes): boolean {
    if (!this.#isRoomFor(1, name.end - name.start + 1)) return false;
    this.#addLine(id, name);
    return true;
  }

  #addLine(id: number | undefined, { bytes, start, end }: NameBytes): void {
    const before = id === undefined ? 0 : digitsOf(id);
    const memory = this.#reserve(before + 2 + end - start);
    let at = this.#filled + before;
    for (let i = 1, rest = id ?? 0; i <= before; i++, rest = Math.floor(rest / 10)) memory[at - i] = 0x30 + (rest % 10);
    memory[at++] = semicolon;
    const name = at;
    for (let from = start; from < end; from++) memory[at++] = bytes[from]!;
    memory[at] = lf;
    this.#filled = at + 1;
    this.#addName(id ?? noId, name, at);
  }

  #addName(id: number, start: number, end: number): void {
    if (this.count === this.#starts.length) this.#growNames();
    this.#starts[this.count] = start;
    this.#sizes[this.count] = end - start;
    // What stands for no id in a list becomes what does so in its files.
    this.#ids[this.count] = id;
    this.count += 1;
  }

  #growNames(): void {
    const length = this.count < fewNames ? 2 * this.count : Math.ceil(this.#limit / bytesOfName);
    const [starts, sizes, ids] = [new Uint32Array(length), new Uint16Array(length), new Uint32Array(length)];
    starts.set(this.#starts);
    sizes.set(this.#sizes);
    ids.set(this.#ids);
    [this.#starts, this.#sizes, this.#ids] = [starts, sizes, ids];
  }

  #isRoomFor(names: number, bytes: number): boolean {
    // The id and what is around it have twelve bytes at most.
    return this.#filled + bytes + 12 * names + (this.count + names) * bytesOfName <= this.#limit;
  }

  #reserve(size: number): Uint8Array {
    const needed = this.#filled + size;
    if (needed > this.#bytes.length) {
      const length = 2 * needed < growsTo ? 2 * needed : Math.max(needed, this.#limit);
      const larger = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
      larger.set(this.#bytes.subarray(0, this.#filled));
      this.#bytes = larger;
    }
    return this.#bytes;
  }

  /** The memory of the lines, for other things: the names are gone. */
  release(): ArrayBufferLike {
    const { buffer } = this.#bytes;
    [this.#bytes, this.#starts, this.#sizes, this.#ids] = [
      new Uint8Array(),
      new Uint32Array(),
      new Uint16Array(),
      new Uint32Array(),
    ];
    [this.#filled, this.count] = [0, 0];
    return buffer;
  }

  /** The names in the order in which they were added. */
  *names(): Generator<NameBytes & { id: number | undefined }> {
    const name: NameBytes & { id: number | undefined } = { id: undefined, bytes: this.#bytes, start: 0, end: 0 };
    for (let i = 0; i < this.count; i++) {
      const id = this.#ids[i]!;
      name.id = id === noId ? undefined : id;
      name.start = this.#starts[i]!;
      name.end = name.start + this.#sizes[i]!;
      yield name;
    }
  }

  /** Writes the names in order; of an id that came more than once the last. @throws E_ABORTED, E_STORE… */
  async write({ text, lookups }: ListTarget, isRepeated: boolean, signal?: AbortSignal): Promise<void> {
    const [bytes, starts, sizes, ids] = [this.#bytes, this.#starts, this.#sizes, this.#ids];
    let order = sortedNames({ bytes, starts, sizes, count: this.count });
    if (isRepeated) {
      const replaced = this.#replaced();
      order = order.filter((name) => !replaced.has(name));
    }
    const name: ViewPart = { view: new DataView(bytes.buffer), start: 0, end: 0 };
    const place: NamePlace = { at: 0, size: 0 };
    for (let i = 0; i < order.length; ) {
      const first = this.#lineStart(order[i]!);
      let [last, end] = [i, this.#lineEnd(order[i]!)];
      while (last + 1 < order.length && last - i < namesPerTurn && this.#lineStart(order[last + 1]!) === end) {
        last += 1;
        end = this.#lineEnd(order[last]!);
      }
      const shift = text.addLines(bytes, first, end) - first;
      for (; i <= last; i++) {
        const row = order[i]!;
        const id = ids[row]!;
        name.start = starts[row]!;
        name.end = name.start + sizes[row]!;
        place.at = name.start + shift;
        place.size = sizes[row]!;
        lookups.add(id === noId ? undefined : id, name, place);
        if (i % namesPerTurn === 0) await breathe(signal);
      }
    }
  }

  #lineStart(row: number): number {
    const id = this.#ids[row]!;
    return this.#starts[row]! - 1 - (id === noId ? 0 : digitsOf(id));
  }

  #lineEnd(row: number): number {
    return this.#starts[row]! + this.#sizes[row]! + 1;
  }

  /** The names whose id came again later, by their numbers. */
  #replaced(): IdSet {
    const [seen, replaced] = [new IdSet(), new IdSet()];
    for (let i = this.count - 1; i >= 0; i--) {
      const id = this.#ids[i]!;
      if (id !== noId && !seen.add(id)) replaced.add(i);
    }
    return replaced;
  }
}

/** Whether the rows of a piece are lines as they are written: each with a semicolon and a plain line end. Zeros before an id are not part of its line. */
function areLines({ bytes, starts, ends, count }: ListfileRows): boolean {
  for (let row = 0; row < count; row++) {
    if (bytes[starts[row]! - 1] !== semicolon || bytes[ends[row]!] !== lf) return false;
  }
  return true;
}

function digitsOf(id: number): number {
  let digits = 1;
  for (let least = 10; id >= least; least *= 10) digits += 1;
  return digits;
}
