import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolderDurable } from '../files/durable.ts';
import { isDeadMark, processMark } from '../files/temporary.ts';
import { isDatabaseLost, logPages, Sqlite } from './ledger/sqlite.ts';

/*
 * Bytes of objects that a process fetches just now, for the others to see, so that nothing is fetched by two of them. A database of its own,
 * for it need not survive a power cut, and flushes would make it slow. A claim is void when its process is dead; or, where that
 * cannot be told, when it has not been renewed for a while.
 */
const schema = `
CREATE TABLE IF NOT EXISTS claims (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, owner TEXT NOT NULL, time INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS claimsByPath ON claims (path);
`;

const timeout = 10_000;
const renewMs = 5_000;
const voidMs = 30_000;

/** The right to fetch a stretch of an object, until it is released. */
export interface Claim {
  release(): void;
}

/** Bytes of an object that a process fetches. */
export interface ClaimRow {
  path: string;
  start: number;
  end: number;
}

/** The claims on objects of a store, of all processes. An open handle; needs `close`, which releases those of this one. */
export class Claims {
  readonly #db: Sqlite;
  readonly #held = new Set<number>();
  /** Released ones whose rows could not be removed, for the disk is full: they keep nobody of this process. */
  readonly #left = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  /** @throws E_STORE… */
  constructor(path: string) {
    makeFolderDurable(dirname(path));
    this.#db = openDatabase(path);
  }

  /** Claims bytes from `start` to `end` of an object. @returns undefined while another has some of them, in this process or another @throws E_STORE… */
  take(path: string, start: number, end: number): Claim | undefined {
    const id = this.#db.transaction(() => {
      if (this.#isTaken(path, start, end)) return undefined;
      const values = [path, start, end, processMark(), Date.now()];
      const { lastInsertRowid } = this.#db.run(
        'INSERT INTO claims (path, start, end, owner, time) VALUES (?, ?, ?, ?, ?)',
        ...values,
      );
      return Number(lastInsertRowid);
    });
    if (id === undefined) return undefined;
    // Numbers of rows that are gone are given out again.
    this.#left.delete(id);
    this.#held.add(id);
    this.#timer ??= setInterval(() => this.#renew(), renewMs).unref();
    return { release: () => this.#release(id) };
  }

  #isTaken(path: string, start: number, end: number): boolean {
    const rows = this.#db.all<{ id: number; owner: string; time: number }>(
      'SELECT id, owner, time FROM claims WHERE path = ? AND start < ? AND end > ?',
      path,
      end,
      start,
    );
    for (const row of rows) {
      const isLeft = this.#left.has(row.id) && row.owner === processMark();
      if (!isLeft && !isVoid(row.owner, row.time)) return true;
      this.#db.run('DELETE FROM claims WHERE id = ?', row.id);
    }
    return false;
  }

  /** What processes fetch just now, whichever they are. @throws E_STORE… */
  list(): ClaimRow[] {
    const rows = this.#db.all<ClaimRow & { owner: string; time: number }>(
      'SELECT path, start, end, owner, time FROM claims ORDER BY path, start',
    );
    return rows.filter(({ owner, time }) => !isVoid(owner, time)).map(({ path, start, end }) => ({ path, start, end }));
  }

  #renew(): void {
    try {
      for (const id of this.#held) this.#db.run('UPDATE claims SET time = ? WHERE id = ?', Date.now(), id);
    } catch {
      // The next time will do.
    }
  }

  #release(id: number): void {
    if (!this.#held.delete(id)) return;
    if (this.#held.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    try {
      this.#db.run('DELETE FROM claims WHERE id = ?', id);
    } catch {
      // For others it is void once it was not renewed for a while. Whoever releases has nothing else to do about it.
      this.#left.add(id);
    }
  }

  close(): void {
    try {
      for (const id of this.#held) this.#release(id);
    } finally {
      this.#db.close();
    }
  }
}

function isVoid(owner: string, time: number): boolean {
  return isDeadMark(owner) || Math.abs(Date.now() - time) > voidMs;
}

/** One that is damaged, as after a power cut, that a broken disk does not give, or that is no file, is made anew: nobody's bytes are in it. */
function openDatabase(path: string): Sqlite {
  try {
    return prepared(path);
  } catch (error) {
    const files = ['', '-wal', '-shm'].map((suffix) => path + suffix);
    const isNoFile = files.some((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === false);
    if (!isDatabaseLost(error) && !isNoFile) throw error;
    for (const file of files) rmSync(file, { recursive: true, force: true });
    return prepared(path);
  }
}

function prepared(path: string): Sqlite {
  const db = new Sqlite(path, { timeout });
  try {
    db.setUp(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = ${logPages}; ${schema}`);
    // A page that is damaged would be met in the middle of a fetch, by every process.
    db.check();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
