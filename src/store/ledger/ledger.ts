import * as fs from 'node:fs';
import { asBuffer } from '../../core/bytes.ts';
import { reading, readOwn } from '../../files/read-at.ts';
import { mergeSpans, type Span, subtractSpans } from '../spans.ts';
import { hostsOfJson, jsonOfHosts } from './host-list.ts';
import { countImpossibleRows, removeImpossibleRows } from './impossible-rows.ts';
import { Keeping } from './keeping.ts';
import { LedgerHistory } from './ledger-history.ts';
import { damagedRows, hasRow, removeRow, sealRow } from './row-sums.ts';
import type { Amount, AnswerRow, BuildIdentity, BuildRow, DamagedRow, KeyRow } from './rows.ts';
import { demandSchema, migrate } from './schema.ts';
import { ServedBytes } from './served-bytes.ts';
import { logPages, Sqlite } from './sqlite.ts';
import { addBuildSql } from './statements.ts';

const timeout = 10_000;

const buildColumns = `product, name, build_id AS buildId, build_config AS buildConfig, cdn_config AS cdnConfig,
  product_config AS productConfig, key_ring AS keyRing, region, cdn_path AS cdnPath, config_path AS configPath, hosts, selection,
  wanted_entries AS wantedEntries, wanted_bytes AS wantedBytes, held_entries AS heldEntries, held_bytes AS heldBytes`;

type FlatBuild = Omit<BuildRow, 'hosts' | 'wanted' | 'held'> & {
  hosts: string;
  wantedEntries: number;
  wantedBytes: number;
  heldEntries: number;
  heldBytes: number;
};

/**
 * The store's database: what is known and what is held. An open handle; needs `close`.
 * A commit is on disk when the call returns (synchronous = FULL), so a span is never lost after it was reported.
 * Whatever goes wrong with the database comes as E_STORE_FULL, E_STORE_LOCKED (after 10 s of another writer), E_STORE_DAMAGED or E_STORE.
 */
export class Ledger {
  /** What is to be kept, and what is on its way out. */
  readonly keeping: Keeping;
  /** What it knows that nobody else does, as it is kept beside it. */
  readonly history: LedgerHistory;
  /** How far objects are held, and what came because clients asked for it. */
  readonly served: ServedBytes;
  readonly #db: Sqlite;

  /**
   * Opens or creates the ledger at `path`; the folder must exist. With `readOnly` nothing is made or changed, not even beside it.
   * @param options.history the file that has what it knows, too: a new ledger takes that back
   * @throws E_STORE_DAMAGED when it is no database, E_STORE_SCHEMA when another pakrat must write to it first
   */
  constructor(path: string, { readOnly = false, history }: { readOnly?: boolean; history?: string } = {}) {
    this.#db = readOnly ? openAsItIs(path) : new Sqlite(path, { timeout });
    this.keeping = new Keeping(this.#db);
    this.served = new ServedBytes(this.#db);
    this.history = new LedgerHistory(this.#db, history);
    try {
      if (readOnly) {
        demandSchema(this.#db);
      } else {
        this.#db.setUp('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
        this.#db.exec(`PRAGMA wal_autocheckpoint = ${logPages}`);
        migrate(this.#db, () => this.history.takeAllBack());
        this.#db.onNoted = () => this.history.write();
        this.history.write();
      }
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  close(): void {
    this.#db.close();
  }

  /** Looks whether the database is whole: pages, tables, indices; what the rows claim is for others to prove. @throws E_STORE_DAMAGED */
  check(): void {
    this.#db.check();
  }

  /** Runs `body` in one transaction: all of it is kept, or nothing. `body` must not wait for anything. */
  transaction<Result>(body: () => Result): Result {
    return this.#db.transaction(body);
  }

  setting(name: string): string | undefined {
    return this.#db.get<{ value: string }>('SELECT value FROM settings WHERE name = ?', name)?.value;
  }
  setSetting(name: string, value: string): void {
    this.#db.run('INSERT INTO settings VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', name, value);
  }
  removeSetting(name: string): void {
    this.#db.run('DELETE FROM settings WHERE name = ?', name);
  }

  /** Keeps an answer of a version service; the same text again only renews its time. */
  addAnswer(product: string, endpoint: string, answer: AnswerRow): void {
    const body = Buffer.from(answer.body);
    this.#db.run(
      `INSERT INTO answers VALUES (@product, @endpoint, @seqn, @service, @time, @time, @body)
       ON CONFLICT DO UPDATE SET last_time = max(last_time, excluded.last_time), service = excluded.service`,
      { ...answer, product, endpoint, body },
    );
  }
  /** Answers of an endpoint, the newest first. */
  answers(product: string, endpoint: string): AnswerRow[] {
    return this.#db.all<AnswerRow>(
      `SELECT seqn, service, last_time AS time, body FROM answers WHERE product = ? AND endpoint = ? ORDER BY last_time DESC, rowid DESC`,
      product,
      endpoint,
    );
  }

  /** As {@link answers}, the oldest first, with the times when each was first and last given, in milliseconds since 1970. */
  answerHistory(product: string, endpoint: string): { firstTime: number; lastTime: number; body: Uint8Array }[] {
    const sql = `SELECT first_time AS firstTime, last_time AS lastTime, body FROM answers WHERE product = ? AND endpoint = ? ORDER BY first_time, rowid`;
    return this.#db.all(sql, product, endpoint);
  }

  /** Adds a build or renews what is known of it; counts and selection stay. */
  addBuild(build: BuildIdentity): void {
    this.#db.run(addBuildSql, { ...build, hosts: jsonOfHosts(build.hosts), time: Date.now() });
  }
  /** Builds of a product (or all), the last added first. */
  builds(product?: string): BuildRow[] {
    const rows = this.#db.all<FlatBuild>(
      `SELECT ${buildColumns} FROM builds WHERE product = coalesce(?, product) ORDER BY time DESC, id DESC`,
      product ?? null,
    );
    return rows.map(({ wantedEntries, wantedBytes, heldEntries, heldBytes, hosts, ...row }) => ({
      ...row,
      hosts: hostsOfJson(hosts),
      wanted: { entries: wantedEntries, bytes: wantedBytes },
      held: { entries: heldEntries, bytes: heldBytes },
    }));
  }
  /** A build by the number of its row. */
  buildOfRow(id: string | number): BuildRow | undefined {
    const row = this.#db.get<{ config: string; product: string }>(
      'SELECT build_config AS config, product FROM builds WHERE id = ?',
      id,
    );
    return row && this.builds(row.product).find(({ buildConfig }) => buildConfig === row.config);
  }
  /** Gives the row of a build another product and build config: what it was before it was damaged. */
  renameBuild(id: string | number, { product, buildConfig }: Pick<BuildRow, 'product' | 'buildConfig'>): void {
    this.#db.run('UPDATE builds SET product = ?, build_config = ? WHERE id = ?', product, buildConfig, id);
  }
  /** Products of which versions were asked. */
  askedProducts(): string[] {
    const rows = this.#db.all<{ product: string }>(
      `SELECT DISTINCT product FROM answers WHERE endpoint = 'versions' ORDER BY product`,
    );
    return rows.map(({ product }) => product);
  }
  /** Sets what is wanted of a build and how much of it is held. */
  setProgress(
    product: string,
    buildConfig: string,
    { selection, wanted, held }: { selection: string; wanted: Amount; held: Amount },
  ): void {
    this.#db.run(
      `UPDATE builds SET selection = @selection, wanted_entries = @wantedEntries, wanted_bytes = @wantedBytes,
         held_entries = @entries, held_bytes = @bytes WHERE product = @product AND build_config = @buildConfig`,
      { product, buildConfig, selection, wantedEntries: wanted.entries, wantedBytes: wanted.bytes, ...held },
    );
  }
  /** Adds to what is held of a build. */
  addHeld(product: string, buildConfig: string, more: Amount): void {
    this.#db.run(
      `UPDATE builds SET held_entries = held_entries + @entries, held_bytes = held_bytes + @bytes
       WHERE product = @product AND build_config = @buildConfig`,
      { product, buildConfig, ...more },
    );
  }

  /** Marks an object as held whole. Its bytes and its name must be on disk already. */
  addComplete(path: string, size: number): void {
    this.#db.run(
      `INSERT INTO objects (path, size, complete, time) VALUES (?, ?, 1, ?)
       ON CONFLICT DO UPDATE SET size = excluded.size, complete = 1, time = excluded.time`,
      path,
      size,
      Date.now(),
    );
    this.#db.run('DELETE FROM spans WHERE object = (SELECT id FROM objects WHERE path = ?)', path);
  }
  /** The size of an object that is held whole, or undefined. */
  completeSize(path: string): number | undefined {
    return this.#db.get<{ size: number }>('SELECT size FROM objects WHERE path = ? AND complete = 1', path)?.size;
  }
  /**
   * The verified spans of an object, merged and in order; the whole of a complete one. One question: between two another process may call the
   * object whole, and it would have neither spans nor a size.
   */
  spans(path: string): Span[] {
    return this.#db.all<Span>(
      `WITH found AS (SELECT id, size, complete FROM objects WHERE path = ?)
       SELECT 0 AS start, size AS end FROM found WHERE complete = 1 AND size > 0
       UNION ALL SELECT start, end FROM spans WHERE object = (SELECT id FROM found) ORDER BY start`,
      path,
    );
  }
  /** Those of the verified spans of an object that have bytes from `start` to `end`, whole. One question, as {@link spans}. */
  spansWithin(path: string, start: number, end: number): Span[] {
    return this.#db.all<Span>(
      `WITH found AS (SELECT id, size, complete FROM objects WHERE path = @path)
       SELECT 0 AS start, size AS end FROM found WHERE complete = 1 AND size > 0
       UNION ALL SELECT start, end FROM spans WHERE object = (SELECT id FROM found) AND start < @end AND end > @start
         AND start >= (SELECT coalesce(max(start), 0) FROM spans WHERE object = (SELECT id FROM found) AND start <= @start) ORDER BY start`,
      { path, start, end },
    );
  }
  /** The verified span of an object that is not called whole and has but one, and the size of the object where it was whole; undefined for others. */
  onlySpan(path: string): (Span & { size: number | null }) | undefined {
    const [only, another] = this.#db.all<Span & { size: number | null }>(
      'SELECT start, end, size FROM spans JOIN objects ON object = id WHERE path = ? LIMIT 2',
      path,
    );
    return another === undefined ? only : undefined;
  }
  /** Adds verified spans of an object. Their bytes must be on disk already. Call it inside {@link transaction} when there are several. */
  addSpans(path: string, spans: readonly Span[]): void {
    this.#db.run('INSERT OR IGNORE INTO objects (path, time) VALUES (?, ?)', path, Date.now());
    const row = this.#db.get<{ id: number; complete: number }>('SELECT id, complete FROM objects WHERE path = ?', path);
    if (row === undefined || row.complete === 1) return;
    const { id } = row;
    for (const span of mergeSpans(spans)) {
      // Spans are merged: of those that begin before it only the last can touch it, and there may be thousands.
      const touching = this.#db.all<Span>(
        `SELECT start, end FROM spans WHERE object = @id AND start <= @end AND end >= @start
           AND start >= (SELECT coalesce(max(start), 0) FROM spans WHERE object = @id AND start <= @start)`,
        { id, ...span },
      );
      for (const old of touching) this.#db.run('DELETE FROM spans WHERE object = ? AND start = ?', id, old.start);
      const start = Math.min(span.start, ...touching.map((old) => old.start));
      const end = Math.max(span.end, ...touching.map((old) => old.end));
      this.#db.run('INSERT INTO spans VALUES (?, ?, ?)', id, start, end);
    }
  }
  /**
   * Forgets that spans of an object are held, because its bytes were found to be wrong. A complete object becomes a partial one, also where there is nothing
   * to forget, and spans that overlap are put in order.
   */
  removeSpans(path: string, wrong: readonly Span[]): void {
    const left = subtractSpans(mergeSpans(this.spans(path)), wrong);
    this.#db.run('UPDATE objects SET complete = 0, size = NULL WHERE path = ?', path);
    this.#db.run('DELETE FROM spans WHERE object = (SELECT id FROM objects WHERE path = ?)', path);
    this.addSpans(path, left);
  }
  /** Says that an object which is held whole may not lie in its place any more: its spans are all of it. @returns false for one that was not called whole */
  setIncomplete(path: string): boolean {
    const spans = this.spans(path);
    const wasWhole = this.#db.run('UPDATE objects SET complete = 0 WHERE path = ? AND complete = 1', path).changes > 0;
    if (wasWhole) this.addSpans(path, spans);
    return wasWhole;
  }
  /**
   * Paths of objects that are not called whole.
   * @param choice.fromStart only those of which one span is held, from the first byte: they may be whole all the same
   */
  incomplete({ fromStart }: { fromStart: boolean }): string[] {
    const one = '(SELECT count(*) = 1 AND min(start) = 0 FROM spans WHERE object = id)';
    const rows = this.#db.all<{ path: string }>(
      `SELECT path FROM objects WHERE complete = 0 ${fromStart ? `AND ${one}` : ''} ORDER BY path`,
    );
    return rows.map(({ path }) => path);
  }
  /** Rows of builds, answers, keys and settings that are not as they were written. */
  damagedRows(): DamagedRow[] {
    return damagedRows(this.#db);
  }
  /** True while a damaged row is there, whatever is in it. */
  hasRow(row: DamagedRow): boolean {
    return hasRow(this.#db, row);
  }
  /** Forgets a damaged row. */
  removeRow(row: DamagedRow): void {
    this.transaction(() => removeRow(this.#db, row));
  }
  /** Takes a row that was damaged for right as it is now. */
  sealRow(row: DamagedRow): void {
    sealRow(this.#db, row);
  }
  /** Rows about objects and spans that no pakrat wrote, which say nothing. */
  impossibleRows(): number {
    return countImpossibleRows(this.#db);
  }
  /** Takes back what {@link impossibleRows} counts: an object is not held whole then; spans stay as far as they are possible. */
  removeImpossibleRows(): void {
    this.transaction(() => removeImpossibleRows(this.#db));
  }
  /**
   * Says that an object that was held whole is not any more. That it was is remembered with its size, until it is held again: whoever
   * repairs a store may be killed before that.
   * @param size of all of it
   */
  loseObject(path: string, size: number): void {
    this.#db.run('DELETE FROM spans WHERE object = (SELECT id FROM objects WHERE path = ?)', path);
    this.#db.run('UPDATE objects SET complete = 0, size = ? WHERE path = ?', size, path);
  }
  /** Forgets an object altogether. */
  removeObject(path: string): void {
    this.#db.run('DELETE FROM objects WHERE path = ?', path);
  }
  /** Every object: its size when whole, else the verified bytes of it; and the size of one that was lost since it was whole. */
  *objects(): Generator<{ path: string; complete: boolean; bytes: number; lostSize: number | undefined }> {
    const rows = this.#db.iterate<{ path: string; complete: number; bytes: number; size: number | null }>(
      `SELECT path, complete, size, CASE WHEN complete THEN size
         ELSE (SELECT coalesce(sum(end - start), 0) FROM spans WHERE object = id) END AS bytes FROM objects ORDER BY path`,
    );
    for (const { path, complete, bytes, size } of rows) {
      // One that has all of its bytes is on its way from one place to the other.
      const isLost = complete !== 1 && size !== null && bytes < size;
      yield { path, complete: complete === 1, bytes, lostSize: isLost ? size : undefined };
    }
  }
  /** Bytes of all verified objects and spans. */
  heldBytes(): number {
    const sum = this.#db.get<{ bytes: number }>(
      `SELECT (SELECT coalesce(sum(size), 0) FROM objects WHERE complete = 1) + (SELECT coalesce(sum(end - start), 0) FROM spans) AS bytes`,
    );
    return sum?.bytes ?? 0;
  }

  addKeys(keys: readonly KeyRow[]): void {
    const sql = `INSERT INTO keys VALUES (@name, @key, @extra, @source)
      ON CONFLICT DO UPDATE SET key = excluded.key, extra = excluded.extra, source = excluded.source`;
    this.transaction(() => {
      for (const row of keys) this.#db.run(sql, row);
    });
  }
  key(name: string): string | undefined {
    return this.#db.get<{ key: string }>('SELECT key FROM keys WHERE name = ?', name)?.key;
  }
  keys(): KeyRow[] {
    return this.#db.all<KeyRow>('SELECT name, key, extra, source FROM keys ORDER BY name');
  }
}

/**
 * Opens a database that may not be written, nor its folder. SQLite would want to make files beside it for a log that is not there,
 * so one without a log is read from memory.
 */
function openAsItIs(path: string): Sqlite {
  if (fs.existsSync(`${path}-wal`)) return new Sqlite(path, { timeout, readonly: true });
  const bytes = asBuffer(reading(path, () => readOwn(path)));
  // The format's read and write version: 2 asks for a log, which a database in memory cannot have.
  if (bytes.length > 19) bytes.fill(1, 18, 20);
  return new Sqlite(path, { bytes, readonly: true });
}
