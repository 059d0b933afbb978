import { breathe } from '../../../core/breathe.ts';
import { IdSet } from '../../../core/tables/id-set.ts';
import { waitForAll } from '../../../core/wait-for-all.ts';
import { type ListfileRows, noListedId } from '../../../formats/roots/listfile-rows.ts';
import type { LookupFolders } from '../../../store/layout.ts';
import type { ThreadUse } from '../../../threads/thread-pool.ts';
import { listfilePaths, listfileRows } from '../listfile-paths.ts';
import { type NameBytes, TextWriter } from '../listfile-text.ts';
import {
  copyRows,
  dealtWords,
  hashNames,
  hashPieces,
  idAt,
  idPieces,
  type ListedRows,
  listedRows,
  memoryOf,
  offsetAt,
  orderOfHashes,
  rowWords,
  sizeAt,
  startAt,
} from './listed-rows.ts';
import { type WritingOptions, writeHashes, writeIds } from './listfile-lookups.ts';
import { ListfileThread } from './listfile-thread.ts';
import { foldersOf, type PlacedNames, sortedNames } from './sorted-names.ts';

const { noId } = listfileRows;
const [lf, semicolon] = [0x0a, 0x3b];

/**
 * Memory grows to twice its size up to so many bytes of lines, and so many names; then to all that it may have: what is not written to costs nothing, and what was
 * grown from would wait to be collected. More names are worth a thread.
 */
const fewBytes = 1 << 22;
const fewNames = 1 << 16;
/** Bytes that a name costs beside its line until all is written. */
const bytesOfName = 40;
/** Names that are written before the clock is looked at. */
const namesPerTurn = 4096;

/**
 * The names of a list with their ids, as lines in memory: sorted they are copied from there, many at a time where they follow one another, and nothing but
 * what is the result is written to disk. Needs `close`.
 */
export class NamesInMemory {
  count = 0;
  readonly #folders: LookupFolders;
  readonly #limit: number;
  readonly #threads: ThreadUse;
  #bytes: Uint8Array = new Uint8Array(1 << 12);
  #filled = 0;
  /** Each name: its line is `id;name` and a line end. */
  #rows = listedRows(1 << 8);
  /** Goes through the names as well, where they are many. */
  #thread: ListfileThread | undefined;

  /** @param limit bytes of memory that all of it may take */
  constructor(folders: LookupFolders, limit: number, threads: ThreadUse) {
    this.#folders = folders;
    this.#limit = limit;
    this.#threads = threads;
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }

  /** Ends the use of these names. @returns the memory of their lines, for other things: when it is shared, nobody collects it for long */
  release(): ArrayBufferLike {
    void this.close();
    return this.#bytes.buffer;
  }

  /** Adds the rows of a piece of a list. @returns false where there is no room for them: none was added */
  addRows(rows: ListfileRows): boolean {
    const { bytes, ids, starts, ends, count } = rows;
    if (!this.#isRoomFor(count, bytes.length + count)) return false;
    if (areLines(rows)) this.#addLines(rows);
    else {
      for (let row = 0; row < count; row++) {
        const id = ids[row] === noListedId ? undefined : ids[row];
        this.#addLine(id, { bytes, start: starts[row]!, end: ends[row]! });
      }
    }
    this.#thread?.reach(this.count);
    return true;
  }

  #addLines({ bytes, ids, starts, ends, count }: ListfileRows): void {
    this.#reserve(count, bytes.length);
    const first = this.#filled;
    this.#bytes.set(bytes, first);
    this.#filled += bytes.length;
    const { words } = this.#rows;
    for (let row = 0, at = this.count * rowWords; row < count; row++, at += rowWords) {
      words[at + startAt] = first + starts[row]!;
      words[at + sizeAt] = ends[row]! - starts[row]!;
      // What stands for no id in a list becomes what does so in its files.
      words[at + idAt] = ids[row]!;
    }
    this.count += count;
  }

  /** Adds a name. @returns false where there is no room for it */
  add(id: number | undefined, name: NameBytes): boolean {
    if (!this.#isRoomFor(1, name.end - name.start + 1)) return false;
    this.#addLine(id, name);
    return true;
  }

  #addLine(id: number | undefined, { bytes, start, end }: NameBytes): void {
    const before = id === undefined ? 0 : digitsOf(id);
    this.#reserve(1, before + 2 + end - start);
    const memory = this.#bytes;
    let at = this.#filled + before;
    for (let i = 1, rest = id ?? 0; i <= before; i++, rest = Math.floor(rest / 10)) memory[at - i] = 0x30 + (rest % 10);
    memory[at++] = semicolon;
    const row = this.count * rowWords;
    this.#rows.words[row + startAt] = at;
    this.#rows.words[row + sizeAt] = end - start;
    this.#rows.words[row + idAt] = id ?? noId;
    this.count += 1;
    for (let from = start; from < end; from++) memory[at++] = bytes[from]!;
    memory[at] = lf;
    this.#filled = at + 1;
  }

  #isRoomFor(names: number, bytes: number): boolean {
    // The id and what is around it have twelve bytes at most.
    return this.#filled + bytes + 12 * names + (this.count + names) * bytesOfName <= this.#limit;
  }

  /** Makes room, twice what is needed. Of many names it is all the room that there may be, shared with a thread. */
  #reserve(names: number, bytes: number): void {
    const [allNames, allBytes] = [this.count + names, this.#filled + bytes];
    const [lacksNames, lacksBytes] = [allNames * rowWords > this.#rows.words.length, allBytes > this.#bytes.length];
    if (!lacksNames && !lacksBytes) return;
    if (allNames <= fewNames && allBytes <= fewBytes) {
      if (lacksBytes) this.#growBytes(Math.min(2 * allBytes, fewBytes), false);
      if (lacksNames) this.#growNames(Math.min(2 * allNames, fewNames), false);
      return;
    }
    this.#growBytes(Math.max(allBytes, this.#limit), true);
    this.#growNames(Math.max(allNames, Math.ceil(this.#limit / bytesOfName)), true);
    this.#thread = ListfileThread.start(this.#placed(), this.#folders, this.#threads);
  }

  #growBytes(length: number, isShared: boolean): void {
    const larger = new Uint8Array(memoryOf(length, isShared));
    larger.set(this.#bytes.subarray(0, this.#filled));
    this.#bytes = larger;
  }

  #growNames(length: number, isShared: boolean): void {
    const larger = listedRows(length, isShared);
    copyRows(this.#rows, larger);
    this.#rows = larger;
  }

  #placed(): PlacedNames & ListedRows {
    return { bytes: this.#bytes, ...this.#rows };
  }

  /** The names in the order in which they were added. */
  *names(): Generator<NameBytes & { id: number | undefined }> {
    const { words } = this.#rows;
    const name: NameBytes & { id: number | undefined } = { id: undefined, bytes: this.#bytes, start: 0, end: 0 };
    for (let from = 0; from < this.count * rowWords; from += rowWords) {
      const id = words[from + idAt]!;
      name.id = id === noId ? undefined : id;
      name.start = words[from + startAt]!;
      name.end = name.start + words[from + sizeAt]!;
      yield name;
    }
  }

  /**
   * Writes a version of the list: the names in order, of an id that came more than once the last; and what they are found by.
   * @throws E_ABORTED, E_STORE…
   */
  async write(base: string, { isRepeated, signal, onIds }: WritingOptions & { isRepeated: boolean }): Promise<void> {
    const [folders, thread, rows, count] = [this.#folders, this.#thread, this.#rows, this.count];
    const order = await this.#inOrder(isRepeated);
    const text = new TextWriter(folders.temporary);
    try {
      await this.#writeLines(text, order, signal);
      if (thread === undefined) hashNames(rows, new DataView(this.#bytes.buffer), [0, count]);
      else await thread.hashed();
      const { mark: of, isDone } = text.finish(listfilePaths(folders, base).text);
      // The lines are written: the thread deals names in the first part of their memory, this one in the second.
      const memory = thread && new Uint32Array(this.#bytes.buffer, 4 * dealtWords * count, dealtWords * count);
      await waitForAll(
        isDone,
        writeIds(folders, base, { rows: idPieces(rows, count, memory), of }, { signal, onIds }),
        thread?.write(base, of, signal) ??
          writeHashes(folders, base, { rows: hashPieces(orderOfHashes(rows, count)), of }, signal),
      );
    } finally {
      text.close();
    }
  }

  /** The names by their bytes, without those whose id came again: these are left out from now on. */
  async #inOrder(isRepeated: boolean): Promise<Uint32Array> {
    const [thread, count] = [this.#thread, this.count];
    thread?.reach(count);
    const names = this.#placed();
    const order = sortedNames(names, count, await (thread?.foundFolders() ?? foldersOf(names, count)));
    if (!isRepeated) return order;
    const replaced = this.#replaced();
    for (const name of replaced) names.words[name * rowWords + sizeAt] = 0;
    return order.filter((name) => !replaced.has(name));
  }

  /** Adds lines to the text, and notes where in it their names are. */
  async #writeLines(text: TextWriter, order: Uint32Array, signal: AbortSignal | undefined): Promise<void> {
    const [bytes, { words }] = [this.#bytes, this.#rows];
    for (let i = 0; i < order.length; ) {
      const first = this.#lineStart(order[i]!);
      let [last, end] = [i, this.#lineEnd(order[i]!)];
      while (last + 1 < order.length && last - i < namesPerTurn && this.#lineStart(order[last + 1]!) === end) {
        last += 1;
        end = this.#lineEnd(order[last]!);
      }
      const shift = text.addLines(bytes, first, end) - first;
      for (; i <= last; i++) {
        const from = order[i]! * rowWords;
        words[from + offsetAt] = words[from + startAt]! + shift;
        if (i % namesPerTurn === 0) await breathe(signal);
      }
    }
  }

  #lineStart(row: number): number {
    const from = row * rowWords;
    const id = this.#rows.words[from + idAt]!;
    return this.#rows.words[from + startAt]! - 1 - (id === noId ? 0 : digitsOf(id));
  }

  #lineEnd(row: number): number {
    return this.#rows.words[row * rowWords + startAt]! + this.#rows.words[row * rowWords + sizeAt]! + 1;
  }

  /** The names whose id came again later, by their numbers. */
  #replaced(): IdSet {
    const [seen, replaced] = [new IdSet(), new IdSet()];
    for (let i = this.count - 1; i >= 0; i--) {
      const id = this.#rows.words[i * rowWords + idAt]!;
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
  if (id < 1e5) return id < 1e2 ? (id < 10 ? 1 : 2) : id < 1e3 ? 3 : id < 1e4 ? 4 : 5;
  if (id < 1e7) return id < 1e6 ? 6 : 7;
  return id < 1e8 ? 8 : id < 1e9 ? 9 : 10;
}
