import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';

/*
 * Random damage to a store: to any file of it and to any row of its ledger. Each gives back a line that tells what it did, so that a
 * failure can be seen again.
 */

type Random = () => number;

/** Files that are no part of what is held, or are damaged in a way of their own. */
const otherFiles = /^(ledger\.db|tmp\/|channels\/)/;

/**
 * Does some damage to a store. @returns what it did; undefined when there was nothing to do it to
 * @param spared which of them is not damaged: builds are restored from what else tells of them, so that not both can be lost at once
 */
export function damageStore(root: string, random: Random, spared: keyof typeof sparedTables): string | undefined {
  return random() < 0.4 ? damageRow(root, random, spared) : damageFile(root, random);
}

function pick<Value>(values: readonly Value[], random: Random): Value | undefined {
  return values[Math.floor(random() * values.length)];
}

function filesOf(root: string): string[] {
  return fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !otherFiles.test(path) && fs.statSync(join(root, path)).isFile())
    .sort();
}

const fileDamages: Record<string, (path: string, random: Random) => string> = {
  flip(path, random) {
    const bytes = fs.readFileSync(path);
    const at = Math.floor(random() * bytes.length);
    const bit = Math.floor(random() * 8);
    if (bytes.length > 0) bytes[at]! ^= 1 << bit;
    fs.writeFileSync(path, bytes);
    return `bit ${bit} of byte ${at} of ${bytes.length}`;
  },
  zero(path, random) {
    const bytes = fs.readFileSync(path);
    const at = Math.floor(random() * bytes.length);
    bytes.fill(0, at, Math.min(at + 512, bytes.length));
    fs.writeFileSync(path, bytes);
    return `zeros from ${at} of ${bytes.length}`;
  },
  cut(path, random) {
    const { size } = fs.statSync(path);
    const end = Math.floor(random() * size);
    fs.truncateSync(path, end);
    return `cut to ${end} of ${size}`;
  },
  grow(path) {
    fs.appendFileSync(path, 'more');
    return 'grown';
  },
  remove(path) {
    fs.rmSync(path);
    return 'removed';
  },
  folder(path) {
    fs.rmSync(path);
    fs.mkdirSync(path);
    return 'a folder';
  },
  pipe(path) {
    fs.rmSync(path);
    execFileSync('mkfifo', [path]);
    return 'a pipe';
  },
  text(path) {
    fs.writeFileSync(path, '<html>no object</html>');
    return 'overwritten';
  },
};

function damageFile(root: string, random: Random): string | undefined {
  const path = pick(filesOf(root), random);
  const kind = pick(Object.keys(fileDamages), random);
  if (path === undefined || kind === undefined) return undefined;
  return `${path}: ${fileDamages[kind]?.(join(root, path), random)}`;
}

/** Tables of the ledger, and their columns that answers depend on. */
const columns: Record<string, readonly string[]> = {
  objects: ['id', 'path', 'size', 'complete'],
  spans: ['object', 'start', 'end'],
  // Not the selection: nothing else tells it.
  builds: [
    'product',
    'name',
    'build_config',
    'cdn_config',
    'hosts',
    'region',
    'cdn_path',
    'wanted_entries',
    'held_entries',
  ],
  answers: ['product', 'endpoint', 'service', 'last_time', 'body'],
  settings: ['name', 'value'],
};

/** Answers tell builds, settings what of them was wanted. */
const sparedTables = { builds: ['builds'], answers: ['answers', 'settings'] };

function damageRow(root: string, random: Random, spared: keyof typeof sparedTables): string | undefined {
  const table = pick(
    Object.keys(columns).filter((name) => !sparedTables[spared].includes(name)),
    random,
  );
  const column = pick(columns[table ?? ''] ?? [], random);
  if (table === undefined || column === undefined) return undefined;
  const db = new Sqlite(join(root, 'ledger.db'));
  try {
    db.exec('PRAGMA foreign_keys = OFF');
    return withoutTriggers(db, () => changeRow(db, { table, column }, random));
  } finally {
    db.close();
  }
}

/** Changes the ledger of a store behind its back, as a disk does. */
export function damageLedger(root: string, sql: string): void {
  const db = new Sqlite(join(root, 'ledger.db'));
  try {
    withoutTriggers(db, () => db.exec(sql));
  } finally {
    db.close();
  }
}

/** Damage runs no triggers. */
function withoutTriggers<Result>(db: Sqlite, work: () => Result): Result {
  const triggers = db.all<{ name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'");
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  try {
    return work();
  } finally {
    for (const { sql } of triggers) db.exec(sql);
  }
}

function changeRow(
  db: Sqlite,
  { table, column }: { table: string; column: string },
  random: Random,
): string | undefined {
  const rows = db.all<Record<string, unknown>>(`SELECT * FROM ${table}`);
  const row = pick(rows, random);
  if (row === undefined) return undefined;
  const names = Object.keys(row);
  const where = names.map((name) => `${name} IS ?`).join(' AND ');
  const values = names.map((name) => row[name]);
  if (random() < 0.3 && table !== 'builds') {
    db.run(`DELETE FROM ${table} WHERE ${where}`, ...values);
    return `${table} ${JSON.stringify(row)}: deleted`;
  }
  const value = otherValue(row[column], random);
  try {
    db.run(`UPDATE ${table} SET ${column} = ? WHERE ${where}`, value, ...values);
  } catch {
    return undefined;
  }
  return `${table} ${JSON.stringify(row).slice(0, 400)}: ${column} = ${String(value).slice(0, 400)}`;
}

/** A value of which one bit is another. */
function otherValue(value: unknown, random: Random): unknown {
  if (typeof value === 'number') return value ^ (1 << Math.floor(random() * 20));
  if (typeof value !== 'string' && !Buffer.isBuffer(value)) return 1;
  const bytes = Buffer.from(value as string, 'latin1');
  if (bytes.length > 0) bytes[Math.floor(random() * bytes.length)]! ^= 1 << Math.floor(random() * 7);
  return typeof value === 'string' ? bytes.toString('latin1') : bytes;
}
