import { breathe } from '../../core/breathe.ts';
import { nameHash } from '../../core/jenkins.ts';
import { IdSet } from '../../core/tables/id-set.ts';
import { SortedRuns } from '../../files/sorted-runs.ts';
import type { DerivedFile } from '../../store/derived/derived-file.ts';
import { DerivedWriter } from '../../store/derived/derived-writer.ts';
import { writeLookupFile } from '../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { listfilePaths, listfileRows } from './listfile-paths.ts';

const { idStride, hashStride, noId } = listfileRows;

/** The offset and the bytes of a name in the text. */
interface NamePlace {
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

  hashRows(): Generator<Uint8Array> {
    return this.#hashRuns.rows();
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
  readonly #text: DerivedWriter;
  readonly #lookups: ListfileLookups;

  constructor(folders: LookupFolders) {
    this.#folders = folders;
    this.#text = new DerivedWriter(folders.temporary);
    this.#lookups = new ListfileLookups(folders);
  }

  /** Removes what is not finished. */
  close(): void {
    this.#text.close();
    this.#lookups.close();
  }

  add(id: number | undefined, name: string): void {
    const head = `${id ?? ''};`;
    const line = Buffer.from(`${head}${name}\n`);
    this.#lookups.add(id, name, { at: this.#text.size + head.length, size: line.length - head.length - 1 });
    this.#text.append(line);
    this.rows += 1;
    if (id !== undefined) this.ids.add(id);
  }

  /** The rows of the hashes so far, in order; as {@link SortedRuns.rows}. */
  hashRows(): Generator<Uint8Array> {
    return this.#lookups.hashRows();
  }

  /** Puts the version in its place, under a base of its own. @throws E_ABORTED, E_STORE… */
  async finish(base: string, signal?: AbortSignal): Promise<void> {
    const of = this.#text.finish(listfilePaths(this.#folders, base).text);
    await this.#lookups.write(base, of, signal);
  }
}

/** Makes BASE.ids and BASE.hashes again from the text. @throws E_FORMAT_CHECKSUM when the text is damaged, E_STORE… */
export async function remakeLookups(folders: LookupFolders, base: string, text: DerivedFile): Promise<void> {
  const lookups = new ListfileLookups(folders);
  try {
    for (const { start, line } of linesOf(text)) {
      const head = line.indexOf(';') + 1;
      const id = head === 1 ? undefined : Number(line.toString('latin1', 0, head - 1));
      lookups.add(id, line.toString('utf8', head), { at: start + head, size: line.length - head });
      await breathe();
    }
    await lookups.write(base, text.mark);
  } finally {
    lookups.close();
  }
}

const pieceSize = 1 << 20;

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
