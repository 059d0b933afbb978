import type { Span } from '../spans.ts';
import type { BuildIdentity } from './rows.ts';
import type { Sqlite } from './sqlite.ts';
import { addForgottenSql, addPinSql } from './statements.ts';

/** A build that is not kept any more. */
export type ForgottenBuild = Pick<
  BuildIdentity,
  'product' | 'name' | 'buildConfig' | 'cdnConfig' | 'cdnPath' | 'configPath'
>;

type NamedBuild = Pick<BuildIdentity, 'product' | 'buildConfig'>;

/** A stretch of an object whose bytes left the ledger; the whole file of one without an end. */
export interface LeavingBytes extends Span {
  path: string;
}

/** The part of the ledger that says what is to be kept, and what is on its way out. */
export class Keeping {
  readonly #db: Sqlite;
  #signed: { version: string; text: string } | undefined;

  constructor(db: Sqlite) {
    this.#db = db;
  }

  /** Everything that was ever wanted of a build, as JSON, the oldest first. */
  selections({ product, buildConfig }: NamedBuild): string[] {
    const rows = this.#db.all<{ selection: string }>(
      `SELECT s.selection FROM selections s JOIN builds b ON b.id = s.build WHERE b.product = ? AND b.build_config = ? ORDER BY s.id`,
      product,
      buildConfig,
    );
    return rows.map(({ selection }) => selection);
  }

  /** When a build was first asked for with this store, in milliseconds since 1970; undefined for one that it does not know. */
  arrival({ product, buildConfig }: NamedBuild): number | undefined {
    return this.#db.get<{ time: number }>(
      `SELECT a.time FROM arrivals a JOIN builds b ON b.id = a.build WHERE b.product = ? AND b.build_config = ?`,
      product,
      buildConfig,
    )?.time;
  }

  /** Keeps a build, whatever the rules say. @returns false when it is so already */
  pin({ product, buildConfig }: NamedBuild): boolean {
    return this.#db.run(addPinSql, product, buildConfig, Date.now()).changes > 0;
  }
  /** @returns false when it had no pin */
  unpin({ product, buildConfig }: NamedBuild): boolean {
    const sql = 'DELETE FROM pins WHERE product = ? AND build_config = ?';
    return this.#db.run(sql, product, buildConfig).changes > 0;
  }
  /** The builds that have a pin. */
  pins(): NamedBuild[] {
    if (!this.#hasPins()) return [];
    return this.#db.all<NamedBuild>('SELECT product, build_config AS buildConfig FROM pins ORDER BY id');
  }

  /** True for a build that is kept, whatever the rules say. */
  isPinned({ product, buildConfig }: NamedBuild): boolean {
    if (!this.#hasPins()) return false;
    const query = 'SELECT 1 FROM pins WHERE product = ? AND build_config = ?';
    return this.#db.get(query, product, buildConfig) !== undefined;
  }

  /** An older ledger that may not be written has none. */
  #hasPins(): boolean {
    return this.#db.get("SELECT 1 FROM sqlite_master WHERE name = 'pins'") !== undefined;
  }

  /** Does not keep a build any more: what only it needs may go. Its history stays. */
  forget(build: ForgottenBuild): void {
    this.#db.run(addForgottenSql, { ...build, time: Date.now() });
    this.#db.run('DELETE FROM builds WHERE product = ? AND build_config = ?', build.product, build.buildConfig);
  }
  /** The builds that were forgotten. */
  forgotten(): ForgottenBuild[] {
    return this.#db.all<ForgottenBuild>(
      `SELECT product, name, build_config AS buildConfig, cdn_config AS cdnConfig, cdn_path AS cdnPath, config_path AS configPath
       FROM forgotten ORDER BY id`,
    );
  }

  /**
   * A text that changes with whatever says what is to be kept: builds, what was ever wanted of them, pins. It is put together anew only where
   * something was written since the last time.
   */
  signature(): string {
    const version = this.#db.version();
    if (this.#signed?.version !== version) {
      const rows = [
        ...this.#db.all(
          `SELECT product, build_config, cdn_config, product_config, key_ring, cdn_path, config_path FROM builds ORDER BY product, build_config`,
        ),
        ...this.#db.all('SELECT build, selection FROM selections ORDER BY build, id'),
        ...this.#db.all('SELECT product, build_config FROM pins ORDER BY id'),
      ];
      this.#signed = { version, text: JSON.stringify(rows) };
    }
    return this.#signed.text;
  }

  /** Holds no more of an object than these spans, which are merged and in order. */
  keepSpans(path: string, spans: readonly Span[]): void {
    this.#db.run('DELETE FROM spans WHERE object = (SELECT id FROM objects WHERE path = ?)', path);
    for (const { start, end } of spans)
      this.#db.run('INSERT INTO spans SELECT id, ?, ? FROM objects WHERE path = ?', start, end, path);
  }

  /** Remembers bytes that leave the disk now: whoever is killed on the way is followed by one who looks here. */
  addLeaving(path: string, spans: readonly Span[]): void {
    for (const { start, end } of spans) this.#db.run('INSERT INTO leaving VALUES (?, ?, ?)', path, start, end);
  }
  /** Bytes that left the ledger, and for all that is known not the disk. */
  leaving(): LeavingBytes[] {
    return this.#db.all<LeavingBytes>('SELECT path, start, end FROM leaving ORDER BY path, start');
  }
  /** Says that nothing of an object is on its way out. */
  left(path: string): void {
    this.#db.run('DELETE FROM leaving WHERE path = ?', path);
  }
}
