import type { PlannedRange } from './plan.ts';

/**
 * The ranges of a plan in the order in which they are fetched: by priority as planned, the loose objects of each spread evenly among its ranges of archives. A small
 * object costs the time until its host answers. Among ranges others send meanwhile; at the end, one after the other, nobody would.
 * @param ranges as a plan has them: within a priority those of archives come first
 */
export function* fetchOrder(ranges: readonly PlannedRange[]): Generator<PlannedRange> {
  for (let first = 0; first < ranges.length; ) {
    const { priority } = ranges[first]!;
    const loose = indexFrom(ranges, first, (range) => range.archive === undefined || range.priority !== priority);
    const end = indexFrom(ranges, loose, (range) => range.priority !== priority);
    yield* spread(ranges, { first, loose, end });
    first = end;
  }
}

function indexFrom(ranges: readonly PlannedRange[], from: number, is: (range: PlannedRange) => boolean): number {
  let index = from;
  while (index < ranges.length && !is(ranges[index]!)) index++;
  return index;
}

/** Ranges of archives, from `first` on, and of loose objects, from `loose` to `end`: of these each time as many as keep their share. */
function* spread(
  ranges: readonly PlannedRange[],
  { first, loose, end }: { first: number; loose: number; end: number },
): Generator<PlannedRange> {
  let next = loose;
  for (let i = first; i < loose; i++) {
    yield ranges[i]!;
    const due = loose + Math.floor(((end - loose) * (i + 1 - first)) / (loose - first));
    for (; next < due; next++) yield ranges[next]!;
  }
  for (; next < end; next++) yield ranges[next]!;
}
