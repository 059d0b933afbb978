import { codeOf } from '../core/errors.ts';
import { nameMatcher, neededTexts, withFolders } from '../core/glob.ts';
import type { OnProgress } from '../core/progress.ts';
import { isBuildSource } from '../sources/build-source.ts';
import { type DiffFailure, type DiffItem, diffSources } from '../sources/diff/diff.ts';
import { type DiffSummary, summarize } from '../sources/diff/diff-summary.ts';
import { type DiffedFiles, diffedFiles } from '../sources/diff/diffed-files.ts';
import type { FetchNeed } from '../sync/diff-need.ts';
import { type OpenedSource, openAny, type SourceOptions } from './session/open-source.ts';
import type { Session } from './session/session.ts';

export type { DiffFailure, DiffItem } from '../sources/diff/diff.ts';
export { type DiffSummary, itemName, sizesOf } from '../sources/diff/diff-summary.ts';
export { nameOf } from '../sources/diff/diff-table.ts';
export type { ChangedFile, DiffedContent, DiffedFile } from '../sources/diff/diffed-files.ts';

/** The files of two sources that are compared. */
export interface DiffOptions extends SourceOptions {
  /** Only names that match one, or lie below a folder of that name; none for all. */
  globs?: readonly string[] | undefined;
}

/** The files that differ, in a list for each way to differ, those that could not be compared, and the sums of it. */
export interface DiffReport extends DiffedFiles {
  failed: DiffFailure[];
  summary: DiffSummary;
  /** All that differ, by name, one at a time. */
  items(): Iterable<DiffItem>;
}

/**
 * Compares the files of two sources; a folder of plain files may be one, with `folder:` in front where it looks like something else. Of two
 * builds, says what a sync of the second would fetch.
 * @throws as opening the sources does, E_ABORTED
 */
export async function diff(
  session: Session,
  before: string,
  after: string,
  options: DiffOptions = {},
): Promise<DiffReport> {
  const { signal, onProgress } = options;
  const globs = withFolders(options.globs ?? []);
  const first = await openAny(session, before, options);
  try {
    const second = await openAny(session, after, options);
    try {
      // What is listed of a build goes where it has what is derived of it; that of anything else needs no store.
      const { temporary } = isBuildSource(first.source) ? await session.folders() : session.scratch();
      const difference = await diffSources(first.source, second.source, {
        temporary,
        ...(globs.length > 0 && { matches: nameMatcher(globs), needed: neededTexts(globs) }),
        signal,
        onProgress: (phase, done, total) => onProgress?.({ type: 'bytes', phase, done, total }),
      });
      if (difference.repeated > 0) {
        const text = `${difference.repeated} files have the name of one before them and are left out`;
        onProgress?.({ type: 'note', text });
      }
      const summary = summarize(difference, await needOf(first, second, globs, onProgress));
      return { ...diffedFiles(difference), failed: difference.failed, summary, items: () => difference.items() };
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

/** The amounts that a sync would fetch; undefined where not both are builds, or a manifest of one is not held. */
async function needOf(
  before: OpenedSource,
  after: OpenedSource,
  globs: readonly string[],
  onProgress: OnProgress | undefined,
): Promise<FetchNeed | undefined> {
  const { fetchNeed } = await import('../sync/diff-need.ts');
  const { fetcher, source } = after;
  if (fetcher === undefined || !isBuildSource(source) || !isBuildSource(before.source)) return undefined;
  onProgress?.({ type: 'step', step: 'plan', bytes: 0 });
  try {
    return await fetchNeed(before.source.build, { build: source.build, fetcher }, globs);
  } catch (error) {
    const nothing = { entries: 0, bytes: 0 };
    // A sync refuses globs that choose nothing; here there is just nothing to fetch.
    if (codeOf(error) === 'E_NOT_FOUND' && globs.length > 0) return { fetch: nothing, missing: nothing };
    if (codeOf(error) !== 'E_OFFLINE') throw error;
    onProgress?.({ type: 'note', text: 'what a sync would fetch is not known, for a manifest of a build is not held' });
    return undefined;
  }
}
