import type { Build } from '../../builds/build.ts';
import type { DownloadFile } from '../../builds/manifests/download-file.ts';
import { compareKeys, fromHex, toHex, u32At } from '../../core/bytes.ts';
import { isDamage, PakratError, resultUnless } from '../../core/errors.ts';
import { nameMatcher } from '../../core/glob.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import { ekeySize, ekeyStride } from '../../formats/manifests/encoding/pages.ts';
import { hasTag, selectByTags, type Tag } from '../../formats/manifests/tags.ts';
import { addDownload, amountsByTag, rankWanted, type TagAmount } from './download-rows.ts';
import { manifestPriority, WantedList } from './wanted.ts';

const ekeyBytes = 16;

/** The part of a build that a person asks for. All empty: the whole build. */
export interface Selection {
  /** Tags of the download and install manifests: OR inside a type of tag, AND across types. */
  tags: readonly string[];
  /** Globs on names. */
  include: readonly string[];
  /** Every object that the CDN has for the build, as it has it. */
  all: boolean;
}

/** The entries of a selection. */
export interface ChosenEntries {
  /** Rows of a {@link WantedList}, sorted by ekey. */
  wanted: RecordTable;
  /** Wanted entries and bytes of each tag of the download manifest; found when asked for. It keeps the manifest in memory. */
  byTag: () => Promise<TagAmount[]>;
  /** False where the build names a download manifest that cannot be had: more may be wanted, another time. */
  isListed: boolean;
}

/**
 * The entries that a selection chooses, sorted by ekey. Manifests of the build are always among them, so that what is synced can be read later.
 * @throws E_USAGE for a tag that the build does not have, E_NOT_FOUND for a glob that no name matches
 */
export async function selectEntries(build: Build, selection: Selection): Promise<RecordTable> {
  return (await chooseEntries(build, selection)).wanted;
}

/** As {@link selectEntries}, for those who ask for tags as well. @throws as it does, E_ABORTED */
export async function chooseEntries(
  build: Build,
  selection: Selection,
  signal?: AbortSignal | undefined,
): Promise<ChosenEntries> {
  const { tags, include, all } = selection;
  const download = await build.download();
  const byName = include.length > 0 ? await namedEkeys(build, include) : undefined;
  const isWhole = !all && tags.length === 0 && byName === undefined;
  const list = all ? listOfEverything(build) : isWhole ? listOfEncoding(build) : new WantedList();
  // Entries whose priorities are not known yet; undefined: of none.
  let unranked: RecordTable | undefined;
  if (isWhole && download !== undefined) unranked = await addDownload(list, download, signal);
  else if (!all && tags.length > 0) await addTagged(build, { list, download, tags, byName });
  else if (!all) for (const ekey of byName ?? []) addEkey(build, list, ekey);
  addManifests(build, list);
  const wanted = list.sorted();
  if (download === undefined) return { wanted, byTag: async () => [], isListed: build.config.download === undefined };
  await rankWanted(wanted, download, { entries: unranked, signal });
  return { wanted, byTag: () => amountsByTag(isWhole ? undefined : wanted, download, signal), isListed: true };
}

/** The manifests of a build, as rows of a {@link WantedList}. */
export function manifestEntries(build: Build): RecordTable {
  const list = new WantedList();
  addManifests(build, list);
  return list.sorted();
}

/** Every entry that the encoding file lists: of a whole build nearly all there are, so that its memory is not grown by doubling. */
function listOfEncoding(build: Build): WantedList {
  const list = new WantedList(encodedCount(build));
  for (const { bytes, at } of rowsOf(build.encoding.ekeyPages())) list.addAt(bytes, at, ekeySize(bytes, at));
  return list;
}

/** About as many entries as the encoding file lists. */
function encodedCount(build: Build): number {
  const { ekeyPageCount, ekeyPageSize } = build.encoding.layout;
  return Math.ceil((ekeyPageCount * ekeyPageSize) / ekeyStride);
}

/** Every entry of every archive and every loose object, whether this build uses it or not. What the encoding file and the group list comes in one order. */
function listOfEverything(build: Build): WantedList {
  const list = new WantedList(encodedCount(build) + (build.group?.layout.count ?? 0));
  const grouped = rowsOf(build.group?.recordPages() ?? []);
  let other = grouped.next().value;
  for (const own of rowsOf(build.encoding.ekeyPages())) {
    let size = ekeySize(own.bytes, own.at);
    for (; other !== undefined; other = grouped.next().value) {
      const order = compareKeys(other.bytes, other.at, own.bytes, own.at);
      if (order > 0) break;
      if (order === 0) size = Math.min(size, entrySize(other));
      else list.addAt(other.bytes, other.at, entrySize(other));
    }
    list.addAt(own.bytes, own.at, size);
  }
  for (; other !== undefined; other = grouped.next().value) list.addAt(other.bytes, other.at, entrySize(other));
  for (const { ekey, size } of build.fileIndex ?? []) list.add(ekey, size);
  return list;
}

interface RowPlace {
  bytes: Uint8Array;
  at: number;
}

/** Where each row of some tables begins, one after the other; it is there until the next is asked for. */
function* rowsOf(tables: Iterable<RecordTable>): Generator<RowPlace, undefined> {
  for (const { bytes, stride, count } of tables) {
    const place = { bytes, at: 0 };
    for (let row = 0; row < count; row++, place.at += stride) yield place;
  }
}

/** Encoded size of an entry of the group: behind its key. */
function entrySize({ bytes, at }: RowPlace): number {
  return u32At(bytes, at + ekeyBytes);
}

async function addTagged(
  build: Build,
  choice: {
    list: WantedList;
    download: DownloadFile | undefined;
    tags: readonly string[];
    byName: ReadonlySet<string> | undefined;
  },
): Promise<void> {
  const { list, download, tags, byName } = choice;
  const install = await build.install();
  if (download === undefined && install === undefined) {
    const why = 'the build has neither a download nor an install manifest, so tags choose nothing';
    throw new PakratError('E_UNSUPPORTED', why, { hint: 'Leave --tags away.' });
  }
  // A tag of neither manifest is a mistake; one that only the other has says nothing about the entries of this one.
  selectByTags([...(download?.tags ?? []), ...(install?.tags ?? [])], tags, 0);
  if (download !== undefined) {
    const mask = selectByTags(download.tags, known(tags, download.tags), download.count);
    let number = 0;
    for (const { ekey, size } of download.entries()) {
      if (!hasTag(mask, number++)) continue;
      if (byName === undefined || byName.has(toHex(ekey))) list.add(ekey, size);
    }
  }
  if (install !== undefined) {
    const mask = selectByTags(install.tags, known(tags, install.tags), install.entries.length);
    install.entries.forEach((entry, i) => {
      if (!hasTag(mask, i)) return;
      for (const ekey of ekeysOf(build, entry.ckey) ?? []) {
        if (byName === undefined || byName.has(ekey)) addEkey(build, list, ekey);
      }
    });
  }
}

/**
 * Of the tags that were asked for those that no file has. They bring nothing of their own, and what has no tag of their type is wanted all the
 * same: alone they choose the whole build.
 */
export async function tagsWithoutFiles(
  build: Pick<Build, 'download' | 'install'>,
  asked: readonly string[],
): Promise<string[]> {
  // Without tags the manifests may not be here, and nobody asked for them.
  if (asked.length === 0) return [];
  const tags = [...((await build.download())?.tags ?? []), ...((await build.install())?.tags ?? [])];
  return known(asked, tags).filter((name) =>
    tags.every((tag) => tag.name.toLowerCase() !== name.toLowerCase() || tag.mask.every((byte) => byte === 0)),
  );
}

function known(names: readonly string[], tags: readonly Tag[]): string[] {
  return names.filter((name) => tags.some((tag) => tag.name.toLowerCase() === name.toLowerCase()));
}

function addEkey(build: Build, list: WantedList, ekey: string): void {
  const size = resultUnless(isDamage, () => build.encoding.findEkey(ekey)?.size) ?? build.locate(ekey)?.size;
  if (size !== undefined) list.add(fromHex(ekey), size);
}

/** Encodings of a content; undefined where the encoding file does not know it, or lists it in a page that is damaged. */
function ekeysOf(build: Build, ckey: string): string[] | undefined {
  return resultUnless(isDamage, () => build.encoding.findCkey(ckey)?.ekeys);
}

/** Encodings of every file, in all its variants, whose name matches one of the globs. */
async function namedEkeys(build: Build, globs: readonly string[]): Promise<Set<string>> {
  const matches = nameMatcher(globs);
  const ekeys = new Set<string>();
  const add = (ckey: string | undefined, ekey: string | undefined): void => {
    const known = ckey === undefined ? undefined : ekeysOf(build, ckey);
    for (const key of known ?? (ekey === undefined ? [] : [build.locate(ekey)?.ekey]))
      if (key !== undefined) ekeys.add(key);
  };
  for (const { parts } of (await build.wholeRoot()).list(matches)) for (const { ckey, ekey } of parts) add(ckey, ekey);
  for (const entry of (await build.install())?.entries ?? []) {
    if (matches(entry.path.replaceAll('\\', '/'))) add(entry.ckey, undefined);
  }
  if (ekeys.size === 0) {
    throw new PakratError('E_NOT_FOUND', `no name of the build matches ${globs.join(' or ')}`, {
      hint: !build.hasListfile()
        ? 'Many files are known by id only until a list of names is there: `pakrat listfile import FILE`.'
        : 'A glob without a slash matches the last part of a name; `pakrat ls` shows names.',
    });
  }
  return ekeys;
}

/** The manifests that the build config names, so that the build can be opened without a network. */
function addManifests(build: Build, list: WantedList): void {
  const { encoding, root, install, download, size, vfsRoot, vfs, patchIndex } = build.config;
  const manifests = [encoding, root, install, download, size, vfsRoot, patchIndex, ...vfs];
  for (const manifest of manifests) if (manifest !== undefined) addManifest(build, list, manifest);
}

function addManifest(build: Build, list: WantedList, { ckey, ekey, encodedSize }: ManifestKeys): void {
  const ekeys = ekey === undefined ? (ekeysOf(build, ckey) ?? []) : [ekey];
  for (const key of ekeys) {
    const place = build.locate(key, encodedSize);
    if (place !== undefined) list.add(fromHex(key), place.size, manifestPriority);
  }
}
