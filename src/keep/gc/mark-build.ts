import type { Build } from '../../builds/build.ts';
import { ownObjects, patchObjects } from '../../builds/own-objects.ts';
import { breathe } from '../../core/breathe.ts';
import { fromHex, toHex } from '../../core/bytes.ts';
import { isPakratError, isUnavailable, PakratError, resultUnless, valueUnless } from '../../core/errors.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { HeldSpans } from '../../fetch/held-spans.ts';
import { selectEntries } from '../../fetch/plan/selection.ts';
import { wantedRow } from '../../fetch/plan/wanted.ts';
import { hasObject } from '../../fetch/small-objects.ts';
import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import { decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { type ObjectKind, objectPath } from '../../store/layout.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { covers } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { isNoList, patchLists, readPatchList } from '../../sync/patches/patch-lists.ts';
import { wantsAll } from '../damaged-rows.ts';
import type { KnownObject } from '../known-objects.ts';
import type { KeptBytes } from './kept-bytes.ts';

/** The objects of a CDN path that may be kept or not. */
export interface Candidates {
  archives: readonly KnownObject[];
  loose: readonly KnownObject[];
  patches: readonly KnownObject[];
}

/**
 * Keeps every byte that a build names, whatever was chosen of it: a part of it may have come by itself, or with another selection. All that its
 * CDN config lists is kept of a build of which that was ever wanted.
 * @throws E_OFFLINE when a part of the store that would say what the build names is not held, E_FORMAT… and E_INTEGRITY when it is damaged
 */
export async function markBuild(
  kept: KeptBytes,
  { store, build, row, candidates }: { store: Store; build: Build; row: BuildRow; candidates: Candidates },
  signal: AbortSignal | undefined,
): Promise<void> {
  const isMirror = store.ledger.keeping.selections(row).some(wantsAll);
  demandOwnObjects(store, build);
  markSmall(kept, build);
  if (isMirror) for (const hash of build.cdnConfig.archives) kept.addWhole(pathOf(build, 'data', hash));
  const wanted = await build.lookUp(() => selectEntries(build, { tags: [], include: [], all: isMirror }));
  const held = await build.lookUp(() => markEntries(kept, { store, build, wanted }, signal));
  for (const { path, name } of candidates.loose) if (wanted.find(fromHex(name.hash)) !== undefined) kept.addWhole(path);
  const loose = new Set(candidates.loose.flatMap(({ complete, name }) => (complete ? [name.hash] : [])));
  const lacking = wanted.where((row) => held[row] === 0 && !loose.has(toHex(wantedRow(wanted.at(row)).ekey)));
  await markStrays(kept, { store, build, lacking, archives: candidates.archives }, signal);
  await markTvfs(kept, build, signal);
  await markPatches(kept, build, candidates.patches, signal);
}

/** Without one of its indices nobody knows all places of what a build names. */
function demandOwnObjects(store: Store, { identity, cdnConfig }: Build): void {
  const lacking = ownObjects(identity, cdnConfig).filter((name) => !hasObject(store, name));
  const [first] = lacking;
  if (first === undefined) return;
  const what = `${objectPath(first)}${lacking.length > 1 ? ` and ${lacking.length - 1} more of its objects` : ''}`;
  throw new PakratError('E_OFFLINE', `${what} is not held`, { data: { path: objectPath(first) } });
}

function pathOf({ identity: { cdnPath } }: Build, kind: ObjectKind, hash: string): string {
  return objectPath({ cdnPath, kind, hash });
}

/** Configs and indices, of data and of patches. */
function markSmall(kept: KeptBytes, { identity, config, cdnConfig }: Build): void {
  for (const name of [...ownObjects(identity, cdnConfig), ...patchObjects(identity, config, cdnConfig)])
    kept.addWhole(objectPath(name));
  const { cdnPath, keyRing } = identity;
  if (keyRing) kept.addWhole(objectPath({ cdnPath, kind: 'config', hash: keyRing }));
}

interface Entries {
  store: Store;
  build: Build;
  /** Rows of a WantedList, sorted by ekey. */
  wanted: RecordTable;
}

/**
 * Keeps every copy of each wanted entry: both are sorted by ekey, and are walked side by side.
 * @returns 1 for each wanted row of which a copy is held in an archive of the build
 */
async function markEntries(
  kept: KeptBytes,
  { store, build, wanted }: Entries,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const paths = build.cdnConfig.archives.map((hash) => pathOf(build, 'data', hash));
  const spans = new HeldSpans(store);
  const held = new Uint8Array(wanted.count);
  let row = 0;
  for (const page of build.group?.pages() ?? []) {
    await breathe(signal);
    for (const { ekey, archive, offset, size } of page) {
      while (row < wanted.count && wanted.compare(row, ekey) < 0) row += 1;
      if (row === wanted.count) return held;
      const path = paths[archive];
      if (path === undefined || wanted.compare(row, ekey) !== 0) continue;
      kept.add(path, offset, offset + size);
      if (held[row] === 0 && covers(spans.of(path), offset, offset + size)) held[row] = 1;
    }
  }
  return held;
}

/**
 * Keeps copies of wanted entries in archives that the build's CDN config does not list, or not any more. With them stays the index, which proves them.
 * @param place.lacking the wanted rows of which the build has no other copy that is held
 */
async function markStrays(
  kept: KeptBytes,
  place: { store: Store; build: Build; lacking: RecordTable; archives: readonly KnownObject[] },
  signal: AbortSignal | undefined,
): Promise<void> {
  const { store, build, lacking, archives } = place;
  if (lacking.count === 0) return;
  const listed = new Set(build.cdnConfig.archives);
  for (const { path, name } of archives) {
    const spans = listed.has(name.hash) ? [] : store.ledger.spans(path);
    if (spans.length === 0) continue;
    await breathe(signal);
    const index = resultUnless(isPakratError, () => {
      const bytes = store.readObject({ ...name, suffix: '.index' });
      return bytes && decodeArchiveIndex(bytes, name.hash);
    });
    // Nobody knows what lies there.
    if (index === undefined) kept.addWhole(path);
    for (const { ekey, offset, size } of index ?? []) {
      if (lacking.find(ekey) === undefined || !covers(spans, offset, offset + size)) continue;
      kept.add(path, offset, offset + size);
      kept.addStray(name.hash, objectPath({ ...name, suffix: '.index' }));
    }
  }
}

/** A TVFS root may name entries that no encoding file lists. Nobody can have taken any of them where the root is not held. */
async function markTvfs(kept: KeptBytes, build: Build, signal: AbortSignal | undefined): Promise<void> {
  if (build.config.vfsRoot === undefined) return;
  const root = await valueUnless(isUnavailable, build.wholeRoot());
  if (root?.kind !== 'tvfs') return;
  for (const { parts } of root.list(() => true)) {
    await breathe(signal);
    for (const { ckey, ekey } of parts) {
      const place = ckey === undefined && ekey !== undefined ? build.locate(ekey) : undefined;
      if (place?.loose) kept.addWhole(objectPath(place.object));
      else if (place !== undefined) kept.add(objectPath(place.object), place.offset, place.offset + place.size);
    }
  }
}

/** Patches that the build lists. Where a list of it cannot be read, all that it may have. */
async function markPatches(
  kept: KeptBytes,
  build: Build,
  patches: readonly KnownObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (patches.length === 0) return;
  const lists = patchLists(build);
  let keepsLoose = !lists.some(({ loose }) => loose);
  for (const list of lists) {
    await breathe(signal);
    const read = await valueUnless(isNoList, readPatchList(build, list));
    if (read === undefined && list.loose) keepsLoose = true;
    else if (read === undefined) kept.addWhole(pathOf(build, 'patch', list.hash));
    for (const entry of read?.index ?? []) {
      const { object, offset, size, loose } = read!.placeOf(entry);
      if (loose) kept.addWhole(objectPath(object));
      else kept.add(objectPath(object), offset, offset + size);
    }
  }
  for (const { form, path } of keepsLoose ? patches : []) if (form === 'patch') kept.addWhole(path);
}

/** The keys of the derived files that a build has: of its archive group, its manifests and its names. */
export function derivedKeys({
  config,
  identity,
}: Pick<Build, 'config'> & { identity: { cdnConfig: string } }): string[] {
  const { encoding, root, install, download, size, vfsRoot, patchIndex, vfs } = config;
  const manifests = [encoding, root, install, download, size, vfsRoot, patchIndex, ...vfs];
  return [identity.cdnConfig, ...manifests.flatMap((keys: ManifestKeys | undefined) => keys?.ckey ?? [])];
}
