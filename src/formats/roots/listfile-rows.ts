import { asBuffer } from '../../core/bytes.ts';

/** A line of the list. */
export interface ListfileRow {
  fileDataId: number | undefined;
  name: string;
}

/** What stands for no id among {@link ListfileRows.ids}. */
export const noListedId = -1;

/**
 * Rows of a list as parts of its bytes: to make an object and a text of each of millions takes several times as long as to read them. A scanner has one of
 * them, which it fills anew.
 */
export class ListfileRows {
  count = 0;
  /** The id of each row, or {@link noListedId}. */
  ids = new Float64Array(0x400);
  /** The name of each row: [start, end) of the bytes. */
  starts = new Uint32Array(0x400);
  ends = new Uint32Array(0x400);
  bytes: Uint8Array = new Uint8Array();

  /** Begins anew, with other bytes. */
  clear(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.count = 0;
  }

  add(id: number, start: number, end: number): void {
    if (this.count === this.ids.length) this.#grow();
    this.ids[this.count] = id;
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.count += 1;
  }

  #grow(): void {
    const { ids, starts, ends } = this;
    this.ids = new Float64Array(2 * ids.length);
    this.starts = new Uint32Array(2 * ids.length);
    this.ends = new Uint32Array(2 * ids.length);
    this.ids.set(ids);
    this.starts.set(starts);
    this.ends.set(ends);
  }

  /** A row as text. */
  at(row: number): ListfileRow {
    const id = this.ids[row]!;
    const name = asBuffer(this.bytes).toString('utf8', this.starts[row], this.ends[row]);
    return { fileDataId: id === noListedId ? undefined : id, name };
  }

  /** Leaves out some rows. */
  drop(isDropped: (row: number) => boolean): void {
    const { count } = this;
    this.count = 0;
    for (let i = 0; i < count; i++) if (!isDropped(i)) this.add(this.ids[i]!, this.starts[i]!, this.ends[i]!);
  }
}
