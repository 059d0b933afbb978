import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '../../builds/build.ts';
import type { CdnList, CdnLists } from '../../builds/cdn-lists.ts';
import { ownObjects, patchObjects } from '../../builds/own-objects.ts';
import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { isOurTrouble, isPakratError, PakratError } from '../../core/errors.ts';
import { groupBy } from '../../core/tables/group-by.ts';
import { hasObject } from '../../fetch/small-objects.ts';
import { type BuildConfig, decodeBuildConfig } from '../../formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import type { NamedBytes } from '../../store/derived/named-bytes.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { coversAll, type Span, spanBytes } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { checkObject } from '../../verify/check-object.ts';
import type { BuildOpener } from '../build-opener.ts';
import { wantsAll } from '../damaged-rows.ts';
import type { KnownObject } from '../known-objects.ts';
import { KeptBytes } from './kept-bytes.ts';
import { findMarks, markStrays } from './mark-build.ts';
import { markPatches } from './mark-patches.ts';
import { readMarks } from './marks-file.ts';
import { readIndexOf } from './read-index.ts';

/** The store whose builds are marked, and the way to open those whose marks are not known. */
export interface MarkTools {
  store: Store;
  opener: BuildOpener;
  /** Everything that the store knows, and what its CDN configs list. */
  objects: readonly KnownObject[];
  lists: CdnLists;
  signal?: AbortSignal | undefined;
}

/** The objects of a CDN path, and what is known of it from the builds that were added. */
interface CdnPath {
  archives: readonly KnownObject[];
  /** By their hashes. */
  loose: ReadonlyMap<string, KnownObject>;
  patches: readonly KnownObject[];
  /** Archives whose indices are kept, those of data because they are held: builds have most of theirs in common. */
  indices: Set<string>;
  /** Indices of patches that were gone through. */
  patchIndices: Set<string>;
  /** Paths of archives by their hashes: to make each anew for each build takes long. */
  paths: Map<string, string>;
  rows: BuildRow[];
}

/** A build as its configs describe it. */
interface ConfiguredBuild {
  row: BuildRow;
  config: BuildConfig;
  list: CdnList;
  /** All was ever wanted of it that its CDN config lists. */
  isMirror: boolean;
}

/** The bytes that builds keep, while builds are added. */
export class Marks {
  readonly kept = new KeptBytes();
  /** CDN paths with builds that cannot be read, and why. */
  readonly unreadable = new Map<string, string>();
  readonly objects: readonly KnownObject[];
  readonly #tools: MarkTools;
  readonly #byPath: ReadonlyMap<string, KnownObject>;
  readonly #ofCdnPath: ReadonlyMap<string, KnownObject[]>;
  readonly #cdnPaths = new Map<string, CdnPath>();
  readonly #counted = new Map<string, number>();
  #heldBytes = 0;

  constructor(tools: MarkTools) {
    this.#tools = tools;
    this.objects = tools.objects;
    this.#byPath = new Map(tools.objects.map((object) => [object.path, object]));
    this.#ofCdnPath = groupBy(tools.objects, ({ name }) => name.cdnPath);
  }

  /** The CDN paths of the builds. */
  get cdnPaths(): Iterable<string> {
    return this.#cdnPaths.keys();
  }

  /**
   * Keeps every byte that a build names; all that its CDN config lists of a build of which that was ever wanted. One that cannot be read makes its
   * CDN path an unreadable one.
   * @throws E_ABORTED, E_STORE…
   */
  async add(row: BuildRow): Promise<void> {
    await breathe(this.#tools.signal);
    const { configPath, productConfig, cdnPath } = row;
    if (productConfig !== null)
      this.kept.addWhole(objectPath({ cdnPath: configPath, kind: 'product', hash: productConfig }));
    const path = this.#cdnPathOf(cdnPath);
    path.rows.push(row);
    await this.#unlessUnreadable(row, () => this.#mark(row, path));
  }

  async #unlessUnreadable(row: BuildRow, work: () => Promise<void>): Promise<void> {
    if (this.unreadable.has(row.cdnPath)) return;
    try {
      await work();
    } catch (error) {
      if (!isPakratError(error) || isOurTrouble(error)) throw error;
      this.unreadable.set(row.cdnPath, `${row.product}@${row.name} cannot be read: ${error.message}`);
    }
  }

  #cdnPathOf(cdnPath: string): CdnPath {
    let path = this.#cdnPaths.get(cdnPath);
    if (path === undefined) {
      const own = this.#ofCdnPath.get(cdnPath) ?? [];
      const loose = own.filter(({ form }) => form === 'loose');
      path = {
        archives: own.filter(({ name, form }) => name.kind === 'data' && form === 'archive'),
        loose: new Map(loose.map((object) => [object.name.hash, object])),
        patches: own.filter(({ name, form }) => name.kind === 'patch' && form !== 'small'),
        indices: new Set(),
        patchIndices: new Set(),
        paths: new Map(),
        rows: [],
      };
      this.#cdnPaths.set(cdnPath, path);
    }
    return path;
  }

  async #mark(row: BuildRow, path: CdnPath): Promise<void> {
    const { kept } = this;
    const { store } = this.#tools;
    const build = this.#configured(row);
    this.#keepSmall(build, path);
    const marks = await this.#marksOf(build);
    for (const key of looseKeys(store, build, marks)) {
      const object = path.loose.get(toHex(key));
      if (object !== undefined) kept.addWhole(object.path);
    }
    for (const [i, hash] of build.list.archives.entries()) {
      const extent = marks.extentOf(i);
      const archive = archivePath(path, row, hash);
      if (build.isMirror) kept.addWhole(archive);
      else if (extent !== undefined && !kept.has(archive, extent)) kept.addSpans(archive, marks.spansOf(i));
    }
    const { patches: candidates, patchIndices: seen } = path;
    markPatches(kept, { store, cdnPath: row.cdnPath, list: build.list, candidates, seen });
  }

  /** @throws E_OFFLINE for a config that is not held, E_INTEGRITY for one that is damaged, E_FORMAT…, E_KEY_MISSING */
  #configured(row: BuildRow): ConfiguredBuild {
    const { store, lists } = this.#tools;
    const config = decodeBuildConfig(readConfig(store, row, row.buildConfig));
    const list = lists.find(row) ?? decodeCdnConfig(readConfig(store, row, row.cdnConfig));
    return { row, config, list, isMirror: store.ledger.keeping.selections(row).some(wantsAll) };
  }

  /** Configs and indices, of data and of patches. @throws E_OFFLINE without one of its own: nobody knows all places of what it names then */
  #keepSmall({ row, config, list }: ConfiguredBuild, { indices }: CdnPath): void {
    const { store } = this.#tools;
    const archives = list.archives.filter((hash) => !indices.has(hash));
    const patchArchives = list.patchArchives.filter((hash) => !indices.has(hash));
    const own = ownObjects(row, { ...list, archives });
    const lacking = own.filter((name) => !hasObject(store, name));
    const [first] = lacking;
    if (first !== undefined) {
      const what = `${objectPath(first)}${lacking.length > 1 ? ` and ${lacking.length - 1} more of its objects` : ''}`;
      throw new PakratError('E_OFFLINE', `${what} is not held`, { data: { path: objectPath(first) } });
    }
    for (const name of [...own, ...patchObjects(row, config, { ...list, patchArchives })])
      this.kept.addWhole(objectPath(name));
    for (const hash of [...archives, ...patchArchives]) indices.add(hash);
    const { cdnPath, keyRing } = row;
    if (keyRing) this.kept.addWhole(objectPath({ cdnPath, kind: 'config', hash: keyRing }));
  }

  /** What a build names: as it is kept, else out of the build itself. A build that cannot be read names nothing, whatever is kept of it. */
  async #marksOf({ row, config, list }: ConfiguredBuild): Promise<NamedBytes> {
    const { store, signal } = this.#tools;
    const isReadable = existsSync(join(store.layout.manifests, config.encoding.ckey));
    const known = isReadable ? readMarks(store, row, list.archives.length) : undefined;
    if (known !== undefined) return known;
    return this.#withBuild(row, (build) => findMarks(store, build, signal));
  }

  async #withBuild<Result>(row: BuildRow, work: (build: Build) => Promise<Result>): Promise<Result> {
    const { build, close } = await this.#tools.opener.open(row, { offline: true });
    try {
      return await work(build);
    } finally {
      await close();
    }
  }

  /**
   * Keeps the only copies of what builds want, where they lie in archives that these do not list. It is called when all builds were added: what
   * others keep need not be looked at, and a build that has all that it names lacks nothing.
   * @throws as {@link add}
   */
  async addStrays(): Promise<void> {
    for (const { archives, loose, rows } of this.#cdnPaths.values()) {
      const leftArchives = archives.filter((object) => this.#unkept(object).length > 0);
      const leftLoose = [...loose.values()].filter((object) => this.#unkept(object).length > 0);
      if (leftArchives.length + leftLoose.length === 0) continue;
      for (const row of rows)
        await this.#unlessUnreadable(row, () => this.#addStraysOf(row, { archives: leftArchives, loose: leftLoose }));
    }
  }

  async #addStraysOf(
    row: BuildRow,
    left: { archives: readonly KnownObject[]; loose: readonly KnownObject[] },
  ): Promise<void> {
    const { store, signal } = this.#tools;
    await breathe(signal);
    const configured = this.#configured(row);
    const listed = new Set(configured.list.archives);
    const archives = left.archives.filter(({ name }) => !listed.has(name.hash));
    if (archives.length + left.loose.length === 0 || (await this.#isHeld(configured))) return;
    const { isMirror } = configured;
    await this.#withBuild(row, (build) =>
      markStrays(this.kept, { store, build, isMirror, archives, loose: left.loose }, signal),
    );
  }

  /** True when all that a build names is held. */
  async #isHeld(build: ConfiguredBuild): Promise<boolean> {
    const { row, list, isMirror } = build;
    const path = this.#cdnPathOf(row.cdnPath);
    const marks = await this.#marksOf(build);
    for (const key of looseKeys(this.#tools.store, build, marks))
      if (path.loose.get(toHex(key))?.complete !== true) return false;
    return list.archives.every((hash, i) => {
      const object = this.#byPath.get(archivePath(path, row, hash));
      if (object?.complete === true) return true;
      if (isMirror) return false;
      const held = object === undefined ? [] : this.heldSpans(object);
      return coversAll(held, marks.spansOf(i));
    });
  }

  /** Bytes that are held of what is kept. Only what changed since the last time is counted. */
  heldBytes(): number {
    for (const path of this.kept.takeChanged()) {
      const object = this.#byPath.get(path);
      if (object === undefined) continue;
      const bytes = spanBytes(this.heldSpans(object)) - spanBytes(this.#unkept(object));
      this.#heldBytes += bytes - (this.#counted.get(path) ?? 0);
      this.#counted.set(path, bytes);
    }
    return this.#heldBytes;
  }

  #unkept(object: KnownObject): Span[] {
    return this.kept.without(object.path, this.heldSpans(object));
  }

  /** What is held of an object, merged and in order. */
  heldSpans({ path, complete, size }: KnownObject): readonly Span[] {
    if (!complete) return this.#tools.store.ledger.spans(path);
    return size === 0 ? [] : [{ start: 0, end: size }];
  }
}

function archivePath({ paths }: CdnPath, { cdnPath }: BuildRow, hash: string): string {
  let path = paths.get(hash);
  if (path === undefined) {
    path = objectPath({ cdnPath, kind: 'data', hash });
    paths.set(hash, path);
  }
  return path;
}

function readConfig(store: Store, { cdnPath }: BuildRow, hash: string): Uint8Array {
  const name: ObjectName = { cdnPath, kind: 'config', hash };
  const bytes = store.readObject(name);
  const path = objectPath(name);
  if (bytes === undefined) throw new PakratError('E_OFFLINE', `${path} is not held`, { data: { path } });
  checkObject(name, bytes);
  return bytes;
}

/** Ekeys of what a build may have as objects of their own: of a mirror all that the index of them lists. @throws E_OFFLINE, E_FORMAT…, E_INTEGRITY */
function* looseKeys(store: Store, { row, list, isMirror }: ConfiguredBuild, marks: NamedBytes): Generator<Uint8Array> {
  yield* marks.loose;
  if (!isMirror || list.fileIndex === undefined) return;
  for (const { ekey } of readIndexOf(store, { cdnPath: row.cdnPath, kind: 'data', hash: list.fileIndex })) yield ekey;
}
