import { join } from 'node:path';

/**
 * The kinds of object that a CDN path holds. An index lies beside its archive, under the same kind.
 * A product config (`product`) has a CDN path of its own and no folder for its kind.
 */
export type ObjectKind = 'config' | 'data' | 'patch' | 'product';

/** An object as the CDN names it. */
export interface ObjectName {
  /** Path of the product on the CDN, e.g. `tpr/wow` (product configs have one of their own). */
  cdnPath: string;
  kind: ObjectKind;
  /** 32 lower-case hex digits. */
  hash: string;
  /** `.index` for an index, else empty. */
  suffix?: '' | '.index';
}

/** The path of an object below a CDN host and below the store alike: `tpr/wow/data/aa/bb/<hash>[.index]`. */
export function objectPath(name: ObjectName): string {
  const { cdnPath, kind, hash, suffix = '' } = name;
  const folder = kind === 'product' ? cdnPath : `${cdnPath}/${kind}`;
  return `${folder}/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}${suffix}`;
}

/** The CDN path of product configs, unless `cdns` says otherwise. */
export const usualConfigPath = 'tpr/configs/data';

/** The hash that an object is named by, out of its path. */
export function objectHash(path: string): string {
  return /([0-9a-f]{32})(?:\.index)?$/.exec(path)?.[1] ?? '';
}

/** The names that a store has for itself, in any case: some file systems take no notice of it. */
const ownNames =
  /^(tmp|groups|manifests|names|marks|wants|channels|partial|reserve|history\.jsonl|(ledger|lock|claims)\.db(-\w+)?)$/i;

/**
 * True for a CDN path that is safe to use below a folder: words of letters, digits, `.`, `_` and `-`, no dots alone, and none that begins
 * with a name that a store has for itself.
 */
export function isSafeCdnPath(path: string): boolean {
  const parts = path.split('/');
  return parts.every((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part)) && !ownNames.test(parts[0] ?? '');
}

/** The files and folders of a store. */
export interface StoreLayout {
  root: string;
  ledger: string;
  /** What the ledger knows that nobody else does, line by line: a new ledger takes it back. */
  history: string;
  lock: string;
  /** What processes fetch just now. */
  claims: string;
  groups: string;
  manifests: string;
  names: string;
  /** What each build names, for whoever decides what may go. */
  marks: string;
  /** What selections want of builds, once all of it was held. */
  wants: string;
  /** Objects of the version service that prove themselves: `aa/bb/<md5>`. */
  channels: string;
  temporary: string;
  /** Objects that are not held whole, under their paths. */
  partial: string;
  /** Space that is kept for the moment when the disk is full. */
  reserve: string;
}

/** Folders for what is derived of a build and can be made again: of a store, or of a session without one. */
export type LookupFolders = Pick<StoreLayout, 'groups' | 'manifests' | 'names' | 'temporary'>;

/** The layout of a store at `root`. */
export function storeLayout(root: string): StoreLayout {
  return {
    root,
    ledger: join(root, 'ledger.db'),
    history: join(root, 'history.jsonl'),
    lock: join(root, 'lock.db'),
    claims: join(root, 'claims.db'),
    groups: join(root, 'groups'),
    manifests: join(root, 'manifests'),
    names: join(root, 'names'),
    marks: join(root, 'marks'),
    wants: join(root, 'wants'),
    channels: join(root, 'channels'),
    temporary: join(root, 'tmp'),
    partial: join(root, 'partial'),
    reserve: join(root, 'reserve'),
  };
}
