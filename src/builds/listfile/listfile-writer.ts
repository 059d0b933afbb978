import { nameHash } from '../../core/jenkins.ts';
import { IdSet } from '../../core/tables/id-set.ts';
import { DurableFile } from '../../files/durable.ts';
import { SortedRuns } from '../../files/sorted-runs.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { writeLookupFile } from '../../store/lookup-file.ts';
import { listfilePaths, listfileRows } from './listfile-index.ts';

const { idStride, hashStride, noId } = listfileRows;

/** Writes a version of the list of names, in little memory. Needs `close`. */
export class ListfileWriter {
  /** Rows that were added. */
  rows = 0;
  /** Ids that were added. */
  readonly ids = new IdSet();
  readonly #folders: LookupFolders;
  readonly #text: DurableFile;
  readonly #idRuns: SortedRuns;
  readonly #hashRuns: SortedRuns;

  constructor(folders: LookupFolders) {
    this.#folders = folders;
    this.#text = new DurableFile(folders.temporary);
    // The offset stands right behind the key, so of rows with one key the last that was added comes last.
    this.#idRuns = new SortedRuns(folders.temporary, { stride: idStride, keySize: 9 });
    this.#hashRuns = new SortedRuns(folders.temporary, { stride: hashStride, keySize: 13 });
  }

  /** Removes what is not finished. */
  close(): void {
    this.#text.close();
    this.#idRuns.close();
    this.#hashRuns.close();
  }

  add(id: number | undefined, name: string): void {
    const head = `${id ?? ''};`;
    const line = Buffer.from(`${head}${name}\n`);
    const at = this.#text.size + head.length;
    const size = line.length - head.length - 1;
    this.#text.append(line);
    const hashRow = this.#hashRuns.add();
    hashRow.set(nameHash(name), 0);
    writePlace(hashRow, 8, { at, size });
    hashRow.writeUInt32BE(id ?? noId, 15);
    this.rows += 1;
    if (id === undefined) return;
    const idRow = this.#idRuns.add();
    idRow.writeUInt32BE(id, 0);
    writePlace(idRow, 4, { at, size });
    this.ids.add(id);
  }

  /** The rows of the hashes so far, in order; as {@link SortedRuns.rows}. */
  hashRows(): Generator<Uint8Array> {
    return this.#hashRuns.rows();
  }

  /** Puts the version in its place, under a base of its own. @throws E_ABORTED, E_STORE… */
  async finish(base: string, signal?: AbortSignal): Promise<void> {
    const paths = listfilePaths(this.#folders, base);
    this.#text.finish(paths.text);
    const ids = lastOfEach(this.#idRuns.rows(), 4);
    const { temporary } = this.#folders;
    await writeLookupFile(paths.ids, { stride: idStride, rows: ids }, temporary, signal);
    await writeLookupFile(paths.hashes, { stride: hashStride, rows: this.#hashRuns.rows() }, temporary, signal);
  }
}

/** An offset u40 and a size u16. */
function writePlace(row: Buffer, to: number, { at, size }: { at: number; size: number }): void {
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
