import { breathe } from '../../../core/breathe.ts';
import { u32At, viewOf, writeU32 } from '../../../core/bytes.ts';
import { type ViewPart, writeNameHash } from '../../../core/jenkins.ts';
import { IdSet } from '../../../core/tables/id-set.ts';
import { waitForAll } from '../../../core/wait-for-all.ts';
import { SortedRuns } from '../../../files/sorted/sorted-runs.ts';
import { SortedTexts } from '../../../files/sorted/sorted-texts.ts';
import { type ListfileRows, noListedId } from '../../../formats/roots/listfile-rows.ts';
import type { DerivedFile } from '../../../store/derived/derived-file.ts';
import type { LookupFolders } from '../../../store/layout.ts';
import type { ThreadUse } from '../../../threads/thread-pool.ts';
import { listfilePaths, listfileRows } from '../listfile-paths.ts';
import { linesOf, type NameBytes, TextWriter } from '../listfile-text.ts';
import { ListfileLookups, type WritingOptions } from './listfile-lookups.ts';
import { NamesInMemory } from './names-in-memory.ts';

const { noId } = listfileRows;

/** Bytes of memory for names, with all that is made of them: a list of two million of today takes so much. More are sorted on disk. */
const memoryForNames = 216 << 20;

/** Writes a version of the list of names, in memory that does not grow with very long ones. Needs `close`. */
export class ListfileWriter {
  /** Rows that were added. */
  rows = 0;
  /** Ids that were added. */
  readonly ids = new IdSet();
  readonly #folders: LookupFolders;
  #memory: NamesInMemory | undefined;
  /** Memory that had names. */
  #spare: ArrayBufferLike | undefined;
  /** Names that are too many for the memory. */
  #sorted: SortedTexts | undefined;
  /** The hashes of names without an id. */
  readonly #unnamed: SortedRuns;
  /** Ids that came more than once. */
  readonly #repeated = new IdSet();
  /** The id u32 and the number u32 of the row that is being added. */
  readonly #numbers = new Uint8Array(8);

  /** @param options.memory bytes that names may take before they are sorted on disk */
  constructor(
    folders: LookupFolders,
    { memory = memoryForNames, ...threads }: ThreadUse & { memory?: number | undefined } = {},
  ) {
    this.#folders = folders;
    this.#memory = new NamesInMemory(folders, memory, threads);
    this.#unnamed = new SortedRuns(folders.temporary, { stride: 8, keySize: 8 });
  }

  /** Removes what is not finished. */
  async close(): Promise<void> {
    await this.#memory?.close();
    this.#sorted?.close();
    this.#unnamed.close();
  }

  /** Adds the rows of a piece of a list. */
  addRows(rows: ListfileRows): void {
    const { bytes, ids, starts, ends, count } = rows;
    const isAdded = this.#memory?.addRows(rows) === true;
    for (let row = 0; row < count; row++) {
      const id = ids[row]!;
      // Nothing is made for a name that has an id, as nearly all have.
      if (isAdded && id !== noListedId) this.#countId(id);
      else {
        const name = { bytes, start: starts[row]!, end: ends[row]! };
        if (isAdded) this.#countUnnamed(name);
        else this.add(id === noListedId ? undefined : id, name);
      }
    }
  }

  add(id: number | undefined, name: NameBytes): void {
    if (this.#memory?.add(id, name) !== true) this.#addSorted(id, name);
    if (id === undefined) this.#countUnnamed(name);
    else this.#countId(id);
  }

  #countUnnamed(name: NameBytes): void {
    this.rows += 1;
    writeNameHash(this.#unnamed.memory, this.#unnamed.addAt(), name);
  }

  #countId(id: number): void {
    this.rows += 1;
    if (!this.ids.add(id)) this.#repeated.add(id);
  }

  #addSorted(id: number | undefined, { bytes, start, end }: NameBytes): void {
    const sorted = this.#sorted ?? this.#moveToDisk();
    writeU32(this.#numbers, 0, id ?? noId);
    writeU32(this.#numbers, 4, this.rows);
    sorted.addBytes(bytes, start, { end, beside: this.#numbers });
  }

  /** Leaves the memory to other things. */
  #moveToDisk(): SortedTexts {
    const sorted = new SortedTexts(this.#folders.temporary);
    this.#sorted = sorted;
    let number = 0;
    for (const { id, bytes, start, end } of this.#memory?.names() ?? []) {
      writeU32(this.#numbers, 0, id ?? noId);
      writeU32(this.#numbers, 4, number);
      sorted.addBytes(bytes, start, { end, beside: this.#numbers });
      number += 1;
    }
    this.#spare = this.#memory?.release();
    this.#memory = undefined;
    return sorted;
  }

  /** The hashes of the names without an id so far, in order; as {@link SortedRuns.rows}. */
  unnamedHashes(): Generator<Uint8Array> {
    return this.#unnamed.rows();
  }

  /** Puts the version in its place, under a base of its own. Nothing can be added any more. @throws E_ABORTED, E_STORE… */
  async finish(base: string, options: WritingOptions = {}): Promise<void> {
    const isRepeated = this.#repeated.size > 0;
    if (this.#sorted === undefined) return this.#memory?.write(base, { ...options, isRepeated });
    const text = new TextWriter(this.#folders.temporary);
    const lookups = new ListfileLookups(this.#folders, { rows: this.rows, memory: this.#spare });
    try {
      await this.#writeSorted(this.#sorted, { text, lookups }, options.signal);
      const { mark, isDone } = text.finish(listfilePaths(this.#folders, base).text);
      await waitForAll(isDone, lookups.write(base, mark, options));
    } finally {
      text.close();
      lookups.close();
    }
  }

  async #writeSorted(
    sorted: SortedTexts,
    { text, lookups }: { text: TextWriter; lookups: ListfileLookups },
    signal?: AbortSignal,
  ): Promise<void> {
    const replaced = await this.#replacedRows(sorted, signal);
    const view = viewsOfNames();
    let count = 0;
    for (const row of sorted.rows()) {
      count += 1;
      if (count % rowsPerTurn === 0) await breathe(signal);
      if (replaced.size > 0 && replaced.has(u32At(row.bytes, row.end + 4))) continue;
      const number = u32At(row.bytes, row.end);
      const id = number === noId ? undefined : number;
      lookups.add(id, view(row), { at: text.add(id, row), size: row.end - row.start });
    }
  }

  /** The rows whose id came again later. */
  async #replacedRows(sorted: SortedTexts, signal?: AbortSignal): Promise<IdSet> {
    const replaced = new IdSet();
    if (this.#repeated.size === 0) return replaced;
    const last = new Map<number, number>();
    let count = 0;
    for (const { bytes, end } of sorted.rows()) {
      count += 1;
      if (count % rowsPerTurn === 0) await breathe(signal);
      const [id, row] = [u32At(bytes, end), u32At(bytes, end + 4)];
      if (id === noId || !this.#repeated.has(id)) continue;
      const other = last.get(id);
      if (other !== undefined) replaced.add(Math.min(row, other));
      last.set(id, Math.max(row, other ?? row));
    }
    return replaced;
  }
}

/** Rows that are gone through before the clock is looked at. */
const rowsPerTurn = 4096;

/** Views of names that follow one another in few memories: one for each of these. */
function viewsOfNames(): (name: NameBytes) => ViewPart {
  let last: Uint8Array | undefined;
  const part: ViewPart = { view: new DataView(new ArrayBuffer(0)), start: 0, end: 0 };
  return ({ bytes, start, end }) => {
    if (bytes !== last) part.view = viewOf(bytes);
    last = bytes;
    part.start = start;
    part.end = end;
    return part;
  };
}

/** Makes BASE.ids and BASE.hashes again from the text. @throws E_FORMAT_CHECKSUM when the text is damaged, E_STORE… */
export async function remakeLookups(folders: LookupFolders, base: string, text: DerivedFile): Promise<void> {
  const lookups = new ListfileLookups(folders);
  const view = viewsOfNames();
  try {
    for (const line of linesOf(text)) {
      lookups.add(line.id, view(line), { at: line.at, size: line.end - line.start });
      await breathe();
    }
    await lookups.write(base, text.mark);
  } finally {
    lookups.close();
  }
}

/** Makes the text of a version again, sorted, from that of an earlier pakrat. @throws as {@link remakeLookups} */
export async function sortText(folders: LookupFolders, base: string, unsorted: DerivedFile): Promise<void> {
  const writer = new ListfileWriter(folders, { threads: 0 });
  try {
    for (const line of linesOf(unsorted)) {
      writer.add(line.id, line);
      await breathe();
    }
    await writer.finish(base);
  } finally {
    await writer.close();
  }
}
