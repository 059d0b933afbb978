/** The space of a file that nothing in it uses. */
export interface UnusedSpace extends Record<string, number> {
  unusedBytes: number;
  /** Gaps that these bytes are in: between entries, in front of them and behind. */
  fragments: number;
}

/** Room for stretches to begin with; it grows. */
const fewStretches = 1024;

/**
 * Finds what none of some parts of a file covers; they may overlap.
 * @param parts start and end of each, in any order
 * @param size of the file
 */
export function unusedSpace(parts: Iterable<readonly [start: number, end: number]>, size: number): UnusedSpace {
  // Starts and ends by themselves are enough to know where nothing is open, and there are up to millions.
  const { starts, ends } = sortedEnds(parts, size);
  const space = { unusedBytes: 0, fragments: 0 };
  let covered = 0;
  let closed = 0;
  const gapUntil = (start: number): void => {
    if (start <= covered) return;
    space.unusedBytes += start - covered;
    space.fragments += 1;
  };
  for (const [opened, start] of starts.entries()) {
    for (let end = ends[closed]; end !== undefined && end < start; end = ends[++closed])
      covered = Math.max(covered, end);
    if (closed === opened) gapUntil(start);
  }
  covered = Math.max(covered, ends.at(-1) ?? 0);
  gapUntil(size);
  return space;
}

/** Starts and ends of the stretches that some parts cover, each in order. Parts that are told one behind the other are one stretch. */
function sortedEnds(parts: Iterable<readonly [number, number]>, size: number): Record<'starts' | 'ends', Float64Array> {
  let starts: Float64Array = new Float64Array(fewStretches);
  let ends: Float64Array = new Float64Array(fewStretches);
  let count = 0;
  for (const [start, end] of parts) {
    if (start >= end || start >= size) continue;
    const last = count - 1;
    if (count > 0 && start >= starts[last]! && start <= ends[last]!) {
      ends[last] = Math.max(ends[last]!, Math.min(end, size));
      continue;
    }
    if (count === starts.length) [starts, ends] = [grown(starts), grown(ends)];
    starts[count] = start;
    ends[count++] = Math.min(end, size);
  }
  return { starts: starts.subarray(0, count).sort(), ends: ends.subarray(0, count).sort() };
}

function grown(numbers: Float64Array): Float64Array {
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
