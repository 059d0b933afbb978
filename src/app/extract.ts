import { PakratError } from '../core/errors.ts';
import { throttled, type WorkOptions } from '../core/progress.ts';
import type { ExtractResult, ExtractOptions as ExtractWork } from '../sources/extract/extract.ts';
import type { ListEntry } from '../sources/extract/extract-list.ts';
import type { RegexSearch } from '../sources/regex-search.ts';
import type { Source } from '../sources/source.ts';
import { withSource } from './session/open-source.ts';
import type { PakOpenOptions } from './session/pak-options.ts';
import type { Session } from './session/session.ts';
import { startSearch } from './session/start-search.ts';

export type { ExtractResult } from '../sources/extract/extract.ts';

/** What to extract of a source, and where to. */
export interface ExtractOptions extends WorkOptions {
  /** Folder to write into; made when it is not there. Not needed with `tar`. */
  to?: string | undefined;
  /** Names or globs; none for everything. */
  names?: readonly string[] | undefined;
  /** A file with a list of what to extract, or the bytes of one. */
  list?: string | AsyncIterable<Uint8Array> | undefined;
  /** Only names that match one of these globs. */
  include?: readonly string[] | undefined;
  /** No names that match one of these globs. */
  exclude?: readonly string[] | undefined;
  /** Only names in which one of these regular expressions is found. */
  regex?: readonly string[] | undefined;
  /** Folders that are taken off the front of names. */
  strip?: number | undefined;
  /** Write all files into one folder. */
  flat?: boolean | undefined;
  /** The bytes as they are stored. */
  raw?: boolean | undefined;
  /** Threads for a PAK. Default: one for each core, where that pays. */
  jobs?: number | undefined;
  /** Whose variants of files a build gives. */
  locale?: string | undefined;
  /** How a PAK is read. */
  pak?: PakOpenOptions | undefined;
  /** Takes the files as a tar, piece by piece, instead of files in a folder. */
  tar?: ((piece: Uint8Array) => Promise<void> | void) | undefined;
}

/**
 * Writes files of a source below a folder, or into a tar. A file that cannot be had is reported, and the others are written; nothing is
 * ever written outside of the folder.
 * @throws E_NOT_FOUND when a name or glob chooses nothing, E_USAGE, E_STORE_FULL, E_ABORTED
 */
export async function extract(session: Session, name: string, options: ExtractOptions): Promise<ExtractResult> {
  const { to = '', tar, regex = [], signal } = options;
  if (to === '' && tar === undefined) {
    throw new PakratError('E_USAGE', '--to names no folder', { hint: 'Write . for this one.' });
  }
  const search = await startSearch(regex, signal);
  try {
    return await extractFound(session, name, { ...options, search });
  } finally {
    await search?.close();
  }
}

/** Options with the search that the regular expressions became. */
interface FoundOptions extends ExtractOptions {
  search: RegexSearch | undefined;
}

async function extractFound(session: Session, name: string, options: FoundOptions): Promise<ExtractResult> {
  const { withNamesHint } = await import('../sources/names-hint.ts');
  const { names = [], list, tar, jobs, signal, pak, locale } = options;
  const onProgress = throttled(options.onProgress);
  const work = await extractWork({ ...options, onProgress });
  const readsAll = tar === undefined && names.length === 0 && list === undefined && jobs === undefined;
  return withSource(session, name, { signal, onProgress, pak, locale, readsAll }, async ({ source }) => {
    try {
      return await (tar === undefined ? extractInto(source, work) : extractTar(source, work, tar));
    } catch (error) {
      throw await withNamesHint(error, source);
    }
  });
}

async function extractWork(options: FoundOptions): Promise<ExtractWork> {
  const { countedFiles } = await import('../sources/counted-files.ts');
  const { to = '', names = [], list, jobs, signal, onProgress } = options;
  const { include, exclude, search, strip, flat, raw } = options;
  return {
    to,
    names,
    include,
    exclude,
    regex: search,
    strip,
    flat,
    raw,
    threads: jobs,
    list: list === undefined ? undefined : await readList(list),
    signal,
    onNote: (text) => onProgress?.({ type: 'note', text }),
    ...countedFiles('extract', onProgress),
  };
}

async function readList(list: string | AsyncIterable<Uint8Array>): Promise<ListEntry[]> {
  const { readExtractList } = await import('../sources/extract/extract-list.ts');
  return readExtractList(list);
}

async function extractInto(source: Source, work: ExtractWork): Promise<ExtractResult> {
  const { extractFiles } = await import('../sources/extract/extract.ts');
  return extractFiles(source, work);
}

async function extractTar(
  source: Source,
  work: ExtractWork,
  tar: (piece: Uint8Array) => Promise<void> | void,
): Promise<ExtractResult> {
  const { tarFiles } = await import('../sources/extract/extract-tar.ts');
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  for await (const piece of tarFiles(source, work, result)) await tar(piece);
  return result;
}
