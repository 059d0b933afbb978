import { join } from 'node:path';
import { concatBytes, fromHex, toHex } from '../core/bytes.ts';
import { isDamage, isNowhere, isUnavailable, PakratError, resultUnless } from '../core/errors.ts';
import { waitForAll } from '../core/wait-for-all.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import { type BltePart, type ReadRange, readBlte, readBltePart } from '../formats/blte/read.ts';
import { type BuildConfig, decodeBuildConfig, type ManifestKeys } from '../formats/configs/build-config.ts';
import { type CdnConfig, decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import type { ArchiveIndex } from '../formats/indices/archive-index.ts';
import type { EkeyEntry } from '../formats/manifests/encoding/pages.ts';
import { decodeInstall, type Install } from '../formats/manifests/install.ts';
import { DerivedFile, openDerived, readDerived } from '../store/derived/derived-file.ts';
import type { ObjectName } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import { openFileIndex, openGroup } from './indices/indices.ts';
import type { PagedIndex } from './indices/paged-index.ts';
import { buildKeyRing, learnObjectKey } from './keys/build-keys.ts';
import { ListfileIndex } from './listfile/listfile-index.ts';
import { listfileVersion } from './listfile/listfile-paths.ts';
import { bringManifest, readOrBring } from './manifests/bring-manifest.ts';
import { DownloadFile } from './manifests/download-file.ts';
import { EarlyManifests } from './manifests/early-manifests.ts';
import { EncodingFile } from './manifests/encoding-file.ts';
import { bringUnnamed } from './manifests/unnamed-encoding.ts';
import {
  type BuildPlace,
  type EntryPlace,
  type Objects,
  once,
  openRanges,
  optional,
  unlessLacking,
} from './objects.ts';
import { Mending, retryDamaged } from './retry-damaged.ts';
import { openRoot } from './roots/index.ts';
import type { FilePart, Root } from './roots/root.ts';

/**
 * Opens a build: its configs, the archive group (made from the indices the first time) and its encoding file.
 * The rest (root, install, download) is opened when it is asked for.
 * @throws E_NOT_FOUND or E_NETWORK… when an object of it cannot be had, E_FORMAT… when one is malformed
 */
export async function openBuild(place: BuildPlace): Promise<Build> {
  const { identity, objects } = place;
  await learnObjectKey(place);
  const read = (hash: string): Promise<Uint8Array> =>
    objects.config({ cdnPath: identity.cdnPath, kind: 'config', hash });
  const [config, cdnConfig, keys] = await waitForAll(
    read(identity.buildConfig).then(decodeBuildConfig),
    place.cdnConfig === undefined ? read(identity.cdnConfig).then(decodeCdnConfig) : Promise.resolve(place.cdnConfig),
    buildKeyRing(place.keys, identity, objects),
  );
  const listed = openFileIndex(place, cdnConfig);
  const early = EarlyManifests.begin(place, config, listed);
  let opened: { close(): Promise<void> } = early;
  try {
    const [fileIndex, group] = await waitForAll(listed, openGroup(place, cdnConfig));
    const build = new Build(place, { config, cdnConfig, keys, fileIndex, group, early });
    opened = build;
    await build.lookUp(() => build.openEncoding());
    return build;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface BuildParts extends Pick<Build, 'config' | 'cdnConfig' | 'keys' | 'fileIndex' | 'group'> {
  early: EarlyManifests;
}

/** An open build. Finds where entries lie and opens manifests; needs `close`. */
export class Build {
  readonly identity: BuildIdentity;
  readonly config: BuildConfig;
  readonly cdnConfig: CdnConfig;
  readonly keys: KeyRing;
  readonly fileIndex: ArchiveIndex | undefined;
  readonly objects: Objects;
  readonly #place: BuildPlace;
  readonly #early: EarlyManifests;
  /** Manifests that are being fetched and decoded: whoever wants one as well waits for it. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #handles = new Set<{ close(): void }>();
  #group: PagedIndex | undefined;
  #encoding: EncodingFile | undefined;
  #download: DownloadFile | undefined;
  #root: Promise<Root> | undefined;
  #openedRoot: Root | undefined;
  readonly #mending = new Mending(() => this.#mend().finally(() => this.#place.onStep?.(undefined)));

  constructor(place: BuildPlace, { config, cdnConfig, keys, fileIndex, group, early }: BuildParts) {
    this.identity = place.identity;
    this.config = config;
    this.cdnConfig = cdnConfig;
    this.keys = keys;
    this.fileIndex = fileIndex;
    this.objects = place.objects;
    this.#place = { ...place, onNote: once(place.onNote) };
    this.#early = early;
    this.#group = this.#keep(group);
  }

  /** Closes what is open, at once, and waits for what was begun early to end. */
  async close(): Promise<void> {
    for (const handle of this.#handles) handle.close();
    this.#handles.clear();
    await this.#early.close();
  }

  #keep<Handle extends { close(): void } | undefined>(handle: Handle): Handle {
    if (handle !== undefined) this.#handles.add(handle);
    return handle;
  }

  /** All entries of all archives, or undefined when the build has no archives. */
  get group(): PagedIndex | undefined {
    return this.#group;
  }

  /** The encoding file; open as long as the build is. */
  get encoding(): EncodingFile {
    if (this.#encoding === undefined) throw new Error('the encoding file is not open yet');
    return this.#encoding;
  }

  /** Opens the encoding file; {@link openBuild} does. */
  async openEncoding(): Promise<void> {
    const { onStep, mayLackEncoding } = this.#place;
    onStep?.('encoding');
    const own = this.#openManifest(this.config.encoding, (file) => new EncodingFile(file));
    // Loaded when asked for: it brings an encoder along.
    const standIn = async (error: unknown): Promise<EncodingFile> =>
      (await import('./manifests/empty-encoding.ts')).emptyEncodingFor(this.#place, error);
    this.#encoding = this.#keep(await (mayLackEncoding === true ? own.catch(standIn) : own));
  }

  /**
   * Runs work that looks things up. Where it meets a derived file that is damaged, that one is made again and the work is run once more.
   * @throws E_FORMAT_CHECKSUM when it is damaged again, else as the work does
   */
  lookUp<Result>(work: () => Promise<Result> | Result): Promise<Result> {
    return retryDamaged(work, () => this.#mending.run());
  }

  /** Opens anew what look-ups read; the damaged file is gone and is made again. Handles that are in use stay open. */
  async #mend(): Promise<void> {
    this.#root = undefined;
    this.#group = this.#keep(await openGroup(this.#place, this.cdnConfig));
    await this.openEncoding();
  }

  /**
   * The place of an entry; undefined when nothing tells it.
   * @param ekey hex; 32 digits, or the first 18 of them when it is in an archive
   * @param size encoded size, for a loose object that no index lists
   */
  locate(ekey: string, size?: number): EntryPlace | undefined {
    const own = this.#locateItself(ekey, size);
    if (own !== undefined) return own;
    const key = fromHex(ekey);
    const entry = this.#group?.find(key);
    if (entry !== undefined) {
      const hash = this.cdnConfig.archives[entry.archive];
      if (hash === undefined) return undefined;
      const whole = ekey.length === 32 ? ekey : toHex(entry.ekey);
      return { ekey: whole, object: this.#data(hash), loose: false, offset: entry.offset, size: entry.size };
    }
    const listed = this.fileIndex?.find(key);
    const full = listed === undefined ? ekey : toHex(listed.ekey);
    const looseSize = listed?.size ?? size ?? this.#listedEkey(full)?.size;
    if (looseSize === undefined || full.length !== 32) return undefined;
    return { ekey: full, object: this.#data(full), loose: true, offset: 0, size: looseSize };
  }

  #locateItself(ekey: string, size: number | undefined): EntryPlace | undefined {
    if (this.objects.locate === undefined) return undefined;
    const known = this.#listedEkey(ekey);
    return this.objects.locate(known?.ekey ?? ekey, known?.size ?? size);
  }

  /** An entry as the encoding file lists it, where that is open and its page is right. */
  #listedEkey(ekey: string): EkeyEntry | undefined {
    return resultUnless(isDamage, () => this.#encoding?.findEkey(ekey));
  }

  #data(hash: string): ObjectName {
    return { cdnPath: this.identity.cdnPath, kind: 'data', hash };
  }

  /**
   * The decoded bytes of a manifest as a derived file, checked against its ckey; fetched and decoded when it is not there or damaged.
   * @throws E_NOT_FOUND when nothing says where it is, E_INTEGRITY when it decodes to something else
   */
  async manifest(keys: ManifestKeys): Promise<string> {
    const check = (path: string): string => {
      new DerivedFile(path).close();
      return path;
    };
    return this.lookUp(() => this.#openManifest(keys, check));
  }

  async #openManifest<Opened>(keys: ManifestKeys, open: (path: string) => Opened): Promise<Opened> {
    const { ckey } = keys;
    const path = join(this.#place.folders.manifests, ckey);
    return openDerived(
      () => open(path),
      () => {
        const making = this.#underWay.get(ckey) ?? this.#makeManifest(keys).finally(() => this.#underWay.delete(ckey));
        this.#underWay.set(ckey, making);
        return making;
      },
    );
  }

  async #makeManifest(keys: ManifestKeys): Promise<void> {
    if (await this.#early.made(keys.ckey)) return;
    const isEncoding = keys.ckey === this.config.encoding.ckey;
    if (keys.ekey === undefined && isEncoding) return bringUnnamed(this, this.#place, keys);
    const ekeys = keys.ekey === undefined ? (this.encoding.findCkey(keys.ckey)?.ekeys ?? []) : [keys.ekey];
    const place = ekeys.map((ekey) => this.locate(ekey, keys.encodedSize)).find((found) => found !== undefined);
    if (place === undefined) {
      throw new PakratError('E_NOT_FOUND', `no index and no encoding file says where manifest ${keys.ckey} is`, {
        data: { ckey: keys.ckey },
      });
    }
    await bringManifest(this.#place, { manifest: keys, entry: place, isEncoding }, this.keys);
  }

  /** The decoded bytes of a held entry, or a part of them, in pieces. @throws E_KEY_MISSING, E_INTEGRITY, E_FORMAT… */
  async *readEncoded(place: EntryPlace, decodedSize?: number, part?: BltePart): AsyncGenerator<Uint8Array> {
    const { read, close } = this.openEncoded(place);
    const known = { keys: this.keys, ekey: place.ekey, decodedSize };
    try {
      if (part === undefined) yield* readBlte(read, place.size, known);
      else yield* readBltePart(read, place.size, part, known);
    } finally {
      close();
    }
  }

  /** Reads ranges of a held entry, encoded. Needs `close`. @throws E_OFFLINE or E_NOT_FOUND when it is not held */
  openEncoded(place: EntryPlace): { read: ReadRange; close: () => void } {
    return openRanges(this.objects, place);
  }

  async #load(keys: ManifestKeys): Promise<Uint8Array> {
    return this.lookUp(() => this.#openManifest(keys, readDerived));
  }

  /** A part of a file that a root leads to; small ones only, for they are held in memory. */
  async #loadPart({ ckey, ekey = '' }: FilePart): Promise<Uint8Array> {
    if (ckey !== undefined) return this.#load({ ckey });
    const place = this.locate(ekey);
    if (place === undefined) throw new PakratError('E_NOT_FOUND', `no index says where ${ekey} is`, { data: { ekey } });
    return readOrBring(this.objects, place, async () => {
      const pieces: Uint8Array[] = [];
      for await (const piece of this.readEncoded(place)) pieces.push(piece);
      return concatBytes(pieces);
    });
  }

  /** The install manifest, or undefined when the build has none, or none that can be had. */
  async install(): Promise<Install | undefined> {
    const { install } = this.config;
    return install && unlessLacking(this.#place, 'its install manifest', this.#load(install).then(decodeInstall));
  }

  /** The download manifest, open as long as the build is; undefined when the build has none, or none that can be had. @throws E_OFFLINE: without it too much may seem wanted */
  async download(): Promise<DownloadFile | undefined> {
    const { download } = this.config;
    const open = (path: string): DownloadFile => this.#keep(new DownloadFile(path));
    const opened = async (keys: ManifestKeys): Promise<DownloadFile> => {
      this.#download ??= await this.lookUp(() => this.#openManifest(keys, open));
      return this.#download;
    };
    const isSpared = (error: unknown): boolean => isUnavailable(error) && error.code !== 'E_OFFLINE';
    return download && unlessLacking(this.#place, 'its download manifest', opened(download), isSpared);
  }

  /** Makes the names ready, and fetches its other lists; the download manifest is not read, for a sync that has nothing to do needs none of it. Where one cannot be had or read, what else the build has can be brought all the same. */
  async fetchLists(): Promise<void> {
    const { download } = this.config;
    const fetched = Promise.resolve(download && this.manifest(download));
    await waitForAll(
      unlessLacking(this.#place, 'its list of names', this.root(), isNowhere),
      this.install(),
      unlessLacking(this.#place, 'its download manifest', fetched),
    );
  }

  /** Ids whose imported name turned out to be another file's, as far as names were looked up. */
  get misfits(): number {
    return this.#openedRoot?.misfits ?? 0;
  }

  /** True when names were imported. */
  hasListfile(): boolean {
    return listfileVersion(this.#place.folders) !== undefined;
  }

  /** The root of the build: its names. Where it has none that is understood, what stands in for it, with a note. */
  async root(): Promise<Root> {
    return this.lookUp(() => {
      this.#root ??= this.#openRoot().catch((error: unknown) => {
        this.#root = undefined;
        throw error;
      });
      return this.#root;
    });
  }

  /** The root, all of it checked: for listings, which then do not end half-way. */
  async wholeRoot(): Promise<Root> {
    return this.lookUp(async () => {
      const root = await this.root();
      await root.checkAll();
      return root;
    });
  }

  async #openRoot(): Promise<Root> {
    const { onStep } = this.#place;
    onStep?.('root');
    try {
      this.#openedRoot = this.#keep(await this.#readRoot());
      return this.#openedRoot;
    } finally {
      onStep?.(undefined);
    }
  }

  async #readRoot(): Promise<Root> {
    const { config } = this;
    const { folders, onNote } = this.#place;
    return openRoot({
      folders,
      config,
      file: config.root && (await optional(this.manifest(config.root), { onNote })),
      onNote,
      encoding: this.encoding,
      listfile: async () => this.#keep(await ListfileIndex.open(folders)),
      load: (keys) => this.#load(keys),
      manifest: (keys) => this.manifest(keys),
      loadPart: (part) => this.#loadPart(part),
      install: () => this.install(),
      keys: this.keys,
    });
  }
}
