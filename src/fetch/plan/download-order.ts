import { breathe } from '../../core/breathe.ts';
import { compareKeys } from '../../core/bytes.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { sortedOrder } from '../../core/tables/sort-records.ts';
import { type Download, downloadPriority, downloadSize } from '../../formats/manifests/download.ts';
import { hasTag, type Tag } from '../../formats/manifests/tags.ts';
import type { Amount } from '../../store/ledger/rows.ts';
import { manifestPriority, setWantedPriority, type WantedList, wantedPriority } from './wanted.ts';

/** Wanted entries and bytes of a tag. */
export interface TagAmount {
  tag: Tag;
  amount: Amount;
}

/**
 * A download manifest, whose entries are in the order in which to fetch them, in the order of their ekeys: so it is gone through beside other
 * sorted tables, in place of millions of look-ups.
 */
export class DownloadOrder {
  readonly #download: Download;
  /** Numbers of entries. */
  readonly #order: Uint32Array;

  constructor(download: Download) {
    this.#download = download;
    this.#order = sortedOrder(download.rows.bytes, download.rows.stride, 16);
  }

  /** Calls back with the number of every entry and that of the row with its ekey, -1 where the sorted table has none. */
  #join({ bytes, stride, count }: RecordTable, visit: (entry: number, row: number) => void): void {
    const { rows } = this.#download;
    let row = 0;
    for (const entry of this.#order) {
      const at = entry * rows.stride;
      let order = 1;
      for (; row < count; row++) {
        order = compareKeys(bytes, row * stride, rows.bytes, at);
        if (order >= 0) break;
      }
      visit(entry, order === 0 ? row : -1);
    }
  }

  /** Adds the entries that a list does not have in order already. */
  async addTo(list: WantedList): Promise<void> {
    await breathe();
    const { rows } = this.#download;
    this.#join(list.inOrder(), (entry, row) => {
      if (row === -1) list.addAt(rows.bytes, entry * rows.stride, downloadSize(rows, entry));
    });
  }

  /** Gives wanted rows the priorities that the manifest has for them; manifests keep theirs. */
  async rank(wanted: RecordTable): Promise<void> {
    await breathe();
    this.#join(wanted, (entry, row) => {
      if (row === -1 || wantedPriority(wanted, row) === manifestPriority) return;
      setWantedPriority(wanted, row, downloadPriority(this.#download, entry));
    });
  }

  /** Wanted entries and bytes of each tag. */
  amountsByTag(wanted: RecordTable): TagAmount[] {
    const { rows, tags, count } = this.#download;
    const sizes = new Float64Array(count).fill(notWanted);
    this.#join(wanted, (entry, row) => {
      if (row !== -1) sizes[entry] = downloadSize(rows, entry);
    });
    return tags.map((tag) => ({ tag, amount: amountOf(tag, sizes) }));
  }
}

const notWanted = -1;

function amountOf({ mask }: Tag, sizes: Float64Array): Amount {
  const amount = { entries: 0, bytes: 0 };
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i]!;
    if (size === notWanted || !hasTag(mask, i)) continue;
    amount.entries += 1;
    amount.bytes += size;
  }
  return amount;
}
