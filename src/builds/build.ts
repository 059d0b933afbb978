import * as fs from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '../core/bytes.ts';
import { codeOf, isPakratError, PakratError } from '../core/errors.ts';
import { md5Hasher } from '../core/hash.ts';
import { encodeArchiveGroup } from '../formats/archive-group.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../formats/archive-index.ts';
import { readBlte } from '../formats/blte/decode.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import { type BuildConfig, decodeBuildConfig, type ManifestKeys } from '../formats/build-config.ts';
import { type CdnConfig, decodeCdnConfig } from '../formats/cdn-config.ts';
import { type Download, decodeDownload } from '../formats/download.ts';
import { decodeInstall, type Install } from '../formats/install.ts';
import {
  makeFolderDurable,
  moveDurable,
  storeError,
  temporaryName,
  writeAll,
  writeFileDurable,
} from '../store/durable.ts';
import type { ObjectName } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger.ts';
import type { Store } from '../store/store.ts';
import { EncodingFile } from './encoding-file.ts';
import { buildKeyRing } from './key-ring.ts';
import { ListfileIndex } from './listfile-index.ts';
import type { EntryPlace, Objects } from './objects.ts';
import { PagedIndex } from './paged-index.ts';
import { readAt } from './positional.ts';
import { openRoot } from './roots/index.ts';
import type { Root } from './roots/root.ts';

/** What identifies a build and says where it is. */
export type BuildIdentity = Omit<BuildRow, 'selection' | 'wanted' | 'held'>;

/** What a build is opened with. */
export interface BuildPlace {
  store: Store;
  identity: BuildIdentity;
  objects: Objects;
  /** Told of what happens, in words: `1000 indices`, `encoding`. */
  onStep?: ((step: string) => void) | undefined;
}

/**
 * Opens a build: its configs, the archive group (made from the indices the first time) and its encoding file.
 * The rest (root, install, download) is opened when it is asked for.
 * @throws E_NOT_FOUND or E_NETWORK… when an object of it cannot be had, E_FORMAT… when one is malformed
 */
export async function openBuild(place: BuildPlace): Promise<Build> {
  const { identity, objects } = place;
  const { cdnPath } = identity;
  const config = decodeBuildConfig(await objects.config({ cdnPath, kind: 'config', hash: identity.buildConfig }));
  const cdnConfig = decodeCdnConfig(await objects.config({ cdnPath, kind: 'config', hash: identity.cdnConfig }));
  const keys = await buildKeyRing(place.store.ledger, identity, objects);
  const group = await openGroup(place, cdnConfig);
  const build = new Build({
    ...place,
    config,
    cdnConfig,
    keys,
    group,
    fileIndex: await openFileIndex(place, cdnConfig),
  });
  try {
    await build.openEncoding();
    return build;
  } catch (error) {
    build.close();
    throw error;
  }
}

/** The sorted index of all archives of a CDN config; made from their indices when it is not there or not whole. */
async function openGroup(place: BuildPlace, cdnConfig: CdnConfig): Promise<PagedIndex | undefined> {
  const { store, identity, objects } = place;
  if (cdnConfig.archives.length === 0) return undefined;
  const file = join(store.layout.groups, `${identity.cdnConfig}.index`);
  try {
    return new PagedIndex(file);
  } catch (error) {
    // A damaged group is made again from the indices.
    if (codeOf(error) !== 'ENOENT' && !isDamage(error)) throw error;
  }
  place.onStep?.(`${cdnConfig.archives.length} archive indices`);
  const files = await objects.indices(cdnConfig.archives.map((hash) => indexName(identity.cdnPath, 'data', hash)));
  const indices: ArchiveIndex[] = files.map((path, i) =>
    decodeArchiveIndex(new Uint8Array(fs.readFileSync(path)), cdnConfig.archives[i]),
  );
  const { bytes } = encodeArchiveGroup(indices);
  writeFileDurable(file, bytes, store.layout.temporary);
  return new PagedIndex(file);
}

function isDamage(error: unknown): boolean {
  return codeOf(error)?.startsWith('E_FORMAT') === true || codeOf(error) === 'E_INTEGRITY';
}

async function openFileIndex(place: BuildPlace, cdnConfig: CdnConfig): Promise<ArchiveIndex | undefined> {
  const { fileIndex } = cdnConfig;
  if (fileIndex === undefined) return undefined;
  const [path] = await place.objects.indices([indexName(place.identity.cdnPath, 'data', fileIndex)]);
  return decodeArchiveIndex(new Uint8Array(fs.readFileSync(path!)), fileIndex);
}

/** The name of an index object. */
export function indexName(cdnPath: string, kind: 'data' | 'patch', hash: string): ObjectName {
  return { cdnPath, kind, hash, suffix: '.index' };
}

interface BuildParts extends BuildPlace {
  config: BuildConfig;
  cdnConfig: CdnConfig;
  keys: KeyRing;
  group: PagedIndex | undefined;
  fileIndex: ArchiveIndex | undefined;
}

/** An open build. Finds where entries lie and opens manifests; needs `close`. */
export class Build {
  readonly identity: BuildIdentity;
  readonly config: BuildConfig;
  readonly cdnConfig: CdnConfig;
  readonly keys: KeyRing;
  /** All entries of all archives, or undefined when the build has no archives. */
  readonly group: PagedIndex | undefined;
  readonly fileIndex: ArchiveIndex | undefined;
  readonly objects: Objects;
  readonly #store: Store;
  readonly #onStep: ((step: string) => void) | undefined;
  #encoding: EncodingFile | undefined;
  #root: Root | undefined;
  #listfile: ListfileIndex | undefined;

  constructor(parts: BuildParts) {
    this.identity = parts.identity;
    this.config = parts.config;
    this.cdnConfig = parts.cdnConfig;
    this.keys = parts.keys;
    this.group = parts.group;
    this.fileIndex = parts.fileIndex;
    this.objects = parts.objects;
    this.#store = parts.store;
    this.#onStep = parts.onStep;
  }

  close(): void {
    this.group?.close();
    this.#encoding?.close();
    this.#root?.close();
    this.#listfile?.close();
  }

  /** The encoding file; open as long as the build is. */
  get encoding(): EncodingFile {
    return this.#encoding!;
  }

  /** Opens the encoding file; {@link openBuild} does. */
  async openEncoding(): Promise<void> {
    this.#onStep?.('encoding');
    const file = await this.manifest(this.config.encoding);
    this.#encoding = new EncodingFile(file);
  }

  /**
   * Where an entry lies.
   * @param ekey hex; 32 digits, or the first 18 of them when it is in an archive
   * @param size encoded size, for a loose object that no index lists
   */
  locate(ekey: string, size?: number): EntryPlace | undefined {
    const key = fromHex(ekey);
    const entry = this.group?.find(key);
    if (entry !== undefined) {
      const hash = this.cdnConfig.archives[entry.archive];
      if (hash === undefined) return undefined;
      return {
        ekey: toHex(entry.ekey),
        object: this.#data(hash),
        loose: false,
        offset: entry.offset,
        size: entry.size,
      };
    }
    const listed = this.fileIndex?.find(key);
    const full = listed === undefined ? ekey : toHex(listed.ekey);
    const looseSize = listed?.size ?? size ?? this.#encoding?.findEkey(full)?.size;
    if (looseSize === undefined || full.length !== 32) return undefined;
    return { ekey: full, object: this.#data(full), loose: true, offset: 0, size: looseSize };
  }

  #data(hash: string): ObjectName {
    return { cdnPath: this.identity.cdnPath, kind: 'data', hash };
  }

  /**
   * The decoded bytes of a manifest as a file of the store, checked against its ckey; fetched and decoded when it is not there.
   * @throws E_NOT_FOUND when nothing says where it is, E_INTEGRITY when it decodes to something else
   */
  async manifest(keys: ManifestKeys): Promise<string> {
    const file = join(this.#store.layout.manifests, keys.ckey);
    if (fs.existsSync(file)) return file;
    const ekeys = keys.ekey === undefined ? (this.encoding.findCkey(keys.ckey)?.ekeys ?? []) : [keys.ekey];
    const place = ekeys.map((ekey) => this.locate(ekey, keys.encodedSize)).find((found) => found !== undefined);
    if (place === undefined) {
      throw new PakratError('E_NOT_FOUND', `no index and no encoding file says where manifest ${keys.ckey} is`, {
        data: { ckey: keys.ckey },
      });
    }
    await this.objects.entries([place]);
    await this.#decodeTo(file, place, keys);
    return file;
  }

  async #decodeTo(file: string, place: EntryPlace, keys: ManifestKeys): Promise<void> {
    const { layout } = this.#store;
    makeFolderDurable(layout.temporary);
    const name = temporaryName(layout.temporary);
    const fd = fs.openSync(name, 'wx');
    try {
      const hash = md5Hasher();
      let size = 0;
      for await (const piece of this.readEncoded(place, keys.size)) {
        hash.update(piece);
        writeAll(fd, piece, size);
        size += piece.length;
      }
      const found = toHex(hash.digest());
      if (found !== keys.ckey) {
        throw new PakratError('E_INTEGRITY', `manifest ${keys.ckey} decodes to ${found}`, {
          data: { ckey: keys.ckey, found },
        });
      }
      fs.fsyncSync(fd);
      moveDurable(name, file);
    } catch (error) {
      throw storeError(error, file);
    } finally {
      fs.closeSync(fd);
      fs.rmSync(name, { force: true });
    }
  }

  /** The decoded bytes of a held entry, in pieces. @throws E_KEY_MISSING, E_INTEGRITY, E_FORMAT… */
  async *readEncoded(place: EntryPlace, decodedSize?: number): AsyncGenerator<Uint8Array> {
    const { file, offset } = this.objects.open(place);
    const fd = fs.openSync(file, 'r');
    try {
      const read = async (at: number, size: number): Promise<Uint8Array> =>
        readAt(fd, offset + at, size, `entry ${place.ekey}`);
      yield* readBlte(read, place.size, {
        keys: this.keys,
        ekey: place.ekey,
        ...(decodedSize === undefined ? {} : { decodedSize }),
      });
    } finally {
      fs.closeSync(fd);
    }
  }

  async #load(keys: ManifestKeys): Promise<Uint8Array> {
    return new Uint8Array(fs.readFileSync(await this.manifest(keys)));
  }

  /** The install manifest, or undefined when the build has none. */
  async install(): Promise<Install | undefined> {
    const keys = this.config.install;
    return keys === undefined ? undefined : optional(async () => decodeInstall(await this.#load(keys)));
  }

  /** The download manifest, or undefined when the build has none. */
  async download(): Promise<Download | undefined> {
    const keys = this.config.download;
    return keys === undefined ? undefined : optional(async () => decodeDownload(await this.#load(keys)));
  }

  /** The names that were imported, or undefined. */
  listfile(): ListfileIndex | undefined {
    this.#listfile ??= ListfileIndex.open(this.#store.layout);
    return this.#listfile;
  }

  /** The root of the build: its names. Where it has none that is understood, what stands in for it, with a note. */
  async root(): Promise<Root> {
    if (this.#root === undefined) {
      this.#onStep?.('root');
      this.#root = await this.#openRoot();
    }
    return this.#root;
  }

  async #openRoot(): Promise<Root> {
    const { root, encoding } = this.config;
    return openRoot({
      layout: this.#store.layout,
      config: this.config,
      file: root && (await optional(() => this.manifest(root))),
      encodingFile: await this.manifest(encoding),
      listfile: this.listfile(),
      load: (keys) => this.#load(keys),
      install: () => this.install(),
    });
  }
}

/** A manifest that the build names but no host has: real builds have such, and are used without. */
async function optional<Value>(body: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await body();
  } catch (error) {
    if (isPakratError(error) && error.code === 'E_NOT_FOUND') return undefined;
    throw error;
  }
}
