import { cpSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Pakrat } from '../../src/pakrat.ts';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';
import { syntheticCdn } from './own-cdn.ts';
import type { SyntheticCdn } from './served-cdn.ts';
import { withPakrat } from './with-pakrat.ts';

/* A store that was synced once from a made tree, of which tests take copies to damage. */

/** A tree that is served, and a store that holds all of its build. */
export interface SyncedStore {
  cdn: SyntheticCdn;
  /** Copies the store to a folder that is not there yet. */
  copyTo(folder: string): StoreCopy;
}

/** A copy of the store. */
export interface StoreCopy {
  root: string;
  /** Paths of its objects, sorted: what lies in `config`, `data` and `patch`. */
  objects(): StoreObjects;
  file(path: string): string;
  /** Runs work with a session on this store, and closes it. */
  with<Result>(work: (pakrat: Pakrat) => Promise<Result>, options?: { offline?: boolean }): Promise<Result>;
  /** Runs statements on its ledger. */
  sql(text: string): void;
}

interface StoreObjects {
  /** The largest first. */
  archives: string[];
  indices: string[];
  configs: string[];
  loose: string[];
}

/** Serves a tree and syncs its build `wow` into a folder. */
export async function syncedStore(folder: string, make?: readonly string[]): Promise<SyncedStore> {
  const cdn = await syntheticCdn(make === undefined ? {} : { make });
  const original = storeCopy(folder, cdn);
  await original.with((pakrat) => pakrat.sync('wow', { all: true }));
  return copiesOf(folder, cdn);
}

/** The same tree, of which a store holds the entries of its build alone: all archives are held in part. */
export async function partlySyncedStore(folder: string, cdn: SyntheticCdn): Promise<SyncedStore> {
  const original = storeCopy(folder, cdn);
  await original.with((pakrat) => pakrat.sync('wow', { tags: ['Windows', 'enUS'] }));
  return copiesOf(folder, cdn);
}

function copiesOf(folder: string, cdn: SyntheticCdn): SyncedStore {
  return {
    cdn,
    copyTo(copy) {
      cpSync(folder, copy, { recursive: true });
      return storeCopy(copy, cdn);
    },
  };
}

function storeCopy(root: string, cdn: SyntheticCdn): StoreCopy {
  return {
    root,
    objects: () => objectsOf(root),
    file: (path) => join(root, path),
    with: (work, { offline = false } = {}) => withPakrat({ store: root, patchUrl: cdn.url, offline }, work),
    sql(text) {
      const db = new Sqlite(join(root, 'ledger.db'));
      db.exec(text);
      db.close();
    },
  };
}

function objectsOf(root: string): StoreObjects {
  const all = existsSync(join(root, 'tpr'))
    ? readdirSync(join(root, 'tpr'), { recursive: true, encoding: 'utf8' })
        .map((path) => `tpr/${path.replaceAll('\\', '/')}`)
        .filter((path) => /\/[0-9a-f]{32}(\.index)?$/.test(path) && !path.includes('configs/'))
        .sort()
    : [];
  const sizeOf = (path: string): number => statSync(join(root, path)).size;
  const isArchive = (path: string): boolean => all.includes(`${path}.index`);
  const data = all.filter((path) => path.includes('/data/'));
  return {
    archives: data.filter(isArchive).sort((a, b) => sizeOf(b) - sizeOf(a)),
    indices: data.filter((path) => path.endsWith('.index')),
    configs: all.filter((path) => path.includes('/config/')),
    loose: data.filter((path) => !path.endsWith('.index') && !isArchive(path)),
  };
}

/** Changes a bit of every `step`th byte of a file, from `first` on. */
export function flipBytes(bytes: Buffer, first: number, step = Number.POSITIVE_INFINITY): Buffer {
  for (let at = first; at < bytes.length; at += step) bytes[at]! ^= 0x20;
  return bytes;
}
