import { breathe } from '../../../core/breathe.ts';
import { PakratError } from '../../../core/errors.ts';
import { fold, hasGlob, nameMatcher } from '../../../core/glob.ts';
import type { NamesPage, PageChoice } from '../../../sources/names/folder-page.ts';
import { lineEnd, lineOf, type NameIndex, type NameLine, windowSize } from '../../../sources/names/name-index.ts';

/*
 * A search looks for bytes in the file of names: only the lines that have the longest plain part of what is sought are looked at one by one.
 * Patterns come from strangers: they are short, a name costs at most its length times that of the pattern (core/glob.ts), very long names match
 * no glob, and a search that takes long is given in parts.
 */
const [maxQuery, maxWords, maxGroups, maxChoices] = [200, 10, 2, 16];
const maxGlobbedName = 4096;
/** Milliseconds that a part of a search may take, and lines between looks at the clock. */
const [partMs, linesAtOnce] = [700, 512];

/** The words of a search: a name has to have all of them. */
export interface NameQuery {
  /** Folded, as UTF-8; of those that are no globs, and plain parts of globs. The longest first. */
  parts: readonly Buffer[];
  /** Of the globs; absent where there is none. */
  matches: ((name: string) => boolean) | undefined;
}

/** Names that were found, and how far the search went. */
export interface FoundNames extends NamesPage<NameLine> {
  /** True when it ended because it took long. */
  isCut: boolean;
}

/**
 * Takes a search apart: words with blanks between them, globs or plain; a word in quotes may have blanks in it.
 * @throws E_USAGE for one that is too long or has a glob that cannot be used
 */
export function parseQuery(text: string): NameQuery {
  if (text.length > maxQuery) throw new PakratError('E_USAGE', `a search has at most ${maxQuery} characters`);
  const words = Array.from(text.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => ({
    word: quoted ?? plain ?? '',
    isGlob: quoted === undefined && hasGlob(plain ?? ''),
  })).filter(({ word }) => word !== '');
  if (words.length > maxWords) throw new PakratError('E_USAGE', `a search has at most ${maxWords} words`);
  const globs = words.filter(({ isGlob }) => isGlob).map(({ word }) => word);
  for (const glob of globs) demandSimple(glob);
  const tests = globs.map((glob) => nameMatcher([glob]));
  const plain = words.filter(({ isGlob }) => !isGlob).map(({ word }) => fold(word));
  const parts = [...plain, ...globs.flatMap(plainParts)].map((part) => Buffer.from(part));
  return {
    parts: parts.sort((a, b) => b.length - a.length),
    matches:
      tests.length === 0
        ? undefined
        : (name) => name.length <= maxGlobbedName && tests.every((matches) => matches(name)),
  };
}

function demandSimple(glob: string): void {
  const groups = glob.split(/\{|[@?]\(/).length - 1;
  const choices = glob.split(/[,|]/).length - 1;
  if (groups <= maxGroups && choices <= maxChoices && !glob.includes('..')) return;
  throw new PakratError('E_USAGE', `the glob ${glob} is too large for a search here`, {
    hint: `It can have ${maxGroups} groups like {a,b}, and ${maxChoices} choices.`,
  });
}

/** What every name that a glob matches has in it, folded; nothing of globs with groups in groups and the like. */
function plainParts(glob: string): string[] {
  const flat = fold(glob).replace(/\{[^{}]*\}|\[[!^]?[^\]]+\]/g, '*');
  if (/[[\]{}()!]/.test(flat)) return [];
  return flat
    .replace(/^(?:\.\/)+/, '')
    .split(/[*?]+/)
    .map((part) => part.replace(/^\/+|\/+$/g, ''))
    .filter((part) => part !== '' && /^[ -~]*$/.test(part));
}

/** The names below a folder that a query finds, from a place on. @throws E_ABORTED */
export async function searchNames(
  index: NameIndex,
  query: NameQuery,
  { folder, from, limit, signal }: PageChoice & { signal?: AbortSignal | undefined },
): Promise<FoundNames> {
  const first = folder === '' ? 0 : index.lowerBound(Buffer.from(folder));
  const end = folder === '' ? index.size : index.lowerBound(Buffer.from(`${folder.slice(0, -1)}0`));
  const rows: NameLine[] = [];
  const until = performance.now() + partMs;
  let memory = Buffer.allocUnsafe(windowSize);
  let at = Math.max(first, index.lineStart(from));
  while (at < end) {
    const lines = await index.window(at, end, memory);
    if (lines.length === 0) break;
    if (lines.length > memory.length) memory = Buffer.allocUnsafe(windowSize);
    let seen = 0;
    for (const { start, next } of candidates(lines, query)) {
      seen += 1;
      const isFull = rows.length === limit;
      if (isFull || (seen % linesAtOnce === 0 && performance.now() > until))
        return { rows, next: at + start, isCut: !isFull };
      const line = lineOf(lines.subarray(start, next - 1), at + start);
      if (query.matches?.(line.name) !== false) rows.push(line);
    }
    at += lines.length;
    await breathe(signal);
    if (performance.now() > until && at < end) return { rows, next: at, isCut: true };
  }
  return { rows, next: undefined, isCut: false };
}

/** The lines that have all parts in them. */
function* candidates(lines: Buffer, { parts }: NameQuery): Generator<{ start: number; next: number }> {
  const [needle, ...others] = parts;
  for (let at = 0; at < lines.length; ) {
    const found = needle === undefined ? at : lines.indexOf(needle, at);
    if (found < 0) return;
    const start = found === at ? at : lines.lastIndexOf(lineEnd, found) + 1;
    const next = lines.indexOf(lineEnd, found) + 1;
    const line = lines.subarray(start, next);
    if (others.every((part) => line.includes(part))) yield { start, next };
    at = next;
  }
}
