import { u32At } from '../../../core/bytes.ts';
import { putNameHash, type ViewPart } from '../../../core/jenkins.ts';
import { SortedRuns } from '../../../files/sorted/sorted-runs.ts';
import { LookupFile, writeLookupFile } from '../../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../../store/layout.ts';
import { listfilePaths, listfileRows } from '../listfile-paths.ts';
import type { NamePlace } from '../listfile-text.ts';
import {
  copyRows,
  dealtWords,
  hashPieces,
  hashWords,
  idAt,
  idPieces,
  type ListedRows,
  listedRows,
  offsetAt,
  orderOfHashes,
  rowWords,
  sizeAt,
  sizeBits,
} from './listed-rows.ts';

const { idStride, hashStride, noId } = listfileRows;

/** Rows that are in memory at most. */
const mostRows = 1 << 21;

/** The rows of a look-up file in pieces, and the mark of the text. */
interface LookupPieces {
  rows: Iterable<Uint8Array>;
  of: number;
}

/** How the files of a version are written. */
export interface WritingOptions {
  signal?: AbortSignal | undefined;
  /** Called with BASE.ids as soon as it is there, while other files of the version are still written. */
  onIds?: ((ids: LookupFile) => Promise<void>) | undefined;
}

/** Writes BASE.ids. @throws E_ABORTED, E_STORE… */
export async function writeIds(
  folders: LookupFolders,
  base: string,
  pieces: LookupPieces,
  { signal, onIds }: WritingOptions,
): Promise<void> {
  const path = listfilePaths(folders, base).ids;
  await writeLookupFile(path, { stride: idStride, ...pieces }, folders.temporary, signal);
  if (onIds === undefined) return;
  const ids = new LookupFile(path, { stride: idStride, of: pieces.of });
  try {
    await onIds(ids);
  } finally {
    ids.close();
  }
}

/** Writes BASE.hashes. @throws E_ABORTED, E_STORE… */
export async function writeHashes(
  folders: LookupFolders,
  base: string,
  pieces: LookupPieces,
  signal?: AbortSignal,
): Promise<void> {
  const { hashes } = listfilePaths(folders, base);
  await writeLookupFile(hashes, { stride: hashStride, ...pieces }, folders.temporary, signal);
}

interface LookupsOptions {
  rows?: number;
  most?: number;
  memory?: ArrayBufferLike | undefined;
}

/** The rows of BASE.ids and BASE.hashes, sorted in memory; where they are very many as runs, on disk. Needs `close`. */
export class ListfileLookups {
  readonly #folders: LookupFolders;
  readonly #most: number;
  #rows: ListedRows;
  #count = 0;
  /** For rows that are dealt. */
  #dealt: Uint32Array | undefined;
  #runs: { ids: SortedRuns; hashes: SortedRuns } | undefined;

  /** @param options.rows that will be added, as far as it is known, @param options.most rows that may be in memory, @param options.memory nobody needs any more */
  constructor(folders: LookupFolders, { rows = 0x100, most = mostRows, memory }: LookupsOptions = {}) {
    this.#folders = folders;
    this.#most = most;
    const count = Math.max(1, Math.min(rows, most));
    const needed = 4 * (rowWords + hashWords + dealtWords) * count;
    if (memory === undefined || memory.byteLength < needed) {
      this.#rows = listedRows(count);
      return;
    }
    const words = new Uint32Array(memory, 0, rowWords * count);
    const hashes = new Uint32Array(memory, words.byteLength, hashWords * count);
    this.#rows = { words, hashes };
    this.#dealt = new Uint32Array(memory, words.byteLength + hashes.byteLength, dealtWords * count);
  }

  close(): void {
    this.#runs?.ids.close();
    this.#runs?.hashes.close();
  }

  /** Adds the row of a name. They are added in the order of their offsets in the text. */
  add(id: number | undefined, name: ViewPart, { at, size }: NamePlace): void {
    if (this.#count === this.#most) this.#spill();
    const from = this.#count * rowWords;
    if (from === this.#rows.words.length) this.#grow();
    const { words, hashes } = this.#rows;
    putNameHash(hashes, this.#count * hashWords, name);
    words[from + offsetAt] = at;
    words[from + sizeAt] = size | (Math.floor(at / 2 ** 32) << sizeBits);
    words[from + idAt] = id ?? noId;
    this.#count += 1;
  }

  #grow(): void {
    const larger = listedRows(Math.min(2 * this.#count, this.#most));
    copyRows(this.#rows, larger);
    this.#rows = larger;
    this.#dealt = undefined;
  }

  #spill(): void {
    const { temporary } = this.#folders;
    this.#runs ??= {
      // The offset stands right behind the key, so of rows with one key the last that was added comes last.
      ids: new SortedRuns(temporary, { stride: idStride, keySize: 9 }),
      hashes: new SortedRuns(temporary, { stride: hashStride, keySize: 13 }),
    };
    this.#runs.ids.addRun(this.#idPieces());
    this.#runs.hashes.addRun(this.#hashPieces());
    this.#count = 0;
  }

  #idPieces(): Iterable<Uint8Array> {
    return idPieces(this.#rows, this.#count, this.#roomToDeal());
  }

  #hashPieces(): Iterable<Uint8Array> {
    return hashPieces(orderOfHashes(this.#rows, this.#count), this.#roomToDeal());
  }

  /** The same for ids and hashes, and for each run: what is not written to costs nothing. */
  #roomToDeal(): Uint32Array {
    this.#dealt ??= new Uint32Array((this.#rows.words.length / rowWords) * dealtWords);
    return this.#dealt;
  }

  /** @param of mark of the text */
  async write(base: string, of: number, options: WritingOptions = {}): Promise<void> {
    if (this.#runs !== undefined) this.#spill();
    const ids = this.#runs === undefined ? this.#idPieces() : lastOfEach(this.#runs.ids.pieces());
    await writeIds(this.#folders, base, { rows: ids, of }, options);
    const hashes = this.#runs?.hashes.pieces() ?? this.#hashPieces();
    await writeHashes(this.#folders, base, { rows: hashes, of }, options.signal);
  }
}

/** Of sorted rows of BASE.ids, in pieces, only the last of an id stays. */
function* lastOfEach(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array | undefined;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += idStride) {
      const row = piece.subarray(at, at + idStride);
      if (held !== undefined && u32At(held, 0) !== u32At(row, 0)) yield held;
      held = row;
    }
  }
  if (held !== undefined) yield held;
}
