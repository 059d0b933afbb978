import * as fs from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { Build } from '../../builds/build.ts';
import type { Objects } from '../../builds/objects.ts';
import { type BuildNames, findCalled } from '../../builds/resolve/build-spec.ts';
import { isAllZero } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { sizeOfFile } from '../../files/read-at.ts';
import type { CdnConfig } from '../../formats/configs/cdn-config.ts';
import type { ObjectName } from '../../store/layout.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import { type FolderBuild, noArchives, noCdn } from '../folder-build.ts';
import { hashPath, OpenFiles, readConfig } from '../read-file.ts';
import { type FolderConfigs, folderConfigs, type ListedBuild } from './configs.ts';

/**
 * Opens a build of a folder in the layout of a CDN. Objects are read where they lie, nothing is written. Needs `close`.
 * @param choice build config, its first digits, its build-name, or version or build id as that has it; undefined when the folder has one build
 * @throws E_NOT_FOUND when there is none of that name, E_USAGE when there are several; both say which
 */
export function openCdnFolder(path: string, choice: string | undefined): FolderBuild {
  const configs = folderConfigs(join(path, 'config'));
  const build = chooseBuild(configs.builds, choice, path);
  const files = new OpenFiles();
  const { cdnConfig, name, missing } = archivesHere(path, configs);
  return {
    kind: 'cdn',
    path,
    identity: identityOf(build, name, configs),
    cdnConfig,
    notes: configs.notes,
    objects: folderObjects(path, files),
    info: async (opened) => folderInfo(opened, { path, configs, missing }),
    close: () => files.close(),
  };
}

function chooseBuild(builds: readonly ListedBuild[], choice: string | undefined, path: string): ListedBuild {
  const [first, another] = builds;
  const only = choice === undefined && another === undefined ? first : undefined;
  const meant = choice === undefined ? only : findCalled(choice, builds, namesOf);
  if (meant !== undefined) return meant;
  const known = builds.map(({ key, name }) => (name === '' ? key : `${key} (${name})`));
  const data = { path, choice, known };
  if (first === undefined || choice !== undefined) {
    const hint =
      known.length === 0 ? 'Name the folder that holds config and data.' : `It has ${known.slice(0, 8).join(', ')}.`;
    throw new PakratError('E_NOT_FOUND', `${path} holds no build ${choice ?? ''}`.trimEnd(), { hint, data });
  }
  throw new PakratError('E_USAGE', `${path} holds several builds: ${known.slice(0, 8).join(', ')}`, {
    hint: `Say which, by its build config: ${path}@${first.key}.`,
    data,
  });
}

function namesOf({ key, name }: ListedBuild): BuildNames {
  return { name: '', buildConfig: key, buildName: name };
}

function identityOf({ key, name, config }: ListedBuild, cdnConfig: string, configs: FolderConfigs): BuildIdentity {
  const [keyRing = null, anotherRing] = configs.keyRings;
  return {
    ...noCdn,
    product: config.uid ?? 'unknown',
    name: name === '' ? key : name,
    buildConfig: key,
    cdnConfig,
    keyRing: anotherRing === undefined ? keyRing : null,
  };
}

/** The archives of which the folder has the index, over all its CDN configs: each may hold what a build needs. */
function archivesHere(path: string, { cdns }: FolderConfigs): { cdnConfig: CdnConfig; name: string; missing: number } {
  const all = [...new Set(cdns.flatMap(({ config }) => config.archives))];
  const archives = all.filter((hash) => sizeOfFile(objectFile(path, indexOf(hash))) !== undefined);
  const missing = all.length - archives.length;
  const only = cdns.length === 1 && missing === 0 ? cdns[0] : undefined;
  const fileIndex = cdns
    .map(({ config }) => config.fileIndex)
    .find((hash) => hash !== undefined && sizeOfFile(objectFile(path, indexOf(hash))) !== undefined);
  const cdnConfig = { ...noArchives, archives, fileIndex };
  return { cdnConfig, name: only?.key ?? md5Hex(new TextEncoder().encode(archives.join(' '))), missing };
}

function indexOf(hash: string): Pick<ObjectName, 'kind' | 'hash' | 'suffix'> {
  return { kind: 'data', hash, suffix: '.index' };
}

function objectFile(path: string, { kind, hash, suffix = '' }: Pick<ObjectName, 'kind' | 'hash' | 'suffix'>): string {
  return join(path, kind, `${hashPath(hash)}${suffix}`);
}

/** The folders where a store would have what it holds in part, when this one is of a store. */
function partialFolders(path: string): string[] {
  const parts = resolve(path).split(sep);
  const folders = parts.map((_, i) => join(parts.slice(0, i).join(sep) || sep, 'partial', ...parts.slice(i)));
  return folders.filter((folder) => fs.existsSync(folder));
}

function folderObjects(path: string, files: OpenFiles): Objects {
  const apart = partialFolders(path);
  return {
    config: async ({ hash }) => readConfig(join(path, 'config'), hash),
    index: async (name) => objectFile(path, name),
    entries: async () => {},
    open({ ekey, object, offset, size }) {
      const places = [path, ...apart].map((folder) => objectFile(folder, object));
      const file = places.find((place) => files.size(place) !== undefined) ?? '';
      const held = files.size(file);
      if (held === undefined) throw notHere(ekey, `${object.kind} object ${object.hash} is not there`);
      if (offset + size > held) throw notHere(ekey, `${file} has ${held} bytes only`);
      // A folder that another program still fills may have holes.
      if (isAllZero(files.read(file, offset, Math.min(size, 8)))) throw notHere(ekey, `${file} has a hole there`);
      return { file, offset };
    },
  };
}

function notHere(ekey: string, why: string): PakratError {
  return new PakratError('E_NOT_FOUND', `the folder does not hold entry ${ekey}: ${why}`, {
    hint: 'The folder holds only a part of the build.',
    data: { ekey },
  });
}

function folderInfo(
  build: Build,
  { path, configs, missing }: { path: string; configs: FolderConfigs; missing: number },
): Record<string, unknown> {
  const { archives } = build.cdnConfig;
  const sizes = archives.map((hash) => sizeOfFile(objectFile(path, { kind: 'data', hash })));
  const here = sizes.filter((size) => size !== undefined);
  return {
    path,
    builds: configs.builds.map(({ key, name }) => (name === '' ? key : `${key} ${name}`)),
    cdnConfigs: configs.cdns.map(({ key }) => key),
    archives: archives.length + missing,
    present: { archives: here.length, bytes: here.reduce((sum, size) => sum + size, 0) },
    notes: configs.notes,
  };
}
