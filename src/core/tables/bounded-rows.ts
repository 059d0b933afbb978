/** Rows that are kept one by one. */
const mostKept = 10_000;

/** Something that went wrong, or several such things that are alike. */
export interface CountedRow {
  /** Of the first of them, where there are several. */
  message: string;
  /** How many they are. Left out: one. */
  count?: number;
}

/**
 * Things that went wrong, as they come: millions do where a disk is gone. The first ten thousand have a row each; of the others those that are alike
 * share one.
 */
export class BoundedRows<Row extends CountedRow> {
  readonly #rows: Row[];
  readonly #alike: (row: Row) => [text: string, row: Row];
  readonly #shared = new Map<string, { row: Row; message: string }>();

  /**
   * @param rows the list to add to
   * @param alike a text that those have which may share a row, and the first row of these
   */
  constructor(rows: Row[], alike: (row: Row) => [text: string, row: Row]) {
    this.#rows = rows;
    this.#alike = alike;
  }

  add(row: Row): void {
    if (this.#rows.length < mostKept) {
      this.#rows.push(row);
      return;
    }
    const [text, first] = this.#alike(row);
    let known = this.#shared.get(text);
    if (known === undefined) {
      known = { row: { ...first, count: 0 }, message: row.message };
      this.#shared.set(text, known);
      this.#rows.push(known.row);
    }
    known.row.count = countRows([known.row, row]);
    if (row.message !== known.message) known.row.message = `${known.message} (others differ)`;
  }
}

/** How many things rows stand for. */
export function countRows(rows: readonly CountedRow[]): number {
  return rows.reduce((sum, { count = 1 }) => sum + count, 0);
}
