import type { Sqlite } from './sqlite.ts';

/* Rows about objects and spans that no pakrat wrote: what they claim cannot be looked for on disk. */

const impossibleObject = `typeof(complete) <> 'integer' OR complete NOT IN (0, 1) OR (complete = 1 AND (typeof(size) <> 'integer' OR size < 0))`;
const impossibleSpan = `typeof(start) <> 'integer' OR typeof(end) <> 'integer' OR start < 0 OR end <= start
  OR object NOT IN (SELECT id FROM objects WHERE complete = 0)`;

/** The number of such rows. */
export function countImpossibleRows(db: Sqlite): number {
  const count = (table: string, where: string): number =>
    db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE ${where}`)?.count ?? 0;
  return count('objects', impossibleObject) + count('spans', impossibleSpan);
}

/** Makes objects of them that are not held whole, and removes spans that cannot be. */
export function removeImpossibleRows(db: Sqlite): void {
  db.exec(
    `UPDATE objects SET complete = 0, size = CASE WHEN typeof(size) = 'integer' AND size >= 0 THEN size END WHERE ${impossibleObject}`,
  );
  db.exec(`DELETE FROM spans WHERE ${impossibleSpan}`);
}
