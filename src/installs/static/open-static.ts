import { basename, dirname } from 'node:path';
import type { Build } from '../../builds/build.ts';
import type { EntryPlace, Objects } from '../../builds/objects.ts';
import type { Root } from '../../builds/roots/root.ts';
import { toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { reading, readOwn } from '../../files/read-at.ts';
import { decodeBuildConfig } from '../../formats/configs/build-config.ts';
import { type ConfigFile, decodeConfig } from '../../formats/configs/config-file.ts';
import { decodeKeyLayouts, staticHashSize } from '../../formats/local/key-layout.ts';
import { keyOfEntry, sizeByTable } from '../../verify/entry-key.ts';
import type { Install } from '../casc/find-install.ts';
import { type CheckedObject, checkFolderEntries, type FolderEntry } from '../check-folder.ts';
import { countHere, type FolderBuild, loosePlace, noArchives, noCdn, notInstalled } from '../folder-build.ts';
import { StaticContainer } from './static-container.ts';
import { bareManifests, withEncoding } from './static-manifests.ts';

/**
 * Opens a static container: a game without indices, whose ekeys say where entries lie. Nothing is written. Needs `close`.
 * @throws E_FORMAT… for a damaged build config, E_UNSUPPORTED for one without layouts
 */
export function openStatic(install: Install, path: string): FolderBuild {
  const { file } = install;
  const bytes = reading(file, () => readOwn(file));
  const config = decodeConfig(bytes);
  const layouts = decodeKeyLayouts(config);
  if (layouts === undefined) {
    throw new PakratError('E_UNSUPPORTED', `${file} has no key-layout lines`, { data: { path: file } });
  }
  const container = new StaticContainer(dirname(file), layouts);
  const text = withEncoding(config, bytes);
  return {
    kind: 'casc',
    path,
    cdnConfig: noArchives,
    notes: [],
    identity: identityOf(config, md5Hex(text), install),
    objects: staticObjects(container, text),
    prepare: (folders) => bareManifests(container, decodeBuildConfig(text), folders),
    isHere: (ekeys) => ekeys.some((ekey) => container.find(ekey) !== undefined),
    async info(build) {
      const here = await countHere(build, (ekey) => container.find(toHex(ekey)) !== undefined);
      return { path: install.root, container: container.folder, layouts: layouts.layouts.size, ...here };
    },
    checkWith: (build, signal) => checkStatic(container, build, signal),
    checkBytes: () => container.bytes(),
    close: () => container.close(),
  };
}

function identityOf(config: ConfigFile, buildConfig: string, { root }: Install): FolderBuild['identity'] {
  const value = (key: string): string | undefined => config.get(key)?.join(' ');
  return {
    product: value('build-uid') ?? basename(root),
    name: value('client-version') ?? value('build-name') ?? buildConfig,
    ...noCdn,
    buildConfig,
  };
}

function staticObjects(container: StaticContainer, text: Uint8Array): Objects {
  return {
    config: async () => text,
    index: ({ hash }) => Promise.reject(new PakratError('E_NOT_FOUND', `an installed game has no index ${hash}`)),
    entries: async () => {},
    locate: (ekey, size) => locate(container, ekey, size),
    open({ object }) {
      const found = container.find(object.hash);
      if (found === undefined) throw notInstalled(object.hash);
      return found;
    },
  };
}

/** The place of an entry. Only the first bytes of its key are a hash: the whole of it, which is checked when it is read, is told by the entry. */
function locate(container: StaticContainer, ekey: string, known: number | undefined): EntryPlace | undefined {
  const found = container.find(ekey);
  if (found === undefined) return undefined;
  const { file, offset, left } = found;
  const read = (from: number, length: number): Uint8Array => container.read(file, offset + from, length);
  const size = known ?? sizeByTable(read) ?? left;
  if (size > left) throw new PakratError('E_INTEGRITY', `${file} ends before entry ${ekey} does`, { data: { ekey } });
  const key = keyOfEntry(read, size);
  if (!key.startsWith(ekey.slice(0, staticHashSize * 2))) {
    throw new PakratError('E_INTEGRITY', `entry ${ekey} hashes to ${key}`, {
      hint: 'Let the launcher of the game repair it.',
      data: { ekey, found: key },
    });
  }
  return loosePlace(key, size, ekey);
}

/** Checks every entry that the encoding file knows, or else the names, as far as its data file is there. */
async function* checkStatic(
  container: StaticContainer,
  build: Build,
  signal: AbortSignal | undefined,
): AsyncGenerator<CheckedObject> {
  const known = build.encoding.layout.ekeyPageCount > 0 ? encodedEntries(build) : namedEntries(await build.wholeRoot());
  yield* checkFolderEntries(entriesHere(container, known), { signal });
}

interface KnownEntry {
  ekey: string;
  size: number | undefined;
}

function* entriesHere(container: StaticContainer, known: Iterable<KnownEntry>): Generator<FolderEntry> {
  for (const entry of known) {
    const found = container.find(entry.ekey);
    if (found !== undefined) yield entryAt(container, found, entry);
  }
}

/** An entry to be checked. Of its key only the first bytes are a hash. */
function entryAt(
  container: StaticContainer,
  { file, offset, left }: { file: string; offset: number; left: number },
  { ekey, size }: KnownEntry,
): FolderEntry {
  const name = `${file} ${ekey}`;
  const hash = ekey.slice(0, staticHashSize * 2);
  const read = (from: number, length: number): Uint8Array => container.read(file, offset + from, length);
  try {
    return { name, ekey: hash, size: size ?? sizeByTable(read) ?? left, read };
  } catch (error) {
    const fail = (): never => {
      throw error;
    };
    return { name, ekey: hash, size: left, read: fail };
  }
}

function* encodedEntries({ config, encoding }: Build): Generator<KnownEntry> {
  const { ekey, encodedSize } = config.encoding;
  if (ekey !== undefined) yield { ekey, size: encodedSize };
  for (const entry of encoding.ekeys()) yield { ekey: entry.ekey, size: entry.size };
}

function* namedEntries(root: Root): Generator<KnownEntry> {
  const seen = new Set<string>();
  for (const { parts } of root.list(() => true)) {
    for (const { ekey, encodedSize } of parts) {
      if (ekey === undefined || seen.has(ekey)) continue;
      seen.add(ekey);
      yield { ekey, size: encodedSize };
    }
  }
}
