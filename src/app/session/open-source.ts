import { existsSync, statSync } from 'node:fs';
import { isDamage, isPakratError, withHint } from '../../core/errors.ts';
import { noting, type OnProgress, stepping, type WorkOptions } from '../../core/progress.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import { isInstall } from '../../installs/casc/find-install.ts';
import { isCdnFolder } from '../../installs/cdn-folder/find-cdn.ts';
import { isCalledPak } from '../../paks/index.ts';
import type { PakPool, ThreadedPak } from '../../sources/paks/pak-pool.ts';
import type { RegexSearch } from '../../sources/regex-search.ts';
import type { Source } from '../../sources/source.ts';
import type { PakOpenOptions } from './pak-options.ts';
import type { Session } from './session.ts';
import { tellNames } from './tell-names.ts';

/** Options of everything that reads a source. */
export interface SourceOptions extends WorkOptions {
  /** Keys, encodings and versions of a PAK; builds take no notice of them. */
  pak?: PakOpenOptions | undefined;
  /** Locale of the files that a build gives, where it has several. Default: the locale of the session. */
  locale?: string | undefined;
}

/** The use of a source, beside the options that its user gave. */
export interface OpenOptions extends SourceOptions {
  /** All of the source will be read: threads that pay for that are started while it is opened. */
  readsAll?: boolean | undefined;
  /** Tell its oddities as notes. Default true. */
  tellNotes?: boolean | undefined;
}

/** An open source. Needs `close`. */
export interface OpenedSource {
  source: Source;
  /** Of a build of the store: what fetches the parts of it that lack. */
  fetcher?: Fetcher | undefined;
  close(): Promise<void>;
}

/** A kind of source. */
interface SourceKind {
  /** Whether a path is one of it; absent for what lies at no path. */
  isAt?: (path: string) => boolean;
  /** @param name the text behind the scheme */
  open: (session: Session, name: string, options: OpenOptions) => Promise<OpenedSource>;
}

/** THE LIST: each kind by its scheme. A path is of the first kind that claims it, the last claims all. */
const sourceKinds = {
  tact: { open: openProduct },
  cdn: { isAt: isCdnFolder, open: (...given) => openFolderBuild('cdn', ...given) },
  casc: { isAt: isInstall, open: (...given) => openFolderBuild('casc', ...given) },
  pak: { isAt: () => true, open: openPakPath },
} satisfies Record<string, SourceKind>;

/** A source as a person names it. */
interface SourceName {
  scheme: keyof typeof sourceKinds;
  /** The text behind the scheme. */
  rest: string;
}

/** An existing path is a path, anything else is a product; a scheme in front (`tact:`, `pak:`, …) forces the reading. */
export function parseSourceName(text: string): SourceName {
  const [, scheme = '', rest = ''] = /^(\w+):(.*)$/s.exec(text) ?? [];
  if (isScheme(scheme)) return { scheme, rest };
  if (existsSync(text) || looksLikePath(text)) return { scheme: schemeOfPath(text), rest: text };
  // Behind a folder's name there may be a build; one that is no source does not stand in the way of a product.
  const ofFolder = splitChoice(text).path === text ? 'tact' : schemeOfPath(text);
  return { scheme: ofFolder === 'pak' ? 'tact' : ofFolder, rest: text };
}

/** As {@link parseSourceName}; a folder without a source in it does not stand in the way of a product of its name. */
export async function findSourceName(text: string, options: OpenOptions = {}): Promise<SourceName> {
  const name = parseSourceName(text);
  if (name.scheme !== 'pak' || !isBareFolder(text)) return name;
  const { findPakFolders } = await import('../../paks/index.ts');
  const { readPakOptions } = await import('./pak-options.ts');
  const folders = await findPakFolders(text, await readPakOptions(options.pak ?? {}, text));
  return folders === undefined ? { scheme: 'tact', rest: text } : name;
}

/** True for the name of a folder here that could be a product's. */
function isBareFolder(text: string): boolean {
  return /^\w[\w.-]*$/.test(text) && isFolder(text);
}

function isScheme(text: string): text is SourceName['scheme'] {
  return Object.hasOwn(sourceKinds, text);
}

/** The scheme of a path; the build that is meant may stand behind it: `PATH@BUILD`. */
function schemeOfPath(text: string): SourceName['scheme'] {
  const path = existsSync(text) ? text : text.replace(/@[^@]*$/, '');
  const kinds: Record<SourceName['scheme'], SourceKind> = sourceKinds;
  return (
    Object.keys(kinds)
      .filter(isScheme)
      .find((scheme) => kinds[scheme].isAt?.(path)) ?? 'pak'
  );
}

/** A product has no slash in its name, and no ending. */
function looksLikePath(text: string): boolean {
  return /[/\\]/.test(text) || isCalledPak(text);
}

/** Takes `PATH[@BUILD]` apart: a path that exists is one, whatever is in it. */
export function splitChoice(text: string): { path: string; choice: string | undefined } {
  const at = text.lastIndexOf('@');
  if (at <= 0 || existsSync(text)) return { path: text, choice: undefined };
  return { path: text.slice(0, at), choice: text.slice(at + 1) };
}

/** PAKs from this size on are worth threads. */
const largeBytes = 64 << 20;

/**
 * Opens a source by the name that a person gives it: `PRODUCT[@BUILD]`, a PAK, a game folder, an installed game, a CDN folder.
 * @throws E_USAGE, E_NOT_FOUND, and as its kind does
 */
export async function openSource(session: Session, name: string, options: OpenOptions = {}): Promise<OpenedSource> {
  const { scheme, rest } = await findSourceName(name, options);
  const opened = sourceKinds[scheme].open(session, rest, options);
  return scheme === 'tact' ? besideFolder(name, opened) : opened;
}

/** An error about a product that says so where a folder may have been meant. */
export async function besideFolder<Result>(name: string, work: Promise<Result>): Promise<Result> {
  return work.catch(async (error: unknown) => {
    // What is damaged was found.
    if (isDamage(error) || !isPakratError(error) || !isBareFolder(name)) throw error;
    const { nearSources } = await import('../../installs/near-folders.ts');
    const hint = nearSources(name) ?? error.hint ?? '';
    const folder = `The folder ${name} here holds no PAK, no installed game and no layout of a CDN, so that ${name} was taken for tact:${name}, a product.`;
    throw withHint(error, `${folder} ${hint}`.trimEnd());
  });
}

/** Opens a source, or a folder of plain files: one that is none of any game, or that is asked for as such with `folder:`. Needs `close`. @throws as openSource */
export async function openAny(session: Session, name: string, options: SourceOptions): Promise<OpenedSource> {
  const folder = await plainFolder(name, options.pak);
  if (folder === undefined) return openSource(session, name, options);
  const { folderSource } = await import('../../sources/folder-source.ts');
  const source = folderSource(folder);
  return { source, close: () => source.close() };
}

/** The path of a folder that is asked for as such with `folder:`, or that is none of any game. */
async function plainFolder(name: string, pak: PakOpenOptions = {}): Promise<string | undefined> {
  if (name.startsWith('folder:')) return name.slice('folder:'.length);
  const isPath = parseSourceName(name).scheme === 'pak';
  if (!isPath || statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const { readPakOptions } = await import('./pak-options.ts');
  const { findPakFolders } = await import('../../paks/index.ts');
  const folders = await findPakFolders(name, await readPakOptions(pak, name));
  return folders === undefined ? name : undefined;
}

/** Opens a source, runs `body` with it, and closes it, whatever happens. */
export async function withSource<Result>(
  session: Session,
  name: string,
  options: OpenOptions,
  body: (opened: OpenedSource) => Promise<Result>,
): Promise<Result> {
  const opened = await openSource(session, name, options);
  try {
    return await body(opened);
  } finally {
    await opened.close();
  }
}

function tell(onProgress: OnProgress | undefined, notes: readonly string[]): void {
  for (const text of notes) onProgress?.({ type: 'note', text });
}

async function openPakPath(session: Session, path: string, options: OpenOptions): Promise<OpenedSource> {
  const { openPak } = await import('../../paks/index.ts');
  const { pakSource } = await import('../../sources/paks/pak-source.ts');
  const { readPakOptions, withStoredKeys } = await import('./pak-options.ts');
  const { threads, workerUrl, store } = session.options;
  const given = await readPakOptions(options.pak ?? {}, path);
  // Only these packs have such keys: others are opened without looking for a store.
  const pakOptions = store !== undefined && (await isNadeoPak(path)) ? await withStoredKeys(store, given) : given;
  const from = threads === 0 ? undefined : { path, options: pakOptions, workerUrl };
  const pool = from !== undefined && options.readsAll === true && isLarge(path) ? await startPool(from) : undefined;
  try {
    const pak = await openPak(path, pakOptions);
    if (options.tellNotes !== false) tell(options.onProgress, pak.notes);
    const source = pakSource(pak, path, { from, pool });
    const close = async (): Promise<void> => {
      await source.close();
      await pool?.end();
    };
    return { source, close };
  } catch (error) {
    await pool?.end();
    throw await withNearSources(path, error);
  }
}

/** The error of a folder without a PAK, with the sources near it that may have been meant. */
async function withNearSources(path: string, error: unknown): Promise<unknown> {
  if (!isPakratError(error) || error.code !== 'E_FORMAT_MAGIC' || !isFolder(path)) return error;
  const { nearSources } = await import('../../installs/near-folders.ts');
  return withHint(error, nearSources(path) ?? error.hint);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function startPool(from: ThreadedPak): Promise<PakPool | undefined> {
  const { PakPool } = await import('../../sources/paks/pak-pool.ts');
  const { usefulThreads } = await import('../../threads/thread-pool.ts');
  const threads = usefulThreads();
  return threads > 1 ? new PakPool(from, threads) : undefined;
}

function isLarge(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size >= largeBytes;
}

async function isNadeoPak(path: string): Promise<boolean> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const { findPakFamily } = await import('../../paks/index.ts');
  const { fileSource } = await import('../../files/file-source.ts');
  const source = await fileSource(path);
  try {
    return (await findPakFamily(source))?.name === 'nadeo';
  } finally {
    await source.close();
  }
}

async function openProduct(session: Session, name: string, options: OpenOptions): Promise<OpenedSource> {
  const { buildSource } = await import('../../sources/build-source.ts');
  const { HeldSpans } = await import('../../fetch/held-spans.ts');
  const { onProgress, signal, locale = session.options.locale } = options;
  const identity = await session.resolve(name, { onProgress, signal, fresh: false });
  const { build, fetcher, close } = await session.openFetched(identity, { onProgress, signal });
  const closeTelling = async (): Promise<void> => {
    tellNames(build, options.onProgress);
    await close();
  };
  const spans = new HeldSpans(fetcher.store);
  const source = buildSource(build, { locale, hasEntry: (place) => spans.hasEntry(place) });
  return { source, fetcher, close: closeTelling };
}

/** The folder is only read: what is derived of it (decoded manifests, sorted names) goes to the session's folders. */
async function openFolderBuild(
  kind: 'casc' | 'cdn',
  session: Session,
  text: string,
  options: OpenOptions,
): Promise<OpenedSource> {
  const { openFolder } = await import('../../installs/open-folder.ts');
  const { openBuild } = await import('../../builds/build.ts');
  const { folderBuildSource } = await import('../../sources/folder-build-source.ts');
  const { path, choice } = splitChoice(text);
  const folder = openFolder(kind, path, choice);
  try {
    const folders = await session.folders();
    folder.prepare?.(folders);
    const { identity, objects, cdnConfig } = folder;
    const build = await openBuild({
      identity,
      objects,
      cdnConfig,
      folders,
      keys: await session.keyRing(),
      onStep: stepping(options.onProgress),
      onNote: noting(options.onProgress),
    });
    const source = folderBuildSource(build, folder, { locale: options.locale ?? session.options.locale });
    const close = async (): Promise<void> => {
      await source.close();
      // They come up while it is read.
      if (options.tellNotes !== false) tell(options.onProgress, folder.notes);
      tellNames(build, options.onProgress);
    };
    return { source, close };
  } catch (error) {
    folder.close();
    throw error;
  }
}

/**
 * A search for regular expressions, to be closed; undefined for none, so that a thread starts only where there are any.
 * @throws E_USAGE for what is no regular expression
 */
export async function startSearch(
  patterns: readonly string[],
  signal: AbortSignal | undefined,
): Promise<RegexSearch | undefined> {
  if (patterns.length === 0) return undefined;
  const { RegexSearch } = await import('../../sources/regex-search.ts');
  return new RegexSearch(patterns, { signal });
}
