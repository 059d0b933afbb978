import type { EntryPlace } from '../../builds/objects.ts';
import { toHex } from '../../core/bytes.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';
import { RecentValues } from '../objects/recent-values.ts';

/** Bytes of indices that stay in memory. */
const mostBytes = 64 * 1024 * 1024;

/** The entries of an archive in the order of their offsets. */
export class ArchiveMap {
  readonly #archive: ObjectName;
  readonly #index: ArchiveIndex;
  readonly #starts: Float64Array;
  readonly #rows: Uint32Array;
  /** Bytes of the largest entry: one that begins further before an offset does not reach it. */
  readonly #largest: number;

  constructor(archive: ObjectName, index: ArchiveIndex) {
    this.#archive = archive;
    this.#index = index;
    const offsets = Float64Array.from(index, ({ offset }) => offset);
    this.#rows = Uint32Array.from(offsets.keys()).sort((a, b) => (offsets[a] ?? 0) - (offsets[b] ?? 0));
    this.#starts = Float64Array.from(this.#rows, (row) => offsets[row] ?? 0);
    let largest = 0;
    for (const { size } of index) largest = Math.max(largest, size);
    this.#largest = largest;
  }

  /** Bytes in memory, about. */
  get bytes(): number {
    return this.#index.bytes.length + this.#rows.length * 12;
  }

  /** The entries that have a byte from `start` to `end`, in the order of their offsets. */
  *within(start: number, end: number): Generator<EntryPlace> {
    let row = this.#firstFrom(start - this.#largest);
    for (; row < this.#rows.length && (this.#starts[row] ?? end) < end; row++) {
      const { ekey, offset, size } = this.#index.entry(this.#rows[row] ?? 0);
      if (offset + size > start && size > 0)
        yield { ekey: toHex(ekey), object: this.#archive, loose: false, offset, size };
    }
  }

  #firstFrom(offset: number): number {
    let low = 0;
    for (let high = this.#starts.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The maps of archives whose indices are held; those that were not asked for the longest are made again. */
export class ArchiveMaps {
  readonly #store: Store;
  readonly #maps = new RecentValues<ArchiveMap>(mostBytes);

  constructor(store: Store) {
    this.#store = store;
  }

  /** The entries of an archive; undefined while its index is not held. @throws E_FORMAT… and E_INTEGRITY for an index that is damaged, E_KEY_MISSING */
  of(archive: ObjectName): ArchiveMap | undefined {
    const path = objectPath(archive);
    const known = this.#maps.get(path);
    if (known !== undefined) return known;
    const bytes = this.#store.readObject({ ...archive, suffix: '.index' });
    return bytes && this.#maps.add(path, new ArchiveMap(archive, decodeArchiveIndex(bytes, archive.hash)));
  }
}
