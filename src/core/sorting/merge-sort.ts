import { firstNot } from './first-not.ts';

/**
 * Sorts numbers, equal ones in the order in which they are. What is sorted already, in whole or in long parts, as names that
 * are neighbours often are, takes little more than to look at it.
 * @param parts where parts begin that are sorted, and the end of the last, for who knows that
 * @returns the numbers in order; what the array held is lost
 */
export function mergeSort(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
  parts = [0, ...descentsIn(numbers, compare), numbers.length],
): Uint32Array {
  let bounds = parts;
  let [from, to] = [numbers, bounds.length > 2 ? new Uint32Array(numbers.length) : numbers];
  while (bounds.length > 2) {
    const next = [0];
    for (let i = 0; i + 1 < bounds.length; i += 2) {
      const [start, middle] = [bounds[i]!, bounds[i + 1]!];
      const end = bounds[i + 2] ?? middle;
      merge(from, to, { start, middle, end }, compare);
      next.push(end);
    }
    bounds = next;
    [from, to] = [to, from];
  }
  return from;
}

/** The numbers from 0 on, so many, in an order; equal ones as they are. As {@link mergeSort}. */
export function orderOf(count: number, compare: (a: number, b: number) => number): Uint32Array {
  return mergeSort(
    new Uint32Array(count).map((_, i) => i),
    compare,
  );
}

/** The places of numbers that are below the one before them: there sorted parts begin. */
export function* descentsIn(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
  { start, end } = { start: 0, end: numbers.length },
): Generator<number> {
  for (let i = start + 1; i < end; i++) if (compare(numbers[i - 1]!, numbers[i]!) > 0) yield i;
}

/** So many of one side in a row are taken to be the beginning of more, whose end is then searched for. */
const streak = 6;

function merge(
  from: Uint32Array,
  to: Uint32Array,
  { start, middle, end }: { start: number; middle: number; end: number },
  compare: (a: number, b: number) => number,
): void {
  let [left, right, at] = [start, middle, start];
  let [lefts, rights] = [0, 0];
  while (left < middle && right < end) {
    if (lefts >= streak) {
      const other = from[right]!;
      const stop = firstNot(left, middle, (place) => compare(from[place]!, other) <= 0);
      while (left < stop) to[at++] = from[left++]!;
      lefts = 0;
    } else if (rights >= streak) {
      const other = from[left]!;
      const stop = firstNot(right, end, (place) => compare(from[place]!, other) < 0);
      while (right < stop) to[at++] = from[right++]!;
      rights = 0;
    } else if (compare(from[left]!, from[right]!) <= 0) {
      to[at++] = from[left++]!;
      lefts += 1;
      rights = 0;
    } else {
      to[at++] = from[right++]!;
      rights += 1;
      lefts = 0;
    }
  }
  while (left < middle) to[at++] = from[left++]!;
  while (right < end) to[at++] = from[right++]!;
}
