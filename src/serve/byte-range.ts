/** Bytes [start, end) of an object. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The range that a `Range` header asks of an object. One that goes past the end gets what there is: readers exist that ask one byte too many.
 * @returns undefined when all of the object is to be sent: no header, or a unit other than bytes;
 *   `unsatisfiable` for a range that is malformed or starts behind the end, and for several ranges, which no reader of ours or others asks for
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, ranges] = /^\s*bytes\s*=(.*)$/i.exec(header ?? '') ?? [];
  if (ranges === undefined) return undefined;
  const [, first, last] = /^\s*(\d{0,15})-(\d{0,15})\s*$/.exec(ranges) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'unsatisfiable';
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end } : 'unsatisfiable';
}
