import * as fs from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, type ErrorOptions, isPakratError, messageOf, PakratError } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { fullError, inStore } from '../../files/durable.ts';
import { historyText } from '../history/lines.ts';
import { rowSum } from './row-sum.ts';

/*
 * Handles of databases and statements are kept until the process ends. Node 24.19 and later change the base of the add-on's objects, and
 * a process that collects one of them dies (nodejs/node issue 65446; better-sqlite3 13 is free of it, and needs Node 22). A database that is closed
 * holds no file and no memory of SQLite; what stays of it is some kilobytes.
 */
const kept: object[] = [];

function keep<Handle extends object>(handle: Handle): Handle {
  kept.push(handle);
  return handle;
}

const setUpAgainMs = 10;
/** What a thread sleeps on: nobody wakes it. */
const nobody = new Int32Array(new SharedArrayBuffer(4));

/** Pages of a write-ahead log, 1 MiB of them: the log must fit into what is kept for the moment when the disk is full. */
export const logPages = 256;

/**
 * An open SQLite database. An open handle; needs `close`. Statements are prepared once, by their text.
 * Whatever goes wrong with it comes as E_STORE_FULL, E_STORE_LOCKED, E_STORE_DAMAGED, E_STORE or E_NATIVE_MODULE.
 */
export class Sqlite {
  readonly #path: string;
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  /** Milliseconds that another process is waited for. */
  readonly #timeout: number;
  /** Statements that rows are gone through with, while nobody does. */
  readonly #idle = new Map<string, Database.Statement[]>();
  /** Called when lines of the history were noted, once they are committed. */
  onNoted: (() => void) | undefined;
  #noted = false;

  constructor(
    path: string,
    { bytes, ...options }: { readonly?: boolean; timeout?: number; bytes?: Buffer | undefined } = {},
  ) {
    this.#path = path;
    this.#timeout = options.timeout ?? 0;
    this.#db = this.#guard(() => keep(open(bytes ?? path, options)));
    this.#db.function(rowSum.name, { deterministic: true, varargs: true }, rowSum.sum);
    this.#db.function('body_md5', { deterministic: true }, (body) => md5Hex(body as Uint8Array));
    this.#db.function('history_line', { varargs: true }, (type, ...pairs) => {
      this.#noted = true;
      return historyText(String(type), ...pairs);
    });
  }

  close(): void {
    this.#db.close();
  }

  #guard<Result>(body: () => Result): Result {
    try {
      return body();
    } catch (error) {
      throw sqliteError(error, this.#path);
    }
  }

  #statement(sql: string): Database.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = keep(this.#db.prepare(sql));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs several statements that take and give nothing. */
  exec(sql: string): void {
    this.#guard(() => this.#db.exec(sql));
  }

  /**
   * Runs statements that set a database up, and that may be run again. Where several processes do so at once, SQLite may give up without having
   * waited, for each of two that read can want to write.
   */
  setUp(sql: string): void {
    const end = performance.now() + this.#timeout;
    for (;;) {
      try {
        this.exec(sql);
        return;
      } catch (error) {
        if (codeOf(error) !== 'E_STORE_LOCKED' || performance.now() > end) throw error;
        Atomics.wait(nobody, 0, 0, setUpAgainMs);
      }
    }
  }

  run(sql: string, ...values: unknown[]): { changes: number; lastInsertRowid: number | bigint } {
    const result = this.#guard(() => this.#statement(sql).run(...values));
    this.#tellNoted();
    return result;
  }

  /** The first row, or undefined. */
  get<Row>(sql: string, ...values: unknown[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...values) as Row | undefined);
  }

  all<Row>(sql: string, ...values: unknown[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values) as Row[]);
  }

  /** A text that changes whenever something was written, here or by another process. */
  version(): string {
    const others = this.get<{ data_version: number }>('PRAGMA data_version')?.data_version;
    const own = this.get<{ changes: number }>('SELECT total_changes() AS changes')?.changes;
    return `${others} ${own}`;
  }

  /** The rows one by one, through a statement that does nothing else meanwhile. */
  *iterate<Row>(sql: string): Generator<Row> {
    const idle = this.#idle.get(sql) ?? [];
    this.#idle.set(sql, idle);
    try {
      const statement = idle.pop() ?? keep(this.#db.prepare(sql));
      try {
        yield* keep(statement.iterate()) as IterableIterator<Row>;
      } finally {
        idle.push(statement);
      }
    } catch (error) {
      throw sqliteError(error, this.#path);
    }
  }

  /** Reads the whole database and looks whether it is as SQLite writes one. @throws E_STORE_DAMAGED */
  check(): void {
    const problem = this.get<{ integrity_check: string }>('PRAGMA integrity_check(1)')?.integrity_check;
    if (problem !== 'ok')
      throw damagedError(this.#path, problem ?? 'it cannot be checked', { data: { path: this.#path } });
  }

  /** Runs `body` in one transaction: all of it is kept, or nothing. `body` must not wait for anything. */
  transaction<Result>(body: () => Result): Result {
    const result = this.#guard(() => this.#db.transaction(body).immediate());
    this.#tellNoted();
    return result;
  }

  #tellNoted(): void {
    if (!this.#noted || this.#db.inTransaction) return;
    this.#noted = false;
    this.onNoted?.();
  }
}

/** SQLite does not say why a file can be neither opened nor made: the system is asked for the same. @throws as {@link inStore}, or what SQLite says */
function open(file: string | Buffer, options: Database.Options): Database.Database {
  try {
    return new Database(file, options);
  } catch (error) {
    if (typeof file === 'string' && !options.readonly && codeOf(error)?.startsWith('SQLITE_CANTOPEN'))
      inStore(file, () => fs.closeSync(fs.openSync(file, 'a')));
    throw error;
  }
}

/** Turns an error of SQLite, or of loading it, into one of ours; any other comes back as it is. @param path names the database */
function sqliteError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === 'ERR_DLOPEN_FAILED' || messageOf(error).startsWith('Could not locate the bindings file')) {
    return nativeModuleError(error);
  }
  // Looked for before SQLite is asked: it may be removed at that moment.
  if (messageOf(error).startsWith('Cannot open database because the directory')) {
    return new PakratError('E_STORE', `${path} cannot be opened: its folder is gone`, { cause: error, data: { path } });
  }
  if (!code?.startsWith('SQLITE_')) return error;
  const options = { cause: error, data: { path, sqlite: code } };
  // The second is a file in the same folder that has no room to grow.
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') return fullError(path, error);
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return damagedError(path, messageOf(error), options);
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return new PakratError('E_STORE_LOCKED', `another process is writing to ${path}`, options);
  }
  if (code.startsWith('SQLITE_READONLY')) {
    return new PakratError('E_STORE', `no permission to write ${path}`, {
      ...options,
      hint: 'A store that may not be written can be read with --offline.',
    });
  }
  return new PakratError('E_STORE', `${path}: ${messageOf(error)}`, { ...options, hint: diskHint(code) });
}

function diskHint(code: string): string | undefined {
  if (brokenBlock.includes(code)) return howToMakeAnew;
  if (!code.startsWith('SQLITE_IOERR')) return undefined;
  return 'A store needs a disk that is sound, and can hold a database: not every network drive can.';
}

/** The codes of SQLite for what a disk does not give: the second is the one of EIO. */
const brokenBlock = ['SQLITE_IOERR_READ', 'SQLITE_IOERR_CORRUPTFS'];

/** True for the error of a database that is damaged, or of which a broken disk does not give all. */
export function isDatabaseLost(error: unknown): boolean {
  return isPakratError(error) && (error.code === 'E_STORE_DAMAGED' || brokenBlock.includes(String(error.data.sqlite)));
}

const howToMakeAnew =
  'Move ledger.db away and sync again: builds and pins come back out of history.jsonl, and objects that are on disk are checked and taken over.';

function damagedError(path: string, problem: string, options: ErrorOptions): PakratError {
  return new PakratError('E_STORE_DAMAGED', `${path} is damaged or not a ledger: ${problem}`, {
    ...options,
    hint: howToMakeAnew,
  });
}

/** SQLite is a native module: one file for each system and each version of Node's or Electron's add-on interface. */
function nativeModuleError(cause: unknown): PakratError {
  const { platform, arch, versions } = process;
  return new PakratError(
    'E_NATIVE_MODULE',
    `better-sqlite3 cannot be loaded: it is not built for ${platform} ${arch} with add-on interface ${versions.modules}`,
    {
      cause,
      hint: 'Run `npm rebuild better-sqlite3` where pakrat is installed; in Electron run `@electron/rebuild`, in NW.js rebuild it with `nw-gyp`.',
      data: { platform, arch, modules: versions.modules, reason: messageOf(cause) },
    },
  );
}

/**
 * Takes a lock and gives back its release. The lock is a held SQLite transaction, so the system lets go of it
 * when the process dies, however it dies. Nothing is ever written to the file: one that has something in it is damaged, and emptied.
 * @param doing what another process does that holds it, as in `publishing into DIR`
 * @throws E_STORE_LOCKED when another process holds it, E_STORE_FULL, E_STORE
 */
export function lockStore(path: string, doing = 'at work on the files of this store'): () => void {
  try {
    return takeLock(path, doing);
  } catch (error) {
    if (codeOf(error) !== 'E_STORE_DAMAGED' && !isFolder(path)) throw error;
    inStore(path, () => emptyLock(path));
    return takeLock(path, doing);
  }
}

function takeLock(path: string, doing: string): () => void {
  const db = new Sqlite(path, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (codeOf(error) !== 'E_STORE_LOCKED') throw error;
    throw new PakratError('E_STORE_LOCKED', `another pakrat is ${doing}`, {
      hint: 'Wait for it to end.',
      data: { path },
    });
  }
  return () => db.close();
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Empties a lock in place, and never puts another file there: whoever holds the lock holds it on this file, and goes on holding it. The file
 * stays open until the process ends, for to close it would let go of what this process itself holds on it.
 */
function emptyLock(path: string): void {
  if (isFolder(path)) fs.rmdirSync(path);
  else fs.ftruncateSync(fs.openSync(path, 'r+'));
}
