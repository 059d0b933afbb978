import * as fs from 'node:fs';
import type Database from 'better-sqlite3';
import { mergeSpans, type Span } from '../spans.ts';
import { demandSchema, migrate } from './schema.ts';
import { iterate, openDatabase, prepare } from './sqlite.ts';
import { sqliteError } from './sqlite-error.ts';

/** A build as the ledger knows it. Entry counts and bytes are those of the last selection that was synced. */
export interface BuildRow {
  product: string;
  /** Version name, e.g. `11.2.0.60100`. */
  name: string;
  buildId: string | null;
  buildConfig: string;
  cdnConfig: string;
  productConfig: string | null;
  keyRing: string | null;
  region: string;
  cdnPath: string;
  configPath: string;
  /** The hosts that `cdns` named. */
  hosts: HostRow[];
  /** What the last sync was asked for, as JSON; null when only read. */
  selection: string | null;
  wanted: Amount;
  held: Amount;
}

/** A host as `cdns` named it. */
export interface HostRow {
  /** `http://host[:port]`, no slash at the end. */
  base: string;
  /** Only asked when the others failed. */
  fallback: boolean;
}

/** A number of entries and their encoded bytes. */
export interface Amount {
  entries: number;
  bytes: number;
}

/** An answer of a version service that the ledger kept. */
export interface AnswerRow {
  seqn: number | null;
  service: string;
  /** Milliseconds since 1970 of the last time it was given. */
  time: number;
  body: Uint8Array;
}

/** A stored TACT key; name in printed order, both lower-case hex. */
export interface KeyRow {
  name: string;
  key: string;
  extra: string;
  source: string;
}

/** Milliseconds to wait for another writer. */
const timeout = 10_000;

const buildColumns = `product, name, build_id AS buildId, build_config AS buildConfig, cdn_config AS cdnConfig,
  product_config AS productConfig, key_ring AS keyRing, region, cdn_path AS cdnPath, config_path AS configPath, hosts, selection,
  wanted_entries AS wantedEntries, wanted_bytes AS wantedBytes, held_entries AS heldEntries, held_bytes AS heldBytes`;

/**
 * The store's database: what is known and what is held. An open handle; needs `close`.
 * A commit is on disk when the call returns (synchronous = FULL), so a span is never lost after it was reported.
 * Whatever goes wrong with the database comes as E_STORE_FULL, E_STORE_LOCKED (after 10 s of another writer), E_STORE_DAMAGED or E_STORE.
 */
export class Ledger {
  readonly #path: string;
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  /**
   * Opens or creates the ledger at `path`; the folder must exist. With `readOnly` nothing is made or changed, not even beside it.
   * @throws E_STORE_DAMAGED when it is no database, E_STORE_SCHEMA when another pakrat must write to it first
   */
  constructor(path: string, options: { readOnly?: boolean } = {}) {
    this.#path = path;
    const opened = this.#guard(() => (options.readOnly === true ? openAsItIs(path) : openDatabase(path, { timeout })));
    try {
      this.#guard(() => {
        if (options.readOnly === true) {
          demandSchema(opened);
        } else {
          opened.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
          migrate(opened);
        }
      });
    } catch (error) {
      opened.close();
      throw error;
    }
    this.#db = opened;
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
  #run(sql: string, ...values: unknown[]): Database.RunResult {
    return this.#guard(() => this.#statement(sql).run(...values));
  }
  #get<Row>(sql: string, ...values: unknown[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...values) as Row | undefined);
  }
  #all<Row>(sql: string, ...values: unknown[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values) as Row[]);
  }
  #statement(sql: string): Database.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = prepare(this.#db, sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs `body` in one transaction: all of it is kept, or nothing. `body` must not wait for anything. */
  transaction<Result>(body: () => Result): Result {
    return this.#guard(() => this.#db.transaction(body).immediate());
  }

  setting(name: string): string | undefined {
    return this.#get<{ value: string }>('SELECT value FROM settings WHERE name = ?', name)?.value;
  }
  setSetting(name: string, value: string): void {
    this.#run('INSERT INTO settings VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', name, value);
  }

  /** Keeps an answer of a version service, given now or at `time`; the same text again only renews its time. */
  addAnswer(
    product: string,
    endpoint: string,
    { time = Date.now(), ...answer }: Omit<AnswerRow, 'time'> & { time?: number | undefined },
  ): void {
    this.#run(
      `INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET last_time = max(last_time, excluded.last_time), service = excluded.service`,
      ...[product, endpoint, answer.seqn, answer.service, time, time, Buffer.from(answer.body)],
    );
  }
  /** Answers of an endpoint, the newest first. */
  answers(product: string, endpoint: string): AnswerRow[] {
    return this.#all<AnswerRow>(
      `SELECT seqn, service, last_time AS time, body FROM answers WHERE product = ? AND endpoint = ? ORDER BY last_time DESC, rowid DESC`,
      ...[product, endpoint],
    );
  }

  /** Adds a build or renews what is known of it; counts and selection stay. */
  addBuild(build: Omit<BuildRow, 'selection' | 'wanted' | 'held'>): void {
    this.#run(
      `INSERT INTO builds (product, name, build_id, build_config, cdn_config, product_config, key_ring, region, cdn_path, config_path, hosts, time)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (product, build_config) DO UPDATE SET name = excluded.name, build_id = excluded.build_id, cdn_config = excluded.cdn_config,
         product_config = excluded.product_config, key_ring = excluded.key_ring, region = excluded.region, cdn_path = excluded.cdn_path,
         config_path = excluded.config_path, hosts = excluded.hosts, time = excluded.time`,
      ...[
        build.product,
        build.name,
        build.buildId,
        build.buildConfig,
        build.cdnConfig,
        build.productConfig,
        build.keyRing,
      ],
      ...[build.region, build.cdnPath, build.configPath, JSON.stringify(build.hosts.map(hostText)), Date.now()],
    );
  }
  /** Builds of a product (or all), the last added first. */
  builds(product?: string): BuildRow[] {
    const where = product === undefined ? '' : 'WHERE product = ?';
    const values = product === undefined ? [] : [product];
    type Flat = Omit<BuildRow, 'hosts' | 'wanted' | 'held'> & {
      hosts: string;
      wantedEntries: number;
      wantedBytes: number;
      heldEntries: number;
      heldBytes: number;
    };
    const rows = this.#all<Flat>(`SELECT ${buildColumns} FROM builds ${where} ORDER BY time DESC, id DESC`, ...values);
    return rows.map(({ wantedEntries, wantedBytes, heldEntries, heldBytes, hosts, ...row }) => ({
      ...row,
      hosts: (JSON.parse(hosts) as string[]).map(hostOfText),
      wanted: { entries: wantedEntries, bytes: wantedBytes },
      held: { entries: heldEntries, bytes: heldBytes },
    }));
  }
  /** Sets what is wanted of a build and how much of it is held. */
  setProgress(
    product: string,
    buildConfig: string,
    progress: { selection: string; wanted: Amount; held: Amount },
  ): void {
    const { selection, wanted, held } = progress;
    this.#run(
      `UPDATE builds SET selection = ?, wanted_entries = ?, wanted_bytes = ?, held_entries = ?, held_bytes = ? WHERE product = ? AND build_config = ?`,
      ...[selection, wanted.entries, wanted.bytes, held.entries, held.bytes, product, buildConfig],
    );
  }
  /** Adds to what is held of a build. */
  addHeld(product: string, buildConfig: string, more: Amount): void {
    this.#run(
      'UPDATE builds SET held_entries = held_entries + ?, held_bytes = held_bytes + ? WHERE product = ? AND build_config = ?',
      ...[more.entries, more.bytes, product, buildConfig],
    );
  }

  /** Marks an object as held whole. Its bytes and its name must be on disk already. */
  addComplete(path: string, size: number): void {
    this.#run(
      `INSERT INTO objects (path, size, complete, time) VALUES (?, ?, 1, ?)
       ON CONFLICT DO UPDATE SET size = excluded.size, complete = 1, time = excluded.time`,
      ...[path, size, Date.now()],
    );
    this.#run('DELETE FROM spans WHERE object = (SELECT id FROM objects WHERE path = ?)', path);
  }
  /** The size of an object that is held whole, or undefined. */
  completeSize(path: string): number | undefined {
    return this.#get<{ size: number }>('SELECT size FROM objects WHERE path = ? AND complete = 1', path)?.size;
  }
  /** The verified spans of an object, merged and in order; the whole of a complete one. */
  spans(path: string): Span[] {
    const size = this.completeSize(path);
    if (size !== undefined) return size === 0 ? [] : [{ start: 0, end: size }];
    return this.#all<Span>(
      'SELECT start, end FROM spans WHERE object = (SELECT id FROM objects WHERE path = ?) ORDER BY start',
      path,
    );
  }
  /** Adds verified spans of an object. Their bytes must be on disk already. Call it inside {@link transaction} when there are several. */
  addSpans(path: string, spans: readonly Span[]): void {
    this.#run('INSERT OR IGNORE INTO objects (path, time) VALUES (?, ?)', path, Date.now());
    const { id, complete } = this.#get<{ id: number; complete: number }>(
      'SELECT id, complete FROM objects WHERE path = ?',
      path,
    )!;
    if (complete === 1) return;
    for (const span of mergeSpans(spans)) {
      const touching = this.#all<Span>(
        'SELECT start, end FROM spans WHERE object = ? AND start <= ? AND end >= ?',
        ...[id, span.end, span.start],
      );
      for (const old of touching) this.#run('DELETE FROM spans WHERE object = ? AND start = ?', id, old.start);
      const start = Math.min(span.start, ...touching.map((old) => old.start));
      const end = Math.max(span.end, ...touching.map((old) => old.end));
      this.#run('INSERT INTO spans VALUES (?, ?, ?)', id, start, end);
    }
  }
  /** Forgets that [start, end) of an object is held, because its bytes were found to be wrong. A complete object becomes a partial one. */
  removeSpan(path: string, start: number, end: number): void {
    const spans = this.spans(path);
    this.#run('UPDATE objects SET complete = 0 WHERE path = ?', path);
    this.#run('DELETE FROM spans WHERE object = (SELECT id FROM objects WHERE path = ?)', path);
    const left = spans.flatMap((span) => [
      { start: span.start, end: Math.min(span.end, start) },
      { start: Math.max(span.start, end), end: span.end },
    ]);
    this.addSpans(path, left);
  }
  /** Forgets an object altogether. */
  removeObject(path: string): void {
    this.#run('DELETE FROM objects WHERE path = ?', path);
  }
  /** Every object below a path prefix: its size when whole, else the verified bytes of it. */
  *objects(): Generator<{ path: string; complete: boolean; bytes: number }> {
    // A statement of its own: one that is being gone through can do nothing else.
    const rows = prepare(
      this.#db,
      `SELECT path, complete, CASE WHEN complete THEN size
         ELSE (SELECT coalesce(sum(end - start), 0) FROM spans WHERE object = id) END AS bytes FROM objects ORDER BY path`,
    );
    for (const row of iterate(rows) as Iterable<{ path: string; complete: number; bytes: number }>)
      yield { path: row.path, complete: row.complete === 1, bytes: row.bytes };
  }
  /** Bytes of all verified objects and spans. */
  heldBytes(): number {
    const sum = this.#get<{ bytes: number }>(
      `SELECT (SELECT coalesce(sum(size), 0) FROM objects WHERE complete = 1) + (SELECT coalesce(sum(end - start), 0) FROM spans) AS bytes`,
    );
    return sum?.bytes ?? 0;
  }

  addKeys(keys: readonly KeyRow[]): void {
    this.transaction(() => {
      for (const { name, key, extra, source } of keys) {
        this.#run(
          `INSERT INTO keys VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET key = excluded.key, extra = excluded.extra, source = excluded.source`,
          ...[name, key, extra, source],
        );
      }
    });
  }
  key(name: string): string | undefined {
    return this.#get<{ key: string }>('SELECT key FROM keys WHERE name = ?', name)?.key;
  }
  keys(): KeyRow[] {
    return this.#all<KeyRow>('SELECT name, key, extra, source FROM keys ORDER BY name');
  }
}

/** Hosts are kept as `cdns` writes them: a fallback says so in its query. */
const fallbackQuery = '?fallback=1';

function hostText({ base, fallback }: HostRow): string {
  return fallback ? `${base}${fallbackQuery}` : base;
}

function hostOfText(text: string): HostRow {
  return { base: text.replace(/\?.*$/, ''), fallback: text.endsWith(fallbackQuery) };
}

/**
 * Opens a database that may not be written, nor its folder. SQLite would want to make files beside it for a log that is not there,
 * so one without a log is read from memory.
 */
function openAsItIs(path: string): Database.Database {
  if (fs.existsSync(`${path}-wal`)) return openDatabase(path, { timeout, readonly: true });
  const bytes = fs.readFileSync(path);
  // The format's read and write version: 2 asks for a log, which a database in memory cannot have.
  if (bytes.length > 19) bytes.fill(1, 18, 20);
  return openDatabase(bytes, { readonly: true });
}
