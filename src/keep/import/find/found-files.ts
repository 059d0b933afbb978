import * as fs from 'node:fs';
import { join, relative, sep } from 'node:path';
import { breathe } from '../../../core/breathe.ts';
import { isDiskBroken } from '../../../core/errors.ts';
import { walk } from '../../../files/walk.ts';
import { isSafeCdnPath, type ObjectKind, type ObjectName, usualConfigPath } from '../../../store/layout.ts';
import { mostTableBytes } from '../take/entry-source.ts';

/*
 * Objects are found by the names of their files alone, `…/config|data|patch/aa/bb/HASH[.index]`, wherever that stands in a folder: a mirror as it
 * is, the objects/ of keg, a store. Names are not believed, and lead to nothing but the hash, the kind and the CDN path that they have.
 */

/** A file that has the name of an object. */
export interface FoundFile {
  file: string;
  size: number;
  name: ObjectName;
}

/** What lies in a folder. */
export interface FoundFiles {
  /** Configs, product configs and indices. */
  small: FoundFile[];
  /** Everything else: archives, loose objects, patches. */
  large: FoundFile[];
  /** Single entries of archives, as keg keeps them (fragments/); their names are ekeys. */
  fragments: FoundFile[];
  /** Tables of the version services, by product: `PRODUCT/versions`, `PRODUCT/cdns`. */
  tables: Map<string, { versions?: string; cdns?: string }>;
  /** Folders with objects whose CDN path nothing tells. */
  nameless: Set<string>;
  /** Links, which are not followed. */
  links: string[];
  /** What a broken disk does not even say the kind of, or the names in. */
  unread: { name: string; error: unknown }[];
  /** The number of files that are no objects. */
  others: number;
}

/** The facts that names alone do not tell. */
export interface FindOptions {
  /** CDN paths that are known; one that a folder ends with is its own. */
  cdnPaths: Iterable<string>;
  /** The CDN path of folders that do not tell theirs. */
  fallback: string | undefined;
  /** A folder that is passed over: the store itself. */
  except: string;
  /** The folder is a store: objects held in part lie in `partial/`. */
  isStore: boolean;
  signal?: AbortSignal | undefined;
}

/** Product configs have a path of their own, which ends like this. */
const productFolder = 'configs/data';
const objectPattern = /^(?:(.*)\/)?([0-9a-f]{2})\/([0-9a-f]{2})\/(\2\3[0-9a-f]{28})(\.index)?$/;
const tablePattern = /^(?:.*\/)?([\w.-]{1,64})\/(versions|cdns)$/;

/** Goes through a folder. Links are not followed, and what is no plain file is not opened. @throws E_ABORTED, E_NOT_FOUND, E_STORE */
export async function findFiles(root: string, options: FindOptions): Promise<FoundFiles> {
  const found: FoundFiles = {
    small: [],
    large: [],
    fragments: [],
    tables: new Map(),
    nameless: new Set(),
    links: [],
    unread: [],
    others: 0,
  };
  const paths = [...options.cdnPaths].filter(isSafeCdnPath).sort((a, b) => b.length - a.length);
  const onUnread = (path: string, error: unknown): void =>
    void found.unread.push({ name: relative(root, path), error });
  for (const { name, isLink } of walk(root, { onUnread })) {
    await breathe(options.signal);
    const file = join(root, name);
    if (file.startsWith(options.except + sep)) continue;
    if (isLink) found.links.push(name);
    else sortIn(found, { root, name, file }, { ...options, paths });
  }
  return found;
}

function sortIn(
  found: FoundFiles,
  { root, name, file }: { root: string; name: string; file: string },
  options: FindOptions & { paths: readonly string[] },
): void {
  let stat: fs.Stats | undefined;
  try {
    stat = fs.lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (!isDiskBroken(error)) throw error;
    found.unread.push({ name, error });
  }
  if (stat?.isFile() !== true) return;
  const { size } = stat;
  const inStore = options.isStore ? name.replace(/^partial\//, '') : name;
  const [, folder = '', , , hash, suffix = ''] = objectPattern.exec(inStore) ?? [];
  if (hash === undefined) {
    noteTable(found, name, { file, size });
    return;
  }
  const place = placeOf([...root.split(sep), ...folder.split('/').filter(Boolean)].join('/'), options);
  if (place === undefined) {
    found.others += 1;
    return;
  }
  const { kind, base, cdnPath } = place;
  if (cdnPath === undefined) {
    found.nameless.add(base);
    return;
  }
  const isFragment = kind === 'fragments';
  const object: ObjectName = { cdnPath, kind: isFragment ? 'data' : kind, hash, suffix: suffix === '' ? '' : '.index' };
  const isSmall = kind === 'config' || kind === 'product' || suffix !== '';
  const list = isFragment ? found.fragments : isSmall ? found.small : found.large;
  list.push({ file, size, name: object });
}

/** The kind and the CDN path of objects below a folder; undefined for a folder that has none. */
function placeOf(
  folder: string,
  { paths, fallback }: { paths: readonly string[]; fallback: string | undefined },
): { kind: ObjectKind | 'fragments'; base: string; cdnPath: string | undefined } | undefined {
  if (folder.endsWith(`/${productFolder}`)) return { kind: 'product', base: folder, cdnPath: usualConfigPath };
  const [, base, kind] = /^(.*)\/(config|data|patch|fragments)$/.exec(folder) ?? [];
  if (base === undefined) return undefined;
  const known = paths.find((path) => base.endsWith(`/${path}`)) ?? /\/(tpr\/[\w.-]+)$/.exec(base)?.[1];
  const cdnPath = known !== undefined && isSafeCdnPath(known) ? known : fallback;
  return { kind: kind as ObjectKind | 'fragments', base, cdnPath };
}

function noteTable(found: FoundFiles, name: string, { file, size }: { file: string; size: number }): void {
  const [, product, endpoint] = tablePattern.exec(name) ?? [];
  if (product === undefined || size > mostTableBytes) {
    found.others += 1;
    return;
  }
  const table = found.tables.get(product) ?? {};
  found.tables.set(product, table);
  table[endpoint as 'versions' | 'cdns'] ??= file;
}
