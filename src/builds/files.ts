import { breathe } from '../core/breathe.ts';
import { isKeyHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import type { NeededText } from '../core/glob.ts';
import { normalizeName } from '../core/jenkins.ts';
import { compareNames } from '../core/names/name-order.ts';
import type { IdSet } from '../core/tables/id-set.ts';
import type { CkeyEntry } from '../formats/manifests/encoding/pages.ts';
import { hasTag } from '../formats/manifests/tags.ts';
import { ContentFlags, localeFallback, localeFlag, localeNames } from '../formats/roots/locale.ts';
import type { Build } from './build.ts';
import type { EntryPlace } from './objects.ts';
import { mergeByName } from './roots/merge-by-name.ts';
import type { FilePart, FileVariant, PickVariant, Root, VariantFlags } from './roots/root.ts';

/** A file of a build, in the variant that was chosen. */
export interface BuildFile {
  /** Its name with `/`, or `fdid:N` / `ckey:HEX` / `ekey:HEX` where none is known. */
  name: string;
  fileDataId?: number | undefined;
  /** Locales of the variant, as bits; 0xffffffff where files have no locales. */
  localeFlags?: number | undefined;
  parts: FilePart[];
}

/** A part of a file with what the encoding file knows of it. */
export interface ResolvedPart {
  ckey: string | undefined;
  /** Every encoding of the content, in the order in which to try them. */
  ekeys: string[];
  /** Decoded size of the content; undefined when nothing tells. */
  contentSize: number | undefined;
  /** Bytes of the part. */
  size: number | undefined;
  /** Of its one encoding, where the root tells it. */
  encodedSize?: number | undefined;
}

/**
 * Finds a file by what a person types: a name, `fdid:N`, `ckey:HEX` or `ekey:HEX`.
 * Names come from the root, from the imported listfile and from the install manifest; case and the direction of slashes do not matter.
 * @throws E_NOT_FOUND with what to try, E_USAGE for a malformed id or key
 */
export async function findFile(build: Build, query: string, options: { locale: string }): Promise<BuildFile> {
  return build.lookUp(() => findAny(build, query, options));
}

async function findAny(build: Build, query: string, options: { locale: string }): Promise<BuildFile> {
  const [, kind, value] = /^(fdid|ckey|ekey):(.*)$/i.exec(query) ?? [];
  if (kind === undefined || value === undefined) return findByName(build, query, options.locale);
  if (kind.toLowerCase() === 'fdid') return findById(build, value, options.locale);
  if (!isKeyHex(value)) {
    throw new PakratError('E_USAGE', `${query}: a key has 32 hex digits`, { data: { name: query } });
  }
  const key = value.toLowerCase();
  const isContent = kind.toLowerCase() === 'ckey';
  const known = isContent ? build.encoding.findCkey(key) : build.locate(key);
  if (known === undefined) {
    throw new PakratError('E_NOT_FOUND', `the build has no ${kind} ${key}`, { data: { name: query } });
  }
  const part = isContent ? { ckey: key, size: undefined } : { ekey: key, size: undefined };
  return { name: `${kind.toLowerCase()}:${key}`, parts: [part] };
}

async function findById(build: Build, text: string, locale: string): Promise<BuildFile> {
  const id = Number(text);
  if (!/^\d{1,10}$/.test(text)) throw new PakratError('E_USAGE', `fdid:${text}: a file data id is a number`);
  const variants = (await build.root()).findId(id);
  if (variants.length === 0)
    throw new PakratError('E_NOT_FOUND', `the build has no file with id ${id}`, { data: { fileDataId: id } });
  return fileOf(getVariant(variants, locale, `fdid:${id}`));
}

async function findByName(build: Build, name: string, locale: string): Promise<BuildFile> {
  const variants = (await build.root()).find(name);
  if (variants.length > 0) return { ...fileOf(getVariant(variants, locale, name)), name: name.replaceAll('\\', '/') };
  const wanted = normalizeName(name);
  const installed = (await installFiles(build, locale)).find((file) => normalizeName(file.name) === wanted);
  if (installed !== undefined) return installed;
  const listed = build.hasListfile();
  throw new PakratError('E_NOT_FOUND', `the build has no file named ${name}`, {
    hint: listed
      ? 'Try `pakrat ls` with a glob, or fdid:N.'
      : 'Many files are known by id only until a list of names is there: `pakrat listfile import FILE`. Or try fdid:N.',
    data: { name },
  });
}

/** The files of the install manifest, those of the locale where a path has several. */
async function installFiles(build: Build, locale: string): Promise<BuildFile[]> {
  const install = await build.install();
  if (install === undefined) return [];
  const ofLocale = install.tags.find((tag) => tag.name.toLowerCase() === locale.toLowerCase());
  const files = new Map<string, BuildFile>();
  install.entries.forEach((entry, i) => {
    const key = normalizeName(entry.path);
    if (files.has(key) && !(ofLocale !== undefined && hasTag(ofLocale.mask, i))) return;
    files.set(key, { name: entry.path.replaceAll('\\', '/'), parts: [{ ckey: entry.ckey, size: entry.size }] });
  });
  return [...files.values()];
}

function fileOf(variant: FileVariant): BuildFile {
  const { fileDataId, parts, localeFlags } = variant;
  return { name: variant.name ?? `fdid:${fileDataId}`, fileDataId, localeFlags, parts };
}

/** The files of a build whose names `matches`, in the variant for a locale. */
interface FileListing {
  locale: string;
  matches: (name: string) => boolean;
  /** Of these texts every name has one that matches; undefined where that is not known. */
  needed?: readonly NeededText[] | undefined;
  /** Of folders that this gives one file is enough: what the names of the folder begin with as which a file is listed. */
  folderOf?: ((name: string) => string | undefined) | undefined;
  /** Files that are given at once. Few at a time spare memory where nothing is looked up. */
  batchSize?: number | undefined;
  /** Ids that are left out, of {@link sameFiles}. */
  without?: IdSet | undefined;
}

/**
 * The ids of files that two builds have under the same name and with the same content, in the variants for a locale; undefined where that cannot
 * be told at once. @throws E_ABORTED
 */
export async function sameFiles(
  before: Build,
  after: Build,
  { locale, signal }: { locale: string; signal?: AbortSignal | undefined },
): Promise<IdSet | undefined> {
  const [root, other] = [await before.wholeRoot(), await after.wholeRoot()];
  return root.sameIds?.(other, pickFor(locale), signal);
}

/** Files that are looked up together: more would be a little faster, and take more memory. */
const lookedUpAtOnce = 16_384;
/** Names that are asked about before there is a pause. */
const askedAtOnce = 16_384;

/**
 * The files of a listing, many at a time and sorted by name: those of the root, and those of the install manifest that the root does not name.
 * There may be millions. The event loop turns meanwhile, whether names match or not.
 */
export async function* listFiles(build: Build, listing: FileListing): AsyncGenerator<BuildFile[]> {
  const { locale, matches, batchSize = lookedUpAtOnce } = listing;
  // Roots are gone through without waiting: now and then a name that is not wanted comes through, for a pause.
  const pauses = new Set<string>();
  let asked = 0;
  const matchesOrPauses = (name: string): boolean => {
    if (matches(name)) return true;
    asked += 1;
    // The one variant of a file may pass and another be picked: so all that come, until one is through.
    if (asked >= askedAtOnce && name !== '') pauses.add(name);
    return pauses.has(name);
  };
  let batch: BuildFile[] = [];
  const whole = { locale, matches: matchesOrPauses };
  // All at once: whatever is wanted, names are asked about in the same order, and once, though what is damaged be made again.
  const installed = (await installFiles(build, locale)).filter(({ name }) => matchesOrPauses(name));
  const { rows, others } = await openListing(build, installed, listing);
  const byName = ({ name }: BuildFile): string | undefined => (/^(?:fdid|ckey):/.test(name) ? undefined : name);
  for (const file of mergeByName(rootFiles(rows, whole), others, byName)) {
    const isPause = pauses.delete(file.name);
    if (!isPause && batch.push(file) < batchSize) continue;
    asked = 0;
    await breathe();
    if (isPause) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** The rows of a root, and the installed files that it does not name. What is read of them after this was checked. */
async function openListing(
  build: Build,
  installed: readonly BuildFile[],
  { needed, folderOf, without, locale }: FileListing,
): Promise<{ rows: Root['list']; others: BuildFile[] }> {
  if ((needed ?? folderOf) !== undefined && without === undefined) {
    const folders = folderOf && { folderOf, pick: pickFor(locale) };
    const narrowed = await build.lookUp(async () => {
      const root = await build.root();
      const rows = await root.narrow?.({ needed, folders });
      return rows && { rows, others: notInRoot(root, installed) };
    });
    if (narrowed !== undefined) return narrowed;
  }
  const root = await build.wholeRoot();
  const rows: Root['list'] = (matches) => (without && root.listWithout?.(without, matches)) ?? root.list(matches);
  return { rows, others: notInRoot(root, installed) };
}

function notInRoot(root: Root, installed: readonly BuildFile[]): BuildFile[] {
  return installed.filter(({ name }) => root.find(name).length === 0).sort((a, b) => compareNames(a.name, b.name));
}

function* rootFiles(rows: Root['list'], { locale, matches }: FileListing): Generator<BuildFile> {
  let variants: FileVariant[] = [];
  for (const variant of rows(matches)) {
    const [first] = variants;
    if (first !== undefined && !isSameFile(first, variant)) {
      const picked = pickVariant(variants, locale);
      variants = [];
      if (picked !== undefined) yield new ListedFile(picked);
    }
    variants.push(variant);
  }
  const last = pickVariant(variants, locale);
  if (last !== undefined) yield new ListedFile(last);
}

/** A file of a listing: of millions most are asked for their names alone, and the parts are made when they are asked for. */
class ListedFile implements BuildFile {
  // Declared only: fields cost less so.
  declare readonly name: string;
  declare private readonly variant: FileVariant;
  declare private known: FilePart[] | undefined;

  constructor(variant: FileVariant) {
    this.name = variant.name ?? `fdid:${variant.fileDataId}`;
    this.variant = variant;
    this.known = undefined;
  }

  get fileDataId(): number | undefined {
    return this.variant.fileDataId;
  }

  get localeFlags(): number {
    return this.variant.localeFlags;
  }

  get parts(): FilePart[] {
    this.known ??= this.variant.parts;
    return this.known;
  }
}

function isSameFile(a: FileVariant, b: FileVariant): boolean {
  return a.fileDataId === undefined ? a.name === b.name : a.fileDataId === b.fileDataId;
}

/** The contents of a file's parts, where the encoding file knows them. */
export type KnownParts = readonly (CkeyEntry | undefined)[];

/** The parts of a file with what the encoding file knows of them; `known` when that was looked up before. */
export function resolveParts(build: Build, { parts }: BuildFile, known?: KnownParts): ResolvedPart[] {
  return parts.map(({ ckey, ekey, size, encodedSize }, i) => {
    const content = known === undefined ? ckey && build.encoding.findCkey(ckey) : known[i];
    const { ekeys = ekey === undefined ? [] : [ekey], size: contentSize } = content || {};
    return { ckey, ekeys, contentSize, size: size ?? contentSize, encodedSize };
  });
}

/** The contents of many files, looked up at once. @returns a function from the number of a file in `files` to its contents */
export async function findContentsOf(build: Build, files: readonly BuildFile[]): Promise<(file: number) => KnownParts> {
  const ckeys: (string | undefined)[] = [];
  const ends = new Uint32Array(files.length);
  files.forEach(({ parts }, i) => {
    for (const { ckey } of parts) ckeys.push(ckey);
    ends[i] = ckeys.length;
  });
  const find = await build.lookUp(() => build.encoding.findCkeys(ckeys));
  return (file) => {
    const known: (CkeyEntry | undefined)[] = [];
    for (let part = ends[file - 1] ?? 0; part < (ends[file] ?? 0); part++) known.push(find(part));
    return known;
  };
}

/** Decoded size of a file; undefined when the encoding file does not know it. */
export function sizeOf(parts: readonly Pick<ResolvedPart, 'size'>[]): number | undefined {
  let sum = 0;
  for (const { size } of parts) {
    if (size === undefined) return undefined;
    sum += size;
  }
  return sum;
}

/** The places of a part's encodings, in the order in which to try them. @throws E_NOT_FOUND when none has a place */
export function placesOf(build: Build, file: BuildFile, part: ResolvedPart): EntryPlace[] {
  const places = part.ekeys.flatMap((ekey) => build.locate(ekey, part.encodedSize) ?? []);
  if (places.length > 0) return places;
  throw noPlace(file, part);
}

/** The first of {@link placesOf}, without a look at the others. @throws as that does */
export function firstPlaceOf(build: Build, file: BuildFile, part: ResolvedPart): EntryPlace {
  for (const ekey of part.ekeys) {
    const place = build.locate(ekey, part.encodedSize);
    if (place !== undefined) return place;
  }
  throw noPlace(file, part);
}

function noPlace({ name }: BuildFile, { ckey, ekeys }: ResolvedPart): PakratError {
  const key = ckey ?? ekeys[0] ?? '';
  return new PakratError('E_NOT_FOUND', `${name}: no index says where its content ${key} is`, { data: { name, key } });
}

/**
 * The variant of a file that a locale gets: the rows for the locale (or the one it falls back to), those that are no
 * low-violence or do-not-load alternates before those that are, the first of what is left. Undefined when no row is for the locale.
 */
function pickVariant<Variant extends VariantFlags>(variants: readonly Variant[], locale: string): Variant | undefined {
  for (let name: string | undefined = locale; name !== undefined; name = localeFallback(name)) {
    const flag = localeFlag(name);
    const fitting = variants.filter((variant) => (variant.localeFlags & flag) !== 0);
    if (fitting.length > 0) return fitting.find((variant) => !isAlternate(variant)) ?? fitting[0];
  }
  return undefined;
}

function pickFor(locale: string): PickVariant {
  return (variants) => pickVariant(variants, locale);
}

function isAlternate(variant: VariantFlags): boolean {
  return (variant.contentFlags & (ContentFlags.lowViolence | ContentFlags.dontLoad)) !== 0;
}

/** As {@link pickVariant}. @throws E_NOT_FOUND that names the locales there are, E_USAGE where a name stands for several files */
export function getVariant(variants: readonly FileVariant[], locale: string, name: string): FileVariant {
  const found = pickVariant(variants, locale);
  if (found?.oneOf !== undefined) {
    throw new PakratError('E_USAGE', `${name} is there for several systems or regions`, {
      hint: `Ask for ${found.oneOf.join(' or ')}.`,
      data: { name, names: found.oneOf },
    });
  }
  if (found !== undefined) return found;
  const locales = localeNames(variants.reduce((flags, variant) => flags | variant.localeFlags, 0));
  throw new PakratError('E_NOT_FOUND', `${name} has no variant for locale ${locale}`, {
    hint: `Ask with --locale ${locales.join(' or ')}.`,
    data: { name, locale, locales },
  });
}
