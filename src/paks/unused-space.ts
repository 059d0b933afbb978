/** The space of a file that nothing in it uses. */
export interface UnusedSpace extends Record<string, number> {
  unusedBytes: number;
  /** Gaps that these bytes are in: between entries, in front of them and behind. */
  fragments: number;
}

/**
 * Finds what none of some parts of a file covers; they may overlap.
 * @param parts start and end of each, in any order
 * @param size of the file
 */
export function unusedSpace(parts: Iterable<readonly [start: number, end: number]>, size: number): UnusedSpace {
  const [first, last]: [number[], number[]] = [[], []];
  for (const [start, end] of parts) {
    if (start >= end || start >= size) continue;
    first.push(start);
    last.push(Math.min(end, size));
  }
  // Starts and ends by themselves are enough to know where nothing is open, and there are up to millions.
  const starts = Float64Array.from(first).sort();
  const ends = Float64Array.from(last).sort();
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
