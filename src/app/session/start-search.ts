import type { RegexSearch } from '../../sources/regex-search.ts';

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
