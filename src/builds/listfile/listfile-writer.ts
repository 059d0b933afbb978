import { breathe } from '../../core/breathe.ts';
import { asBuffer } from '../../core/bytes.ts';
import { nameHash } from '../../core/jenkins.ts';
import { IdSet } from '../../core/tables/id-set.ts';
import { SortedRuns } from '../../files/sorted-runs.ts';
import { SortedTexts } from '../../files/sorted-texts.ts';
import type { DerivedFile } from '../../store/derived/derived-file.ts';
import { DerivedWriter } from '../../store/derived/derived-writer.ts';
import { writeLookupFile } from '../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { listfilePaths, listfileRows } from './listfile-paths.ts';

const { idStride, hashStride, noId } = listfileRows;

/** The offset and the bytes of a name in the text: names are sorted as their offsets are. */
export interface NamePlace {
  at: number;
  size: number;
}

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

  add(id: number | undefined, name: string, place: NamePlace): void {
    const hash = nameHash(name);
    const hashRow = this.#hashRuns.add();
    hashRow.set(hash, 0);
    writePlace(hashRow, 8, place);
    hashRow.writeUInt32BE(id ?? noId, 15);
    if (id === undefined) return;
    const idRow = this.#idRuns.add();
    idRow.writeUInt32BE(id, 0);
    writePlace(idRow, 4, place);
    idRow.set(hash, 11);
  }

  /** @param of mark of the text */
  async write(base: string, of: number, signal?: AbortSignal): Promise<void> {
    const paths = listfilePaths(this.#folders, base);
    const { temporary } = this.#folders;
    const [ids, hashes] = [lastOfEach(this.#idRuns.rows(), 4), this.#hashRuns.rows()];
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
  /** Each id u32 with the number of its row u32. */
  readonly #idRows: SortedRuns;
  /** The hashes of names without an id. */
  readonly #unnamed: SortedRuns;
  /** An id came more than once. */
  #isRepeated = false;

  constructor(folders: LookupFolders) {
    this.#folders = folders;
    const { temporary } = folders;
    this.#names = new SortedTexts(temporary);
    this.#idRows = new SortedRuns(temporary, { stride: 8, keySize: 8 });
    this.#unnamed = new SortedRuns(temporary, { stride: 8, keySize: 8 });
  }

  /** Removes what is not finished. */
  close(): void {
    for (const sorter of [this.#names, this.#idRows, this.#unnamed]) sorter.close();
  }

  add(id: number | undefined, name: string): void {
    const numbers = Buffer.allocUnsafe(8);
    numbers.writeUInt32BE(id ?? noId, 0);
    numbers.writeUInt32BE(this.rows, 4);
    this.#names.add(name, numbers);
    this.rows += 1;
    if (id === undefined) {
      this.#unnamed.add().set(nameHash(name));
      return;
    }
    this.#isRepeated ||= this.ids.has(id);
    this.ids.add(id);
    this.#idRows.add().set(numbers);
  }

  /** The hashes of the names without an id so far, in order; as {@link SortedRuns.rows}. */
  unnamedHashes(): Generator<Uint8Array> {
    return this.#unnamed.rows();
  }

  /** Puts the version in its place, under a base of its own. @throws E_ABORTED, E_STORE… */
  async finish(base: string, signal?: AbortSignal): Promise<void> {
    const replaced = this.#replacedRows();
    const text = new DerivedWriter(this.#folders.temporary);
    const lookups = new ListfileLookups(this.#folders);
    let count = 0;
    try {
      for (const { text: name, beside } of this.#names.rows()) {
        if (replaced.has(beside.readUInt32BE(4))) continue;
        const id = beside.readUInt32BE(0) === noId ? undefined : beside.readUInt32BE(0);
        const line = `${id ?? ''};${name.toString('latin1')}\n`;
        const size = name.length;
        lookups.add(id, name.toString(), { at: text.size + line.length - size - 1, size });
        text.append(Buffer.from(line, 'latin1'));
        count += 1;
        if (count % rowsPerTurn === 0) await breathe(signal);
      }
      await lookups.write(base, text.finish(listfilePaths(this.#folders, base).text), signal);
    } finally {
      text.close();
      lookups.close();
    }
  }

  /** The rows whose id came again later. */
  #replacedRows(): IdSet {
    const replaced = new IdSet();
    let last: { id: number; row: number } | undefined;
    for (const bytes of this.#isRepeated ? this.#idRows.rows() : []) {
      const view = asBuffer(bytes);
      const next = { id: view.readUInt32BE(0), row: view.readUInt32BE(4) };
      if (last?.id === next.id) replaced.add(last.row);
      last = next;
    }
    return replaced;
  }
}

/** Rows that are written before the clock is looked at. */
const rowsPerTurn = 256;

/** Makes BASE.ids and BASE.hashes again from the text. @throws E_FORMAT_CHECKSUM when the text is damaged, E_STORE… */
export async function remakeLookups(folders: LookupFolders, base: string, text: DerivedFile): Promise<void> {
  const lookups = new ListfileLookups(folders);
  try {
    for (const { id, name, at, size } of namesOf(text)) {
      lookups.add(id, name, { at, size });
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
    for (const { id, name } of namesOf(unsorted)) {
      writer.add(id, name);
      await breathe();
    }
    await writer.finish(base);
  } finally {
    writer.close();
  }
}

const pieceSize = 1 << 20;

/** A line of the text: its name, where that lies, and its id. */
export interface TextName extends NamePlace {
  id: number | undefined;
  name: string;
}

/** The names of the text, line by line. */
export function* namesOf(text: DerivedFile): Generator<TextName> {
  for (const { start, line } of linesOf(text)) {
    const head = line.indexOf(';') + 1;
    const id = head === 1 ? undefined : Number(line.toString('latin1', 0, head - 1));
    yield { id, name: line.toString('utf8', head), at: start + head, size: line.length - head };
  }
}

/** The lines of the text, without their ends. */
function* linesOf(text: DerivedFile): Generator<{ start: number; line: Buffer }> {
  let rest = Buffer.alloc(0);
  for (let offset = 0; offset < text.size; offset += pieceSize) {
    const bytes = Buffer.concat([rest, text.read(offset, Math.min(pieceSize, text.size - offset))]);
    const first = offset - rest.length;
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      yield { start: first + start, line: bytes.subarray(start, end) };
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
}

/** An offset u40 and a size u16. */
function writePlace(row: Buffer, to: number, { at, size }: NamePlace): void {
  row.writeUIntBE(at, to, 5);
  row.writeUInt16BE(size, to + 5);
}

/** Of sorted rows that share their first `keySize` bytes only the last stays. */
function* lastOfEach(rows: Iterable<Uint8Array>, keySize: number): Generator<Uint8Array> {
  let held: Uint8Array | undefined;
  for (const row of rows) {
    if (held !== undefined && Buffer.compare(held.subarray(0, keySize), row.subarray(0, keySize)) !== 0) yield held;
    held = row;
  }
  if (held !== undefined) yield held;
}
