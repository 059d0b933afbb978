/**
 * The known words that a misspelt one may stand for, the nearest first: it is another way of writing them, begins one of them, or has no more than
 * a third of its letters wrong. Two letters that changed places are one mistake.
 * @param most words that are given at most
 */
export function nearest(word: string, known: Iterable<string>, most = 3): string[] {
  const wanted = comparable(word);
  const ranked: [distance: number, word: string][] = [];
  for (const one of new Set(known)) {
    const other = comparable(one);
    const distance = wanted.length > 1 && other.startsWith(wanted) ? 0.5 : mistakes(wanted, other);
    if (distance <= Math.max(1, Math.floor(Math.max(wanted.length, other.length) / 3))) ranked.push([distance, one]);
  }
  return ranked
    .sort(([a], [b]) => a - b)
    .slice(0, most)
    .map(([, one]) => one);
}

/** The question that ends an error about a misspelt word; undefined without words. */
export function didYouMean(words: readonly string[]): string | undefined {
  return words.length === 0 ? undefined : `Did you mean ${words.join(' or ')}?`;
}

/** Words are compared by their first letters: hostile ones may have a million. */
const longest = 64;

function comparable(word: string): string {
  return word.slice(0, longest).toLowerCase();
}

/** Letters to add, take away, change or swap with their neighbour (optimal string alignment). */
function mistakes(a: string, b: string): number {
  let [before, above] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let cost = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + Number(!isSame));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    [before, above] = [above, row];
  }
  return above[b.length]!;
}
