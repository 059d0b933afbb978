import { throwIfAborted } from '../core/errors.ts';
import type { Listing, SourceEntry } from '../sources/source.ts';
import { type SourceOptions, startSearch, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

export type { Listing, SourceEntry } from '../sources/source.ts';

/** The files of a source that are listed. */
export interface ListOptions extends SourceOptions {
  /** Only names that match one of these globs; none for all. */
  globs?: readonly string[] | undefined;
  /** Only names in which one of these regular expressions is found. */
  regex?: readonly string[] | undefined;
}

/**
 * Lists files of a source. When there are none, a note says so, and what may help.
 * @param show takes the entries as they come: there may be millions
 * @throws E_USAGE for a pattern that cannot be used, else as opening the source does
 */
export async function listFiles(
  session: Session,
  name: string,
  options: ListOptions,
  show: (entries: Listing<SourceEntry>) => Promise<void>,
): Promise<void> {
  const { globs = [], regex = [] } = options;
  const matches = await matcherOf(globs);
  const search = await startSearch(regex, options.signal);
  await withSource(session, name, options, async ({ source }) => {
    let any = false;
    const isWanted = (await search?.filter(source, matches)) ?? matches;
    await show(
      source.list((entry) => {
        throwIfAborted(options.signal);
        const isListed = isWanted(entry);
        any ||= isListed;
        return isListed;
      }),
    );
    if (any) return;
    const { namesHint } = await import('../sources/names-hint.ts');
    const patterns = [...globs, ...regex];
    const what = patterns.length === 0 ? 'there are no files' : `no name matches ${patterns.join(' or ')}`;
    const hint = namesHint(source);
    options.onProgress?.({ type: 'note', text: hint === undefined ? what : `${what}. ${hint}` });
  }).finally(() => search?.close());
}

/** The code that matches globs is loaded only where there are any. */
async function matcherOf(globs: readonly string[]): Promise<(name: string) => boolean> {
  if (globs.length === 0) return () => true;
  const { nameMatcher } = await import('../core/glob.ts');
  return nameMatcher(globs);
}
