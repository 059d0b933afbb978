import * as fs from 'node:fs';
import { join } from 'node:path';
import { breathe } from '../core/breathe.ts';
import { concatBytes, fromHex, toHex } from '../core/bytes.ts';
import { isDamage, isUnavailable, PakratError, resultUnless } from '../core/errors.ts';
import { md5Hasher } from '../core/hash.ts';
import { waitForAll } from '../core/wait-for-all.ts';
import { DurableFile, storeError } from '../files/durable.ts';
import { readAt } from '../files/read-at.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import { type ReadRange, readBlte } from '../formats/blte/read.ts';
import { type BuildConfig, decodeBuildConfig, type ManifestKeys } from '../formats/configs/build-config.ts';
import { type CdnConfig, decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import type { ArchiveIndex, IndexEntry } from '../formats/indices/archive-index.ts';
import { type Download, decodeDownload } from '../formats/manifests/download.ts';
import type { EkeyEntry } from '../formats/manifests/encoding/pages.ts';
import { decodeInstall, type Install } from '../formats/manifests/install.ts';
import type { LookupFolders, ObjectName } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import { openFileIndex, openGroup } from './indices/indices.ts';
import type { PagedIndex } from './indices/paged-index.ts';
import { buildKeyRing, learnObjectKey } from './keys/build-keys.ts';
import { ListfileIndex } from './listfile/listfile-index.ts';
import { EncodingFile } from './manifests/encoding-file.ts';
import { type BuildPlace, type EntryPlace, type Objects, openHeld, optional, unlessLacking } from './objects.ts';
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
  const [fileIndex, group] = await waitForAll(openFileIndex(place, cdnConfig), openGroup(place, cdnConfig));
  const build = new Build({ ...place, config, cdnConfig, keys, group, fileIndex });
  try {
    await build.openEncoding();
    return build;
  } catch (error) {
    build.close();
    throw error;
  }
}

interface BuildParts extends BuildPlace {
  config: BuildConfig;
  cdnConfig: CdnConfig;
  keys: KeyRing;
  group: PagedIndex | undefined;
  fileIndex: ArchiveIndex | undefined;
}

/** Entries of one size that are tried for a manifest whose ekey nobody gives. */
const maxCandidates = 8;

/** The entries that have this size, the first few. */
function placesOfSize(build: Build, size: number | undefined): EntryPlace[] {
  const places: EntryPlace[] = [];
  if (size === undefined) return places;
  for (const entry of entriesOf(build)) {
    const place = entry.size === size ? build.locate(toHex(entry.ekey)) : undefined;
    if (place !== undefined && places.push(place) === maxCandidates) break;
  }
  return places;
}

function* entriesOf({ fileIndex, group }: Build): Generator<IndexEntry> {
  if (fileIndex !== undefined) yield* fileIndex;
  if (group !== undefined) for (const page of group.pages()) yield* page;
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
  readonly #folders: LookupFolders;
  readonly #onStep: ((step: string) => void) | undefined;
  readonly #onNote: ((text: string) => void) | undefined;
  readonly #noted = new Set<string>();
  /** Manifests that are being fetched and decoded: whoever wants one as well waits for it. */
  readonly #underWay = new Map<string, Promise<string>>();
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
    this.#folders = parts.folders;
    this.#onStep = parts.onStep;
    this.#onNote = parts.onNote;
  }

  close(): void {
    this.group?.close();
    this.#encoding?.close();
    this.#root?.close();
    this.#listfile?.close();
  }

  /** The encoding file; open as long as the build is. */
  get encoding(): EncodingFile {
    if (this.#encoding === undefined) throw new Error('the encoding file is not open yet');
    return this.#encoding;
  }

  /** Opens the encoding file; {@link openBuild} does. */
  async openEncoding(): Promise<void> {
    this.#onStep?.('encoding');
    this.#encoding = new EncodingFile(await this.manifest(this.config.encoding));
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
   * The decoded bytes of a manifest as a file of the store, checked against its ckey; fetched and decoded when it is not there.
   * @throws E_NOT_FOUND when nothing says where it is, E_INTEGRITY when it decodes to something else
   */
  manifest(keys: ManifestKeys): Promise<string> {
    const { ckey } = keys;
    let manifest = this.#underWay.get(ckey);
    if (manifest === undefined) {
      manifest = this.#makeManifest(keys).finally(() => this.#underWay.delete(ckey));
      this.#underWay.set(ckey, manifest);
    }
    return manifest;
  }

  async #makeManifest(keys: ManifestKeys): Promise<string> {
    const file = join(this.#folders.manifests, keys.ckey);
    if (fs.existsSync(file)) return file;
    if (keys.ekey === undefined && this.#encoding === undefined) return this.#findEncoding(file, keys);
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

  /** Finds the encoding file of a config that does not give its ekey: by its size, which hardly another entry has. */
  async #findEncoding(file: string, keys: ManifestKeys): Promise<string> {
    for (const place of placesOfSize(this, keys.encodedSize)) {
      try {
        await this.objects.entries([place]);
        await this.#decodeTo(file, place, keys);
        return file;
      } catch (error) {
        if (!isDamage(error) && !isUnavailable(error)) throw error;
      }
    }
    const { buildConfig } = this.identity;
    throw new PakratError('E_FORMAT', `build config ${buildConfig} names the encoding file by ${keys.ckey} alone`, {
      hint: 'Its encoding key cannot be found out; another build of the product may have a whole config.',
      data: { buildConfig, ckey: keys.ckey },
    });
  }

  async #decodeTo(file: string, place: EntryPlace, keys: ManifestKeys): Promise<void> {
    const manifest = new DurableFile(this.#folders.temporary);
    try {
      const hash = md5Hasher();
      for await (const piece of this.readEncoded(place, keys.size)) {
        hash.update(piece);
        manifest.append(piece);
        await breathe();
      }
      const found = toHex(hash.digest());
      if (found !== keys.ckey) {
        throw new PakratError('E_INTEGRITY', `manifest ${keys.ckey} decodes to ${found}`, {
          data: { ckey: keys.ckey, found },
        });
      }
      manifest.finish(file);
    } catch (error) {
      throw storeError(error, file);
    } finally {
      manifest.close();
    }
  }

  /** The decoded bytes of a held entry, in pieces. @throws E_KEY_MISSING, E_INTEGRITY, E_FORMAT… */
  async *readEncoded(place: EntryPlace, decodedSize?: number): AsyncGenerator<Uint8Array> {
    const { read, close } = this.openEncoded(place);
    try {
      yield* readBlte(read, place.size, { keys: this.keys, ekey: place.ekey, decodedSize });
    } finally {
      close();
    }
  }

  /** Reads ranges of a held entry, encoded. Needs `close`. @throws E_OFFLINE or E_NOT_FOUND when it is not held */
  openEncoded(place: EntryPlace): { read: ReadRange; close: () => void } {
    const { fd, offset } = openHeld(this.objects, place);
    return {
      read: async (at, size) => {
        const bytes = readAt(fd, offset + at, size, `entry ${place.ekey}`);
        return this.objects.decrypt?.(place.object, bytes, offset + at) ?? bytes;
      },
      close: () => fs.closeSync(fd),
    };
  }

  async #load(keys: ManifestKeys): Promise<Uint8Array> {
    return new Uint8Array(fs.readFileSync(await this.manifest(keys)));
  }

  /** A part of a file that a root leads to; small ones only, for they are held in memory. */
  async #loadPart({ ckey, ekey = '' }: FilePart): Promise<Uint8Array> {
    if (ckey !== undefined) return this.#load({ ckey });
    const place = this.locate(ekey);
    if (place === undefined) throw new PakratError('E_NOT_FOUND', `no index says where ${ekey} is`, { data: { ekey } });
    await this.objects.entries([place]);
    const pieces: Uint8Array[] = [];
    for await (const piece of this.readEncoded(place)) pieces.push(piece);
    return concatBytes(pieces);
  }

  /** As {@link unlessLacking}; each part is noted once, however often it is asked for. */
  #unlessLacking<Value>(what: string, work: Promise<Value>): Promise<Value | undefined> {
    const onNote = (text: string): void => {
      if (!this.#noted.has(what)) this.#onNote?.(text);
      this.#noted.add(what);
    };
    return unlessLacking({ onNote }, what, work);
  }

  /** The install manifest, or undefined when the build has none, or none that can be had. */
  async install(): Promise<Install | undefined> {
    const { install } = this.config;
    return install && this.#unlessLacking('its install manifest', this.#load(install).then(decodeInstall));
  }

  /** The download manifest, or undefined when the build has none, or none that can be had. */
  async download(): Promise<Download | undefined> {
    const { download } = this.config;
    return download && this.#unlessLacking('its download manifest', this.#load(download).then(decodeDownload));
  }

  /** Fetches the download manifest without opening it: it is large, and opened by those who need it. */
  async fetchDownload(): Promise<void> {
    const { download } = this.config;
    if (download !== undefined) await this.#unlessLacking('its download manifest', this.manifest(download));
  }

  /** The names that were imported, or undefined. */
  listfile(): ListfileIndex | undefined {
    this.#listfile ??= ListfileIndex.open(this.#folders);
    return this.#listfile;
  }

  /** The root of the build: its names. Where it has none that is understood, what stands in for it, with a note. */
  async root(): Promise<Root> {
    if (this.#root !== undefined) return this.#root;
    this.#onStep?.('root');
    const { root } = this.config;
    this.#root = await openRoot({
      folders: this.#folders,
      config: this.config,
      file: root && (await optional(this.manifest(root))),
      encoding: this.encoding,
      listfile: this.listfile(),
      load: (keys) => this.#load(keys),
      loadPart: (part) => this.#loadPart(part),
      install: () => this.install(),
      keys: this.keys,
    });
    return this.#root;
  }
}
