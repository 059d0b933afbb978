import { breathe } from '../../core/breathe.ts';
import { u32At, writeU32 } from '../../core/bytes.ts';
import { writeNameHash } from '../../core/jenkins.ts';
import { IdSet } from '../../core/tables/id-set.ts';
import { SortedRuns } from '../../files/sorted-runs.ts';
import { SortedTexts } from '../../files/sorted-texts.ts';
import type { DerivedFile } from '../../store/derived/derived-file.ts';
import { writeLookupFile } from '../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { listfilePaths, listfileRows } from './listfile-paths.ts';
import { linesOf, type NameBytes, type NamePlace, TextWriter } from './listfile-text.ts';

const { idStride, hashStride, noId } = listfileRows;

/** The rows of BASE.ids and BASE.hashes, sorted in little memory. Needs `close`. */
class ListfileLookups {
  readonly #folders: LookupFolders;
  readonly #idRuns: SortedRuns;
  readonly #hashRuns: SortedRuns;

  constructor(folders: LookupFolders) {
    this.#folders = folders;
    // The offset stands right behind the key, so of rows with one key the last that was added comes last.
    this.#idRuns = new SortedRuns(folders.temporary, { stride: idStride, keySize: 9 });
    this.#hashRuns = new SortedRuns(folders.temporary, { stride: hashStride, keySize: 13 });
  }

  close(): void {
    this.#idRuns.close();
    this.#hashRuns.close();
  }

  /** @param at offset of the name in the text, @param size its bytes, as `name` has them */
  add(id: number | undefined, name: NameBytes, { at, size }: NamePlace): void {
    const hashes = this.#hashRuns.memory;
    const hashAt = this.#hashRuns.addAt();
    writeNameHash(hashes, hashAt, name);
    writePlace(hashes, hashAt + 8, at, size);
    writeU32(hashes, hashAt + 15, id ?? noId);
    if (id === undefined) return;
    const ids = this.#idRuns.memory;
    const idAt = this.#idRuns.addAt();
    writeU32(ids, idAt, id);
    writePlace(ids, idAt + 4, at, size);
    for (let i = 0; i < 8; i++) ids[idAt + 11 + i] = hashes[hashAt + i]!;
  }

  /** @param of mark of the text */
  async write(base: string, of: number, signal?: AbortSignal): Promise<void> {
    const paths = listfilePaths(this.#folders, base);
    const { temporary } = this.#folders;
    const [ids, hashes] = [lastOfEach(this.#idRuns.pieces()), this.#hashRuns.pieces()];
    await writeLookupFile(paths.ids, { stride: idStride, rows: ids, of }, temporary, signal);
    await writeLookupFile(paths.hashes, { stride: hashStride, rows: hashes, of }, temporary, signal);
  }
}

/** Writes a version of the list of names, in little memory. Needs `close`. */
export class ListfileWriter {
  /** Rows that were added. */
  rows = 0;
  /** Ids that were added. */
  readonly ids = new IdSet();
  readonly #folders: LookupFolders;
  readonly #names: SortedTexts;
  /** The hashes of names without an id. */
  readonly #unnamed: SortedRuns;
  /** Ids that came more than once. */
  readonly #repeated = new IdSet();
  /** The id u32 and the number u32 of the row that is being added. */
  readonly #numbers = new Uint8Array(8);

  constructor(folders: LookupFolders) {
    this.#folders = folders;
    const { temporary } = folders;
    this.#names = new SortedTexts(temporary);
    this.#unnamed = new SortedRuns(temporary, { stride: 8, keySize: 8 });
  }

  /** Removes what is not finished. */
  close(): void {
    for (const sorter of [this.#names, this.#unnamed]) sorter.close();
  }

  add(id: number | undefined, name: NameBytes): void {
    const { bytes, start, end } = name;
    writeU32(this.#numbers, 0, id ?? noId);
    writeU32(this.#numbers, 4, this.rows);
    this.#names.addBytes(bytes, start, { end, beside: this.#numbers });
    this.rows += 1;
    if (id === undefined) {
      const at = this.#unnamed.addAt();
      writeNameHash(this.#unnamed.memory, at, name);
      return;
    }
    if (this.ids.has(id)) this.#repeated.add(id);
    else this.ids.add(id);
  }

  /** The hashes of the names without an id so far, in order; as {@link SortedRuns.rows}. */
  unnamedHashes(): Generator<Uint8Array> {
    return this.#unnamed.rows();
  }

  /** Puts the version in its place, under a base of its own. @throws E_ABORTED, E_STORE… */
  async finish(base: string, signal?: AbortSignal): Promise<void> {
    const replaced = await this.#replacedRows(signal);
    const text = new TextWriter(this.#folders.temporary);
    const lookups = new ListfileLookups(this.#folders);
    let count = 0;
    try {
      for (const row of this.#names.rows()) {
        count += 1;
        if (count % rowsPerTurn === 0) await breathe(signal);
        if (replaced.size > 0 && replaced.has(u32At(row.bytes, row.end + 4))) continue;
        const number = u32At(row.bytes, row.end);
        const id = number === noId ? undefined : number;
        lookups.add(id, row, { at: text.add(id, row), size: row.end - row.start });
      }
      await lookups.write(base, text.finish(listfilePaths(this.#folders, base).text), signal);
    } finally {
      text.close();
      lookups.close();
    }
  }

  /** The rows whose id came again later. */
  async #replacedRows(signal?: AbortSignal): Promise<IdSet> {
    const replaced = new IdSet();
    if (this.#repeated.size === 0) return replaced;
    const last = new Map<number, number>();
    let count = 0;
    for (const { bytes, end } of this.#names.rows()) {
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
/** Makes BASE.ids and BASE.hashes again from the text. @throws E_FORMAT_CHECKSUM when the text is damaged, E_STORE… */
export async function remakeLookups(folders: LookupFolders, base: string, text: DerivedFile): Promise<void> {
  const lookups = new ListfileLookups(folders);
  try {
    for (const line of linesOf(text)) {
      lookups.add(line.id, line, { at: line.at, size: line.end - line.start });
      await breathe();
    }
    await lookups.write(base, text.mark);
  } finally {
    lookups.close();
  }
}

/** Makes the text of a version again, sorted, from that of an earlier pakrat. @throws as {@link remakeLookups} */
export async function sortText(folders: LookupFolders, base: string, unsorted: DerivedFile): Promise<void> {
  const writer = new ListfileWriter(folders);
  try {
    for (const line of linesOf(unsorted)) {
      writer.add(line.id, line);
      await breathe();
    }
    await writer.finish(base);
  } finally {
    writer.close();
  }
}

/** An offset u40 and a size u16. */
function writePlace(row: Uint8Array, to: number, at: number, size: number): void {
  row[to] = at / 0x1_0000_0000;
  writeU32(row, to + 1, at);
  row[to + 5] = size >>> 8;
  row[to + 6] = size;
}

/** Of sorted rows of BASE.ids, in pieces, only the last of an id stays. */
function* lastOfEach(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held = new Uint8Array();
  for (const piece of pieces) {
    const rows = new Uint8Array(held.length + piece.length);
    let filled = 0;
    const add = (row: Uint8Array, from: number): void => {
      for (let i = 0; i < idStride; i++) rows[filled + i] = row[from + i]!;
      filled += idStride;
    };
    if (held.length > 0) add(held, 0);
    for (let at = 0; at < piece.length; at += idStride) {
      const isSame = filled > 0 && u32At(piece, at) === u32At(rows, filled - idStride);
      if (isSame) filled -= idStride;
      add(piece, at);
    }
    yield rows.subarray(0, filled - idStride);
    held = rows.slice(filled - idStride, filled);
  }
  if (held.length > 0) yield held;
}
