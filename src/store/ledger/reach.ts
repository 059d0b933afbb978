import type { Sqlite } from './sqlite.ts';

/** How far an object is held from one of its bytes on. */
export interface Reach {
  /** Size of an object that is held whole; undefined for others. */
  wholeSize: number | undefined;
  /** The end to which it is held without a hole; the offset that was asked for where that byte is not held. */
  end: number;
}

/**
 * How far an object is held from an offset on; undefined for one of which the ledger knows nothing. One question, for whoever asks at each piece that
 * is sent.
 */
export function reachOf(db: Sqlite, path: string, at: number): Reach | undefined {
  const row = db.get<{ complete: number; size: number | null; end: number | null }>(
    `SELECT complete, size, (SELECT end FROM spans WHERE object = id AND start <= ? ORDER BY start DESC LIMIT 1) AS end
     FROM objects WHERE path = ?`,
    at,
    path,
  );
  if (row === undefined) return undefined;
  const wholeSize = row.complete === 1 ? (row.size ?? 0) : undefined;
  return { wholeSize, end: Math.max(at, wholeSize ?? row.end ?? at) };
}
