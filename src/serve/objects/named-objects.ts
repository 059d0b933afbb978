import { fromHex } from '../../core/bytes.ts';
import { isPakratError, mayPass } from '../../core/errors.ts';
import { type BuildConfig, decodeBuildConfig } from '../../formats/configs/build-config.ts';
import { type CdnConfig, decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { parseObjectPath } from '../../keep/known-objects.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';
import { checkObject } from '../../verify/check-object.ts';
import { Failures } from './failures.ts';
import { RecentValues } from './recent-values.ts';

/** An object that a build of the ledger names. */
export interface NamedObject {
  name: ObjectName;
  build: BuildRow;
  /** Small ones prove themselves whole, archives entry by entry, loose ones are one entry. */
  form: 'small' | 'archive' | 'loose';
  /** Bytes, where a config or an index tells. */
  size: number | undefined;
}

/** Reads a small object of a build, decrypted; undefined where it cannot be had. */
export type ReadSmall = (build: BuildRow, name: ObjectName, size?: number) => Promise<Uint8Array | undefined>;

/** Encoded size of a loose object that only the encoding file of a build lists; undefined where it does not. @param ekey hex */
export type UnlistedSize = (build: BuildRow, ekey: string) => Promise<number | undefined>;

/** A list of loose objects. */
interface LooseList {
  build: BuildRow;
  index: ObjectName;
  indexSize: number | undefined;
}

/** The entries of such a list, in memory. */
interface LooseEntries {
  list: ArchiveIndex;
  bytes: number;
}

/** Bytes of lists of loose objects that stay in memory. */
const mostListBytes = 48 * 1024 * 1024;
/** Milliseconds for which a build whose configs cannot be had is not asked for again. */
const againMs = 10_000;

/**
 * The objects that the builds of a ledger name: their configs, indices, archives and loose objects, by their paths. Builds are read when something
 * is asked for that none of those before them names, the last added first.
 */
export class NamedObjects {
  readonly #store: Store;
  readonly #read: ReadSmall;
  readonly #unlistedSize: UnlistedSize | undefined;
  #signature = '';
  #objects = new Map<string, NamedObject>();
  #loose: LooseList[] = [];
  /** Builds whose CDN configs have no list of loose objects. */
  #unlisted: BuildRow[] = [];
  /** Builds that are not read yet, and when each may be. */
  #unread: { build: BuildRow; after: number }[] = [];
  /** Why something of a build could not be read, by CDN path. */
  readonly #failures = new Failures(againMs);
  readonly #lists = new RecentValues<LooseEntries>(mostListBytes);
  #reading: Promise<void> = Promise.resolve();

  /** @param unlistedSize absent: what no index lists is not named */
  constructor(store: Store, read: ReadSmall, unlistedSize?: UnlistedSize) {
    this.#store = store;
    this.#read = read;
    this.#unlistedSize = unlistedSize;
  }

  /**
   * The object at a path; undefined for one that no build names.
   * @throws what kept something of a build from being read that may name it: E_NETWORK…, E_STORE…
   */
  async find(path: string): Promise<NamedObject | undefined> {
    this.#refresh();
    const known = this.#objects.get(path) ?? (await this.#readUntil(path));
    if (known !== undefined) return known;
    const name = parseObjectPath(path);
    const mayBeLoose = name !== undefined && name.suffix === '' && name.kind !== 'config';
    const loose = mayBeLoose ? await this.#findLoose(name) : undefined;
    if (loose === undefined && name !== undefined) this.#failures.tell(name.cdnPath);
    return loose;
  }

  /** Begins anew when builds came or went. */
  #refresh(): void {
    const { ledger } = this.#store;
    const signature = ledger.keeping.signature();
    if (signature === this.#signature) return;
    this.#signature = signature;
    this.#objects = new Map();
    this.#loose = [];
    this.#unlisted = [];
    const builds = ledger.builds();
    this.#unread = builds.map((build) => ({ build, after: 0 }));
    for (const build of builds) this.#addRow(build);
  }

  /** The objects that the row of a build names itself. */
  #addRow(build: BuildRow): void {
    const { cdnPath, configPath, buildConfig, cdnConfig, productConfig, keyRing } = build;
    for (const hash of [buildConfig, cdnConfig, keyRing]) if (hash) this.#add(build, { cdnPath, kind: 'config', hash });
    if (productConfig) this.#add(build, { cdnPath: configPath, kind: 'product', hash: productConfig });
  }

  #add(build: BuildRow, name: ObjectName, form: NamedObject['form'] = 'small', size?: number): void {
    const path = objectPath(name);
    if (!this.#objects.has(path)) this.#objects.set(path, { name, build, form, size });
  }

  /** Reads builds one by one, until one names the path. */
  async #readUntil(path: string): Promise<NamedObject | undefined> {
    for (const entry of [...this.#unread]) {
      if (!path.startsWith(`${entry.build.cdnPath}/`) || performance.now() < entry.after) continue;
      const reading = this.#reading.then(() => this.#readOnce(entry));
      this.#reading = reading.catch(() => {});
      await reading;
      const found = this.#objects.get(path);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #readOnce(entry: { build: BuildRow; after: number }): Promise<void> {
    if (!this.#unread.includes(entry) || performance.now() < entry.after) return;
    const { build } = entry;
    const { cdnPath } = build;
    const decoded = <Value>(hash: string, decode: (bytes: Uint8Array) => Value): Promise<Value | undefined> =>
      this.#readRight(build, { cdnPath, kind: 'config', hash }, decode);
    const config = await decoded(build.buildConfig, decodeBuildConfig);
    const cdnConfig = await decoded(build.cdnConfig, decodeCdnConfig);
    if (config !== undefined) this.#addConfig(build, config);
    if (cdnConfig !== undefined) this.#addCdnConfig(build, cdnConfig);
    if (config === undefined || cdnConfig === undefined) entry.after = performance.now() + againMs;
    else this.#unread = this.#unread.filter((other) => other !== entry);
  }

  async #readRight<Value>(
    build: BuildRow,
    name: ObjectName,
    decode: (bytes: Uint8Array) => Value,
    size?: number,
  ): Promise<Value | undefined> {
    return this.#unlessTrouble(build, async () => {
      const bytes = await this.#read(build, name, size);
      if (bytes !== undefined) checkObject(name, bytes);
      return bytes && decode(bytes);
    });
  }

  /** What is wrong with one build is no reason not to look at the next. */
  async #unlessTrouble<Value>(
    { cdnPath }: BuildRow,
    work: () => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!isPakratError(error)) throw error;
      if (mayPass(error)) this.#failures.add(cdnPath, error);
      return undefined;
    }
  }

  /** The patch config and manifest, and manifests that lie loose. */
  #addConfig(build: BuildRow, config: BuildConfig): void {
    const { cdnPath } = build;
    const { patch, patchConfig, encoding, root, install, download, size, vfsRoot, vfs, patchIndex } = config;
    if (patchConfig !== undefined) this.#add(build, { cdnPath, kind: 'config', hash: patchConfig });
    if (patch !== undefined) this.#add(build, { cdnPath, kind: 'patch', hash: patch.ckey });
    for (const keys of [encoding, root, install, download, size, vfsRoot, patchIndex, ...vfs])
      if (keys?.ekey !== undefined && keys.encodedSize)
        this.#add(build, { cdnPath, kind: 'data', hash: keys.ekey }, 'loose', keys.encodedSize);
  }

  #addCdnConfig(build: BuildRow, config: CdnConfig): void {
    const { cdnPath } = build;
    const addArchives = (kind: 'data' | 'patch', archives: readonly string[], sizes: readonly number[]): void => {
      for (const [i, hash] of archives.entries()) {
        this.#add(build, { cdnPath, kind, hash, suffix: '.index' }, 'small', sizes[i]);
        this.#add(build, { cdnPath, kind, hash }, 'archive');
      }
    };
    addArchives('data', config.archives, config.archiveIndexSizes);
    addArchives('patch', config.patchArchives, config.patchArchiveIndexSizes);
    const addLoose = (kind: 'data' | 'patch', hash: string | undefined, indexSize: number | undefined): void => {
      if (hash === undefined) return;
      const index: ObjectName = { cdnPath, kind, hash, suffix: '.index' };
      this.#add(build, index, 'small', indexSize);
      this.#loose.push({ build, index, indexSize });
    };
    if (config.fileIndex === undefined) this.#unlisted.push(build);
    addLoose('data', config.fileIndex, config.fileIndexSize);
    addLoose('patch', config.patchFileIndex, config.patchFileIndexSize);
  }

  async #findLoose(name: ObjectName): Promise<NamedObject | undefined> {
    const key = fromHex(name.hash);
    for (const list of this.#loose) {
      if (list.index.cdnPath !== name.cdnPath || list.index.kind !== name.kind) continue;
      const size = (await this.#list(list))?.find(key)?.size;
      if (size !== undefined) return { name, build: list.build, form: 'loose', size };
    }
    for (const build of name.kind === 'data' ? this.#unlisted : []) {
      if (build.cdnPath !== name.cdnPath) continue;
      const size = await this.#unlessTrouble(build, async () => this.#unlistedSize?.(build, name.hash));
      if (size !== undefined) return { name, build, form: 'loose', size };
    }
    return undefined;
  }

  async #list({ build, index, indexSize }: LooseList): Promise<ArchiveIndex | undefined> {
    const path = objectPath(index);
    const known = this.#lists.get(path);
    if (known !== undefined) return known.list;
    const decode = (bytes: Uint8Array): ArchiveIndex => decodeArchiveIndex(bytes, index.hash);
    const list = await this.#readRight(build, index, decode, indexSize);
    // Another request may have read it meanwhile.
    return list && (this.#lists.get(path) ?? this.#lists.add(path, { list, bytes: list.bytes.length })).list;
  }
}
