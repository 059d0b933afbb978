import { isListedFolder, type ListedRow, look, nothingFound } from '../sources/look.ts';
import { withNamesHint } from '../sources/names-hint.ts';
import type { Listing, Source } from '../sources/source.ts';
import { type SourceOptions, startSearch, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

export { isListedFolder, type ListedRow } from '../sources/look.ts';
export type { Listing, SourceEntry } from '../sources/source.ts';

/** The files of a source that are listed. */
export interface ListOptions extends SourceOptions {
  /** Names, folders and globs; none for the whole source. */
  names?: readonly string[] | undefined;
  /** Go into folders, all the way down. */
  recursive?: boolean | undefined;
  /** Only names in which one of these regular expressions is found, in folders at any depth. */
  regex?: readonly string[] | undefined;
  /** Say of each file whether it is held, where the source is a build of the store: each is looked up. */
  held?: boolean | undefined;
  /** Tell of each row its name alone, which spares look-ups. */
  namesOnly?: boolean | undefined;
  /** Called before the first row is given. */
  onBegin?: (() => void) | undefined;
}

/** A row of a listing with what is known of it. */
export type ListingRow = ListedRow & {
  /** Whether all of its content is in the store; undefined where that was not asked for, or goes without saying. */
  held?: boolean | undefined;
};

/**
 * Lists files and folders of a source, sorted by name.
 * @param show takes the rows as they come: there may be millions
 * @returns the names, folders and globs of which there is nothing, where there is something of others
 * @throws E_NOT_FOUND when there is nothing of any, E_USAGE for a pattern that cannot be used, else as opening the source does
 */
export async function listFiles(
  session: Session,
  name: string,
  options: ListOptions,
  show: (rows: Listing<ListingRow>) => Promise<void>,
): Promise<string[]> {
  const { names = [], regex = [], recursive = false, namesOnly, signal } = options;
  const search = await startSearch(regex, signal);
  return withSource(session, name, options, async ({ source }) => {
    const missing: string[] = [];
    const onMissing = (text: string): number => missing.push(text);
    const rows = look(source, { names, recursive, regex: search, namesOnly, signal, onMissing });
    let any = false;
    async function* counted(): AsyncGenerator<ListingRow> {
      for await (const batch of rows) {
        if (!any) options.onBegin?.();
        any = true;
        // One by one: an array that is delegated to is waited for twice as often.
        for (const row of batch) yield options.held === true ? withHeld(row, source) : row;
      }
      if (any || missing.length + regex.length === 0) return;
      // Before anything is written: a script must not take an empty list for an answer.
      throw await withNamesHint(nothingFound(source, names, regex), source);
    }
    await show(counted());
    if (!any) options.onProgress?.({ type: 'note', text: 'there are no files' });
    return missing;
  }).finally(() => search?.close());
}

function withHeld(row: ListedRow, source: Source): ListingRow {
  return isListedFolder(row) ? row : Object.assign(row, { held: source.isHeld?.(row) });
}
