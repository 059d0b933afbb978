import { isDamage, isStoreTrouble, resultUnless } from '../../core/errors.ts';
import { appendHistory, readHistory } from '../history/history-file.ts';
import { historyQueries } from '../history/history-tables.ts';
import type { HistoryLine } from '../history/lines.ts';
import { addLine, followLine } from '../history/take-back.ts';
import type { Sqlite } from './sqlite.ts';

/** Lines that are written together at most. */
const batchLines = 200;

/**
 * What a ledger knows that nobody else does, as lines, and the file beside it that has them, too. A line is noted in the transaction that changes
 * the ledger, and goes to the file behind it: a kill between the two loses nothing, for the next process finds it in the outbox.
 */
export class LedgerHistory {
  readonly #db: Sqlite;
  readonly #path: string | undefined;
  #isWriting = false;

  /** @param path of the file; undefined for a ledger without one */
  constructor(db: Sqlite, path: string | undefined) {
    this.#db = db;
    this.#path = path;
  }

  /** False for a ledger of an earlier schema that may not be written. */
  get isKept(): boolean {
    return this.#db.get("SELECT 1 FROM sqlite_master WHERE name = 'outbox'") !== undefined;
  }

  /** Takes into a new ledger all that the file has. One that cannot be read is left alone: a check of the store tells. */
  takeAllBack(): void {
    const path = this.#path;
    if (path === undefined) return;
    resultUnless(isStoreTrouble, () => {
      for (const found of readHistory(path)) if ('line' in found) this.follow(found.line);
    });
    this.#db.exec('DELETE FROM outbox');
  }

  /** Does what a line says in a ledger that followed all lines before it. One that says nothing that a ledger can hold is passed over. */
  follow(line: HistoryLine): void {
    resultUnless(isDamage, () => followLine(this.#db, line));
  }

  /** Adds a row that the ledger lacks, and has it noted again. */
  add(line: HistoryLine): void {
    resultUnless(isDamage, () => addLine(this.#db, line));
  }

  /** Lines that are not in the file yet. */
  waiting(): HistoryLine[] {
    const rows = this.#db.all<{ line: string }>('SELECT line FROM outbox ORDER BY id');
    return rows.map(({ line }) => JSON.parse(line) as HistoryLine);
  }

  /** All that the ledger knows now, as lines from which another one has it. */
  *lines(): Generator<HistoryLine> {
    for (const query of historyQueries)
      for (const { line } of this.#db.iterate<{ line: string }>(query)) yield JSON.parse(line) as HistoryLine;
  }

  /** Notes lines that the file lacks. */
  note(lines: readonly HistoryLine[]): void {
    for (const line of lines) this.#db.run('INSERT INTO outbox (line) VALUES (?)', JSON.stringify(line));
  }

  /** Brings to the file what waits. Where that cannot be, as on a full disk, it waits on: whoever only reads does not fail for it. */
  write(): void {
    const path = this.#path;
    if (path === undefined || this.#isWriting) return;
    this.#isWriting = true;
    try {
      resultUnless(isStoreTrouble, () => {
        while (this.#writeSome(path));
      });
    } finally {
      this.#isWriting = false;
    }
  }

  /** @returns true when there may be more */
  #writeSome(path: string): boolean {
    if (this.#db.get('SELECT 1 FROM outbox LIMIT 1') === undefined) return false;
    // One process at a time writes: nobody else takes the same lines.
    return this.#db.transaction(() => {
      const rows = this.#db.all<{ id: number; line: string }>(
        `SELECT id, line FROM outbox ORDER BY id LIMIT ${batchLines}`,
      );
      const last = rows.at(-1);
      if (last === undefined) return false;
      appendHistory(
        path,
        rows.map(({ line }) => line),
      );
      this.#db.run('DELETE FROM outbox WHERE id <= ?', last.id);
      return rows.length === batchLines;
    });
  }
}
