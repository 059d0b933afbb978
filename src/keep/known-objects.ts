import { existsSync } from 'node:fs';
import { CdnLists } from '../builds/cdn-lists.ts';
import { ownObjects, patchObjects } from '../builds/own-objects.ts';
import { isPakratError, resultUnless } from '../core/errors.ts';
import { hasObject } from '../fetch/small-objects.ts';
import { decodeBuildConfig } from '../formats/configs/build-config.ts';
import { decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import { type ObjectKind, type ObjectName, objectPath, usualConfigPath } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import type { Store } from '../store/store.ts';
import { checkObject } from '../verify/check-object.ts';
import { selectionOf } from './damaged-rows.ts';

/** An object that the ledger knows. */
export interface KnownObject {
  path: string;
  name: ObjectName;
  /** The way to check it: the whole at once, entry by entry by its index, as one entry, or as a patch. */
  form: 'small' | 'archive' | 'loose' | 'patch';
  complete: boolean;
  /** It was complete, and was lost since. */
  lost: boolean;
  /** Size of one that is complete, or was. */
  size: number;
}

/** The objects that a ledger knows, small ones first, for those say what the others are; and rows of it that name none. */
interface KnownObjects {
  objects: KnownObject[];
  strays: string[];
}

/** Everything that the ledger knows. */
export function knownObjects(store: Store, lists = new CdnLists(store)): KnownObjects {
  const rows = [...store.ledger.objects()];
  const builds = store.ledger.builds();
  const paths = new Set(rows.map(({ path }) => path));
  const archives = new Set<string>();
  for (const build of builds) {
    const list = lists.find(build);
    for (const hash of list?.archives ?? []) archives.add(hash);
    for (const hash of list?.patchArchives ?? []) archives.add(hash);
  }
  const configPaths = new Set([usualConfigPath, ...builds.map(({ configPath }) => configPath)]);
  const strays: string[] = [];
  const objects = rows.flatMap(({ path, complete, bytes, lostSize }): KnownObject[] => {
    const name = parseObjectPath(path, configPaths);
    if (name === undefined) {
      strays.push(path);
      return [];
    }
    const lost = lostSize !== undefined;
    const isArchive =
      archives.has(name.hash) || paths.has(`${path}.index`) || (!complete && !lost && isArchivePart(store, path));
    const form = formOf(name, isArchive);
    return [{ path, name, form, complete, lost, size: complete ? bytes : (lostSize ?? 0) }];
  });
  const isSmall = ({ form }: KnownObject): number => (form === 'small' ? 0 : 1);
  return { objects: objects.sort((a, b) => isSmall(a) - isSmall(b)), strays };
}

/** True for an object that is held elsewhere than from its first byte on, as no loose one is. */
function isArchivePart({ ledger }: Store, path: string): boolean {
  const [first, ...others] = ledger.spans(path);
  return first !== undefined && (first.start > 0 || others.length > 0);
}

function formOf({ kind, suffix }: ObjectName, isArchive: boolean): KnownObject['form'] {
  if (suffix === '.index' || kind === 'config' || kind === 'product') return 'small';
  if (isArchive) return 'archive';
  return kind === 'patch' ? 'patch' : 'loose';
}

const objectPattern = /^(.+)\/([0-9a-f]{2})\/([0-9a-f]{2})\/(\2\3[0-9a-f]{28})(\.index)?$/;

/**
 * The name behind an object's path; undefined for a path that is none.
 * @param configPaths folders of product configs: these have a folder of their own, without a kind
 */
export function parseObjectPath(path: string, configPaths: ReadonlySet<string> = new Set()): ObjectName | undefined {
  const [, folder, , , hash, suffix] = objectPattern.exec(path) ?? [];
  if (folder === undefined || hash === undefined) return undefined;
  if (configPaths.has(folder)) return { cdnPath: folder, kind: 'product', hash };
  const [, cdnPath, kind] = /^(.+)\/(config|data|patch)$/.exec(folder) ?? [];
  if (cdnPath === undefined) return undefined;
  return { cdnPath, kind: kind as ObjectKind, hash, suffix: suffix === undefined ? '' : '.index' };
}

/** Tells of an object whether a build has a part in it: its configs, what its CDN config names, and loose objects of its CDN path. */
export function belongsTo(store: Store, build: BuildRow): (object: KnownObject) => boolean {
  const { cdnPath, buildConfig, cdnConfig, productConfig, keyRing } = build;
  const config = (hash: string): ObjectName => ({ cdnPath, kind: 'config', hash });
  const patches = decodeIf(store, config(buildConfig), (bytes) => {
    const { patch, patchConfig } = decodeBuildConfig(bytes);
    return [patch?.ckey, patchConfig];
  });
  const listed = decodeIf(store, config(cdnConfig), (bytes) => {
    const { archives, patchArchives, fileIndex, patchFileIndex } = decodeCdnConfig(bytes);
    return [...archives, ...patchArchives, fileIndex, patchFileIndex];
  });
  const named = new Set([buildConfig, cdnConfig, productConfig, keyRing, ...patches, ...listed]);
  return ({ name, form }) =>
    named.has(name.hash) || (name.cdnPath === cdnPath && (form === 'loose' || form === 'patch'));
}

/** The small objects of a synced build that the store does not have; those that its configs name only while these are there. */
export function lackingObjects(store: Store, build: BuildRow): ObjectName[] {
  const { cdnPath, selection } = build;
  const [cdnConfig] = decodeIf(store, { cdnPath, kind: 'config', hash: build.cdnConfig }, (bytes) => [
    decodeCdnConfig(bytes),
  ]);
  const [config] = decodeIf(store, { cdnPath, kind: 'config', hash: build.buildConfig }, (bytes) => [
    decodeBuildConfig(bytes),
  ]);
  const isMirror = selectionOf({ selection })?.all === true;
  const patches = isMirror && config !== undefined && cdnConfig !== undefined && patchObjects(build, config, cdnConfig);
  // One that it can be read without, and whose row is lost, was there if its file is.
  const left = besides(build).filter((name) => existsSync(store.file(objectPath(name))));
  return [...ownObjects(build, cdnConfig), ...(patches || []), ...left].filter((name) => !hasObject(store, name));
}

/** The objects beside a build that it names, and can be read without: that one of them is lost for good is told, each time. */
export function besides({ cdnPath, configPath, keyRing, productConfig }: BuildRow): ObjectName[] {
  const names: ObjectName[] = [];
  if (keyRing !== null) names.push({ cdnPath, kind: 'config', hash: keyRing });
  if (productConfig !== null) names.push({ cdnPath: configPath, kind: 'product', hash: productConfig });
  return names;
}

/** What a small object says that is held, and right; nothing of others. */
export function decodeIf<Key>(store: Store, name: ObjectName, decode: (bytes: Uint8Array) => Key[]): Key[] {
  const keys = resultUnless(isPakratError, () => {
    const bytes = store.readObject(name);
    if (bytes !== undefined) checkObject(name, bytes);
    return bytes && decode(bytes);
  });
  return keys ?? [];
}
