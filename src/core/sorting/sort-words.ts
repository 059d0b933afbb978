import { sortNumbers } from './sort-numbers.ts';

/** Leading bits by which words are dealt, at most. */
const mostDealBits = 16;
/** Above this many words with the same leading bits, or the same word, sorting by insertion would crawl. */
const crowd = 64;

/**
 * Puts the places of words into the order of the words: by their leading bits, then those few that have these in common by insertion. For words that are
 * spread evenly, as those of hashes are, and so few that they fit the caches. Others take several times as long.
 * @param order becomes the places, as many as there are words
 * @param compare decides about equal words, by their places; what is equal for it stays as it is
 */
export function orderOfWords(words: Uint32Array, order: Uint32Array, compare: (a: number, b: number) => number): void {
  if (deal(words, order) > crowd) {
    order.set(sortNumbers(words.slice()));
    sortCrowds(words, order, compare);
  }
  sortByInsertion(words, order, compare);
}

/** Deals places by the leading bits of their words. @returns the most that have these in common */
function deal(words: Uint32Array, order: Uint32Array): number {
  const shift = 32 - Math.min(mostDealBits, Math.max(1, 32 - Math.clz32(words.length >>> 1)));
  const ends = new Uint32Array(2 ** (32 - shift));
  for (let i = 0; i < words.length; i++) ends[words[i]! >>> shift]! += 1;
  let most = 0;
  for (let i = 0, end = 0; i < ends.length; i++) {
    const count = ends[i]!;
    if (count > most) most = count;
    end += count;
    ends[i] = end;
  }
  // From the last to the first, so that equal words stay as they came.
  for (let i = words.length - 1; i >= 0; i--) {
    const bits = words[i]! >>> shift;
    const at = ends[bits]! - 1;
    order[at] = i;
    ends[bits] = at;
  }
  return most;
}

/** Sorts the places of a word that many have. */
function sortCrowds(words: Uint32Array, order: Uint32Array, compare: (a: number, b: number) => number): void {
  for (let start = 0, end = 0; start < order.length; start = end) {
    while (end < order.length && words[order[end]!] === words[order[start]!]) end += 1;
    if (end - start > crowd) order.subarray(start, end).sort((a, b) => compare(a, b) || a - b);
  }
}

function sortByInsertion(words: Uint32Array, order: Uint32Array, compare: (a: number, b: number) => number): void {
  for (let i = 1; i < order.length; i++) {
    const moving = order[i]!;
    const word = words[moving]!;
    let at = i;
    for (; at > 0; at--) {
      const before = order[at - 1]!;
      if (words[before]! < word || (words[before] === word && compare(before, moving) <= 0)) break;
      order[at] = before;
    }
    order[at] = moving;
  }
}
