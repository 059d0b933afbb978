import { PakratError } from '../core/errors.ts';
import { noting } from '../core/progress.ts';
import type { Network } from '../fetch/network.ts';
import { countedFiles } from '../sources/counted-files.ts';
import { type ExtractResult, type ExtractOptions as ExtractWork, extractFiles } from '../sources/extract/extract.ts';
import { readExtractList } from '../sources/extract/extract-list.ts';
import { tarFiles } from '../sources/extract/extract-tar.ts';
import { withNamesHint } from '../sources/names-hint.ts';
import type { Source } from '../sources/source.ts';
import { type SourceOptions, startSearch, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

export type { ExtractResult } from '../sources/extract/extract.ts';

/** The files of a source that are extracted, the folder they go to, and their names there. */
export interface ExtractOptions
  extends SourceOptions,
    Pick<ExtractWork, 'include' | 'exclude' | 'strip' | 'flat' | 'raw'> {
  /** Folder to write into; made when it is not there. Not needed with `tar`. */
  to?: string | undefined;
  /** Names or globs; none for everything. */
  names?: readonly string[] | undefined;
  /** A file with a list of what to extract, or the bytes of one. */
  list?: string | AsyncIterable<Uint8Array> | undefined;
  /** Only names in which one of these regular expressions is found. */
  regex?: readonly string[] | undefined;
  /** Threads. Default: one for each core, where that pays. */
  jobs?: number | undefined;
  /** Count the files before, so that progress has a total: they are listed a second time. Default: where there is `onProgress`. */
  counts?: boolean | undefined;
  /** Takes the files as a tar, piece by piece, instead of files in a folder. */
  tar?: ((piece: Uint8Array) => Promise<void> | void) | undefined;
}

/**
 * Writes files of a source below a folder, or into a tar. A file that cannot be had is reported, and the others are written; nothing is
 * ever written outside of the folder.
 * @throws E_NOT_FOUND when a name or glob chooses nothing, E_USAGE, E_STORE_FULL, E_ABORTED
 */
export async function extract(session: Session, name: string, options: ExtractOptions): Promise<ExtractResult> {
  const {
    tar,
    list,
    regex = [],
    jobs,
    onProgress,
    counts = true,
    pak,
    locale,
    to = '',
    names = [],
    ...choice
  } = options;
  const { signal } = choice;
  if (to === '' && tar === undefined) {
    throw new PakratError('E_USAGE', '--to names no folder', { hint: 'Write . for this one.' });
  }
  const search = await startSearch(regex, signal);
  const { onFetched, ...counted } = countedFiles('extract', onProgress);
  const work: ExtractWork = {
    ...choice,
    to,
    names,
    regex: search,
    threads: session.options.threads === 0 ? 0 : jobs,
    workerUrl: session.options.workerUrl,
    list: list === undefined ? undefined : await readExtractList(list),
    onNote: noting(onProgress),
    ...(onProgress && counts && counted),
  };
  const readsAll = tar === undefined && names.length === 0 && list === undefined && jobs === undefined;
  return withSource(
    session,
    name,
    { signal, onProgress, pak, locale, readsAll },
    async ({ source: opened, fetcher }) => {
      const { network } = fetcher ?? {};
      const source = network === undefined ? opened : tellingFetched(opened, network, onFetched);
      try {
        return await (tar === undefined ? extractFiles(source, work) : extractTar(source, work, tar));
      } catch (error) {
        throw await withNamesHint(error, source);
      }
    },
  ).finally(() => search?.close());
}

/** The source; it tells of what is fetched meanwhile, for a batch of files may take minutes on a slow line. */
function tellingFetched(source: Source, network: Network, onFetched: (bytes: number, ofBytes: number) => void): Source {
  return {
    ...source,
    prepare: (entries) => network.telling(onFetched, () => source.prepare(entries)),
  };
}

async function extractTar(
  source: Source,
  work: ExtractWork,
  tar: (piece: Uint8Array) => Promise<void> | void,
): Promise<ExtractResult> {
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  for await (const piece of tarFiles(source, work, result)) await tar(piece);
  return result;
}
