import { isNotFound, PakratError, throwIfAborted, valueUnless } from '../core/errors.ts';
import { hasGlob, type NeededText, nameMatcher, neededInLine } from '../core/glob.ts';
import { folderOf, isFolderName } from './folders.ts';
import type { RegexSearch } from './regex-search.ts';
import type { Source, SourceEntry } from './source.ts';

/** Which files of a source are meant. */
export interface FileChoice {
  /** Names, folders or globs; empty for everything. */
  names: readonly string[];
  /** Globs of which a name must match one, when there are any. */
  include?: readonly string[] | undefined;
  /** Globs of which a name must match none. */
  exclude?: readonly string[] | undefined;
  /** Regular expressions of which one must be found in a name. */
  regex?: RegexSearch | undefined;
  /** Told what a reader should know of a file that was named, such as that it was found only by ignoring case. */
  onNote?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The entries that names, folders and globs choose, those left out that the source does not give for their names. An argument that is a
 * file's exact name is that file, even if it looks like a glob; a folder is all that is below it.
 * @throws E_NOT_FOUND when an argument chooses nothing, or no name has any of the regular expressions, E_ABORTED
 */
export async function* selectFiles<Entry extends SourceEntry>(
  source: Source<Entry>,
  choice: FileChoice,
): AsyncGenerator<Entry> {
  for await (const batch of selectBatches(source, choice)) for (const entry of batch) yield entry;
}

/** As {@link selectFiles}, as many at a time as the source lists at once. */
export async function* selectBatches<Entry extends SourceEntry>(
  source: Source<Entry>,
  choice: FileChoice,
): AsyncGenerator<readonly Entry[]> {
  const { regex } = choice;
  const isWanted = nameTest(choice);
  const globs: string[] = [];
  let any = false;
  for (const name of choice.names) {
    const entry = await findEntry(source, name);
    if (entry === undefined) globs.push(name);
    else if (isWanted(entry.name) && (await regex?.finds(entry.name)) !== false) {
      any = true;
      if (entry.note !== undefined) choice.onNote?.(`${name}: ${entry.note}`);
      yield [entry];
    }
  }
  const chosen = globChoice(globs);
  if (choice.names.length === 0 || globs.length > 0) {
    const matches = (name: string): boolean => {
      throwIfAborted(choice.signal);
      return chosen.matches(name) && isWanted(name);
    };
    const filtered = await regex?.filter(source, matches);
    for await (const batch of batchesOf(source, filtered ?? matches, filtered ? undefined : neededBy(globs))) {
      const shown = batch.filter(({ hidden }) => hidden === undefined);
      any ||= shown.length > 0;
      yield shown;
    }
  }
  const unmatched = chosen.unmatched() ?? (any ? undefined : regex?.text);
  if (unmatched !== undefined) {
    if (!hasGlob(unmatched) && unmatched !== regex?.text) await source.get(unmatched);
    throw new PakratError('E_NOT_FOUND', `no file of ${source.label} matches ${unmatched}`, {
      data: { glob: unmatched },
    });
  }
}

/** Where a source lists one file after the other, each comes by itself. */
async function* batchesOf<Entry extends SourceEntry>(
  source: Source<Entry>,
  matches: (name: string) => boolean,
  needed: readonly NeededText[] | undefined,
): AsyncGenerator<readonly Entry[]> {
  if (source.listBatches !== undefined) yield* source.listBatches(matches, { needed });
  else for await (const entry of source.list(matches, { needed })) yield [entry];
}

/** One entry by its name; undefined for what is no name of a file. */
async function findEntry<Entry extends SourceEntry>(source: Source<Entry>, name: string): Promise<Entry | undefined> {
  return isFolderName(name) ? undefined : valueUnless(isNotFound, source.get(name));
}

/** The test of a glob, or of a folder. */
function choiceTest(text: string): (name: string) => boolean {
  if (hasGlob(text)) return nameMatcher([text]);
  const { start } = folderOf(text);
  return (name) => start(name) >= 0;
}

/** The texts of which every name has one that globs and folders choose; undefined where that is not known of each. */
export function neededBy(globs: readonly string[]): NeededText[] | undefined {
  const needed = globs.map((glob) => (hasGlob(glob) ? neededInLine(glob) : folderOf(glob).needed));
  return needed.length > 0 && needed.every((one) => one !== undefined) ? needed : undefined;
}

/** What several globs and folders choose together; none chooses everything. Remembers which of them chose something. */
function globChoice(globs: readonly string[]): {
  matches: (name: string) => boolean;
  unmatched: () => string | undefined;
} {
  const matchers = globs.map((glob) => ({ glob, matches: choiceTest(glob), found: false }));
  return {
    matches(name) {
      let any = matchers.length === 0;
      for (const matcher of matchers) {
        if (!matcher.matches(name)) continue;
        matcher.found = true;
        any = true;
      }
      return any;
    },
    unmatched: () => matchers.find((matcher) => !matcher.found)?.glob,
  };
}

/** A test of names against the globs of `include` and `exclude`. @throws E_USAGE for a glob that cannot be used */
export function nameTest({
  include = [],
  exclude = [],
}: Pick<FileChoice, 'include' | 'exclude'>): (name: string) => boolean {
  const isIncluded = include.length === 0 ? () => true : nameMatcher(include);
  const isExcluded = exclude.length === 0 ? () => false : nameMatcher(exclude);
  return (name) => isIncluded(name) && !isExcluded(name);
}
