import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '../../builds/build.ts';
import { hasTvfsFirst } from '../../builds/roots/index.ts';
import { breathe } from '../../core/breathe.ts';
import { fromHex, toHex, viewOf } from '../../core/bytes.ts';
import {
  isOurTrouble,
  isPakratError,
  isUnavailable,
  PakratError,
  resultUnless,
  valueUnless,
} from '../../core/errors.ts';
import { sortInPlace, sortRecords } from '../../core/sorting/sort-records.ts';
import { largeBytes } from '../../core/tables/large-bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { HeldSpans } from '../../fetch/held-spans.ts';
import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import { decodeTvfs, decodeTvfsHeader } from '../../formats/roots/tvfs/decode.ts';
import { TvfsFlags } from '../../formats/roots/tvfs/layout.ts';
import type { TvfsSource } from '../../formats/roots/tvfs/table-window.ts';
import { DerivedFile } from '../../store/derived/derived-file.ts';
import { NamedBytes } from '../../store/derived/named-bytes.ts';
import { objectPath } from '../../store/layout.ts';
import { covers, mergeSpans, type Span } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import type { KnownObject } from '../known-objects.ts';
import type { KeptBytes } from './kept-bytes.ts';
import { keepMarks } from './marks-file.ts';
import { everyKey, ownKeys } from './own-keys.ts';
import { readIndexOf } from './read-index.ts';

/** What a build names, as far as it could be read. */
export interface FoundMarks {
  marks: NamedBytes;
  /** False where a part of it that is not held may name more: another time it may be. */
  isWhole: boolean;
}

/**
 * Finds every byte that an open build names, whatever was chosen of it: a part of it may have come by itself, or with another selection. Of an entry
 * that lies in several archives that is every copy.
 * @throws E_OFFLINE when a part of the store that would say what the build names is not held, E_FORMAT… and E_INTEGRITY when it is damaged
 */
export async function markBuild(build: Build, signal?: AbortSignal): Promise<FoundMarks> {
  demandIndices(build);
  const { keys, isWhole } = await ownKeys(build);
  const named = new Named(build);
  await build.lookUp(() => named.addEntries(keys, signal));
  const isTvfsWhole = await markTvfs(named, build, signal);
  return { marks: named.marks(), isWhole: isWhole && isTvfsWhole };
}

/** Bytes of the pages by ekey of a build whose marks are found in moments: some 300,000 entries. */
const mostEkeyBytes = 8 * 1024 * 1024;

/**
 * Keeps what an open build names, as long as it is open anyway: who plans what may go of hundreds of builds then need not open them. That is left for
 * later where it would take long, and of a build that cannot be read.
 * @throws E_ABORTED, E_STORE…
 */
export async function prepareMarks(store: Store, build: Build, signal?: AbortSignal): Promise<void> {
  const { ekeyPageCount, ekeyPageSize } = build.encoding.layout;
  // Of one that was opened without its encoding file nobody knows what it names.
  if (ekeyPageCount === 0 || ekeyPageCount * ekeyPageSize > mostEkeyBytes) return;
  if (existsSync(join(store.layout.marks, build.identity.buildConfig))) return;
  await valueUnless((error) => !isOurTrouble(error), findMarks(store, build, signal));
}

/** Finds what an open build names, and keeps it for the next time. @throws as {@link markBuild} */
export async function findMarks(store: Store, build: Build, signal?: AbortSignal): Promise<NamedBytes> {
  const { marks, isWhole } = await markBuild(build, signal);
  if (isWhole) keepMarks(store, build.identity, marks);
  return marks;
}

/** Without one of its indices nobody knows all places of what a build names: that they are held says no more than that they can be read. */
export function demandIndices({ group, fileIndex, cdnConfig, identity }: Build): void {
  const lacksList = cdnConfig.fileIndex !== undefined && fileIndex === undefined;
  if (!lacksList && group?.isWhole !== false) return;
  const data = { cdnConfig: identity.cdnConfig };
  throw new PakratError('E_OFFLINE', `an index of CDN config ${identity.cdnConfig} cannot be read`, { data });
}

/** A place of an entry in an archive, as bytes that sort: number of the archive u16, start u32, size u32. As objects, those of three million take 170 MB. */
const placeSize = 10;

/** The places of what a build names, while they are found. */
class Named {
  readonly #build: Build;
  /** Of entries, at most as many as the group lists. */
  #places: DataView = viewOf(new Uint8Array(0));
  #placesEnd = 0;
  /** Those of others, by the number of their archive. */
  readonly #more = new Map<number, Span[]>();
  #loose: Uint8Array[] = [];

  constructor(build: Build) {
    this.#build = build;
  }

  /** Begins with the places of entries. @param keys sorted */
  async addEntries(keys: RecordTable, signal: AbortSignal | undefined): Promise<void> {
    const { group, fileIndex } = this.#build;
    const places = viewOf(largeBytes((group?.layout.count ?? 0) * placeSize));
    let end = 0;
    const isListed = new Uint8Array(keys.count);
    const pages = group?.matches(keys, (row, archive, offset, size) => {
      isListed[row] = 1;
      places.setUint16(end, archive);
      places.setUint32(end + 2, offset);
      places.setUint32(end + 6, size);
      end += placeSize;
    });
    for (const _ of pages ?? []) await breathe(signal);
    // What no archive has can only lie by itself; so can what is listed as such, too.
    for (const { ekey } of fileIndex ?? []) {
      const row = keys.indexOf(ekey);
      if (row !== -1) isListed[row] = 0;
    }
    this.#places = places;
    this.#placesEnd = end;
    this.#loose = [];
    for (let row = 0; row < keys.count; row++) if (isListed[row] === 0) this.#loose.push(keys.at(row));
  }

  /** @param ekey hex, 9 bytes or 16 */
  addEkey(ekey: string): void {
    const { cdnConfig } = this.#build;
    const place = this.#build.locate(ekey);
    if (place?.loose) this.#loose.push(fromHex(place.ekey));
    else if (place !== undefined) {
      const archive = cdnConfig.archives.indexOf(place.object.hash);
      const spans = this.#more.get(archive) ?? [];
      spans.push({ start: place.offset, end: place.offset + place.size });
      this.#more.set(archive, spans);
    }
  }

  marks(): NamedBytes {
    const keys = sortRecords(Buffer.concat(this.#loose), 16, 16);
    return NamedBytes.of(new RecordTable(keys, 16), this.#spans());
  }

  /** Merged, of each archive in turn. */
  *#spans(): Generator<Span[]> {
    const places = this.#places;
    sortInPlace(new Uint8Array(places.buffer, 0, this.#placesEnd), placeSize);
    let at = 0;
    for (const archive of this.#build.cdnConfig.archives.keys()) {
      const spans = this.#more.get(archive) ?? [];
      for (; at < this.#placesEnd && places.getUint16(at) === archive; at += placeSize) {
        const start = places.getUint32(at + 2);
        spans.push({ start, end: start + places.getUint32(at + 6) });
      }
      yield mergeSpans(spans);
    }
  }
}

/**
 * A TVFS root may name entries that no encoding file lists: those without a content key.
 * @returns false where a manifest of it is not held: nobody can have taken what that names, as long as it is not
 */
async function markTvfs(named: Named, build: Build, signal: AbortSignal | undefined): Promise<boolean> {
  const { config } = build;
  if (config.vfsRoot === undefined) return true;
  const file = config.root && (await valueUnless(isUnavailable, build.manifest(config.root)));
  if (!(await build.lookUp(() => hasTvfsFirst({ config, file })))) return true;
  let isWhole = config.root === undefined || file !== undefined;
  const nested = new Map(config.vfs.flatMap((keys) => (keys.ekey === undefined ? [] : [[shortKey(keys.ekey), keys]])));
  // Those that nest in others join while it is gone through.
  const manifests = new Set([config.vfsRoot]);
  for (const keys of manifests) {
    await breathe(signal);
    const isHeld = await readIfHeld(build, keys, (manifest) => {
      if (nested.size === 0 && hasCkeys(manifest)) return;
      for (const { spans } of decodeTvfs(manifest).files) {
        for (const { ekey, ckey } of spans) {
          const inner = nested.get(shortKey(toHex(ekey)));
          if (inner !== undefined) manifests.add(inner);
          else if (ckey === undefined) named.addEkey(toHex(ekey));
        }
      }
    });
    isWhole &&= isHeld;
  }
  return isWhole;
}

/** True for a manifest that has a content key with every entry. */
function hasCkeys(manifest: TvfsSource): boolean {
  return (decodeTvfsHeader(manifest).flags & TvfsFlags.ckeys) !== 0;
}

/** The part of a key that every TVFS has. */
function shortKey(ekey: string): string {
  return ekey.slice(0, 18);
}

/** Lets work read a decoded manifest, once more where it turns out to be damaged. @returns false when it is not held */
async function readIfHeld(build: Build, keys: ManifestKeys, work: (manifest: DerivedFile) => void): Promise<boolean> {
  const read = build.lookUp(async () => {
    const manifest = new DerivedFile(await build.manifest(keys));
    try {
      work(manifest);
    } finally {
      manifest.close();
    }
    return true;
  });
  return (await valueUnless(isUnavailable, read)) === true;
}

interface StrayPlace {
  store: Store;
  build: Build;
  isMirror: boolean;
  /** Archives that the build does not list, of which something is held that nobody keeps. */
  archives: readonly KnownObject[];
  /** Loose objects that nobody keeps. */
  loose: readonly KnownObject[];
}

/**
 * Keeps copies of entries that a build wants and holds nowhere else: in archives that its CDN config does not list, or not any more, and loose ones.
 * With an archive stays its index, which proves them.
 * @throws as {@link markBuild}
 */
export async function markStrays(kept: KeptBytes, place: StrayPlace, signal?: AbortSignal): Promise<void> {
  const { store, build, isMirror, archives, loose } = place;
  const wanted = isMirror ? await everyKey(build) : (await ownKeys(build)).keys;
  for (const { path, name } of loose) if (wanted.find(fromHex(name.hash)) !== undefined) kept.addWhole(path);
  const lacking = await build.lookUp(() => lackingKeys(store, { build, wanted }, signal));
  if (lacking.count === 0) return;
  for (const { path, name } of archives) {
    await breathe(signal);
    const index = resultUnless(isPakratError, () => readIndexOf(store, name));
    // Nobody knows what lies there.
    if (index === undefined) kept.addWhole(path);
    const held = store.ledger.spans(path);
    const strays: Span[] = [];
    for (const { ekey, offset, size } of index ?? [])
      if (lacking.find(ekey) !== undefined && covers(held, offset, offset + size))
        strays.push({ start: offset, end: offset + size });
    if (strays.length > 0) kept.addStray(name.hash, objectPath({ ...name, suffix: '.index' }));
    kept.addSpans(path, mergeSpans(strays));
  }
}

/** The wanted keys of which no copy is held in an archive of the build, nor as an object of its own. */
async function lackingKeys(
  store: Store,
  { build, wanted }: { build: Build; wanted: RecordTable },
  signal: AbortSignal | undefined,
): Promise<RecordTable> {
  const { cdnPath } = build.identity;
  const paths = build.cdnConfig.archives.map((hash) => objectPath({ cdnPath, kind: 'data', hash }));
  const spans = new HeldSpans(store);
  const held = new Uint8Array(wanted.count);
  const pages = build.group?.matches(wanted, (row, archive, offset, size) => {
    const path = paths[archive];
    if (path !== undefined && held[row] === 0 && covers(spans.of(path), offset, offset + size)) held[row] = 1;
  });
  for (const _ of pages ?? []) await breathe(signal);
  const isLoose = (row: number): boolean =>
    store.ledger.completeSize(objectPath({ cdnPath, kind: 'data', hash: toHex(wanted.at(row)) })) !== undefined;
  return wanted.where((row) => held[row] === 0 && !isLoose(row));
}
