import { foldName } from '../../names.ts';
import type { IndexRows } from './index-rows.ts';

/**
 * Look-up of rows by name without case. A later row of a name takes the place of an earlier one, as in the engine's table.
 * Built when it is first asked: what goes through a PAK by number needs no names.
 */
export class RowNames {
  readonly #rows: IndexRows;
  #last: Map<string, number> | undefined;
  /** By earlier rows: the one that took their place. */
  readonly #shadows = new Map<number, number>();

  constructor(rows: IndexRows) {
    this.#rows = rows;
  }

  /** Number of the row that has a name. */
  find(name: string): number | undefined {
    return this.#table().get(foldName(name));
  }

  /** Number of the row that took the place of this one, or undefined. */
  shadowOf(index: number): number | undefined {
    this.#table();
    return this.#shadows.get(index);
  }

  #table(): ReadonlyMap<string, number> {
    if (this.#last !== undefined) return this.#last;
    const last = new Map<string, number>();
    this.#last = last;
    for (let index = 0; index < this.#rows.count; index++) {
      const key = foldName(this.#rows.nameAt(index));
      const earlier = last.get(key);
      if (earlier !== undefined) this.#shadows.set(earlier, index);
      last.set(key, index);
    }
    return last;
  }
}
