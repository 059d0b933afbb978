/** True when --json is among the words of a command line; behind `--` there are no flags. */
export function isJsonAsked(words: readonly string[]): boolean {
  return wordsBeforeDashes(words).includes('--json');
}

/** Words that may be flags: behind `--` none is. */
export function wordsBeforeDashes(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return end === -1 ? words : words.slice(0, end);
}
