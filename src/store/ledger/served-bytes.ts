import { blockBytes } from '../../files/copies/holes.ts';
import type { Span } from '../spans.ts';
import type { Sqlite } from './sqlite.ts';

/** How far an object is held from one of its bytes on. */
export interface Reach {
  /** Size of an object that is held whole; undefined for others. */
  wholeSize: number | undefined;
  /** The end to which it is held without a hole; the offset that was asked for where that byte is not held. */
  end: number;
}

/** A stretch of an object that a client's question brought. */
export interface PulledBytes extends Span {
  path: string;
}

/** The table of {@link ServedBytes}. Nothing checks its rows: a damaged one costs bytes that can be fetched again, for what a build is kept for stays whatever it says. */
export const pulledTable = `
CREATE TABLE pulled (
  path TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, asked INTEGER NOT NULL, PRIMARY KEY (path, start)
) WITHOUT ROWID;
CREATE INDEX pulledByAsked ON pulled (asked);
`;

/** The part of the ledger that a server asks and writes: how far objects are held, and what came only because a client asked for it. */
export class ServedBytes {
  readonly #db: Sqlite;

  constructor(db: Sqlite) {
    this.#db = db;
  }

  /**
   * How far an object is held from an offset on; undefined for one of which nothing is known. One question, for whoever asks at each piece
   * that is sent.
   */
  reach(path: string, at: number): Reach | undefined {
    const row = this.#db.get<{ complete: number; size: number | null; end: number | null }>(
      `SELECT complete, size, (SELECT end FROM spans WHERE object = id AND start <= ? ORDER BY start DESC LIMIT 1) AS end
       FROM objects WHERE path = ?`,
      at,
      path,
    );
    if (row === undefined) return undefined;
    const wholeSize = row.complete === 1 ? (row.size ?? 0) : undefined;
    return { wholeSize, end: Math.max(at, wholeSize ?? row.end ?? at) };
  }

  /** Remembers stretches that are about to be fetched because a client asks for them: so a kill loses none. */
  addPulled(path: string, spans: readonly Span[], asked: number): void {
    for (const { start, end } of spans)
      this.#db.run(
        'INSERT INTO pulled VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET end = max(end, excluded.end), asked = excluded.asked',
        path,
        start,
        end,
        asked,
      );
  }

  /** Says when some bytes were last asked for, of those that were pulled. */
  touchPulled({ path, start, end }: PulledBytes, asked: number): void {
    this.#db.run('UPDATE pulled SET asked = ? WHERE path = ? AND start < ? AND end > ?', asked, path, end, start);
  }

  /** Forgets that a stretch was pulled. */
  removePulled({ path, start }: PulledBytes): void {
    this.#db.run('DELETE FROM pulled WHERE path = ? AND start = ?', path, start);
  }

  /** The stretches that were pulled, those first that were not asked for the longest. */
  pulled(): PulledBytes[] {
    return this.#db.all<PulledBytes>('SELECT path, start, end FROM pulled ORDER BY asked, path, start');
  }

  /** Bytes of all blocks on disk that objects take, a little too many where two stretches share a block. */
  blockBytes(): number {
    const row = this.#db.get<{ bytes: number }>(
      `SELECT (SELECT coalesce(sum((size + ${blockBytes - 1}) / ${blockBytes} * ${blockBytes}), 0) FROM objects WHERE complete = 1)
         + (SELECT coalesce(sum((end + ${blockBytes - 1}) / ${blockBytes} * ${blockBytes} - start / ${blockBytes} * ${blockBytes}), 0) FROM spans) AS bytes`,
    );
    return row?.bytes ?? 0;
  }
}
