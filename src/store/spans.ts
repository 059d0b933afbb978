/** A byte interval [start, end) of an object. */
export interface Span {
  start: number;
  end: number;
}

/** Spans in order, with those that touch or overlap made one. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of inOrder(spans)) {
    if (span.end <= span.start) continue;
    const last = merged[merged.length - 1];
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ start: span.start, end: span.end });
  }
  return merged;
}

/** Starts and places of spans that fit into one number. */
const mostStart = 2 ** 33;
const mostSpans = 2 ** 20;

/**
 * By their starts, which they mostly are already. Else they are sorted as numbers, each of a start and the place of its span, which runtimes sort without calling
 * back.
 */
function inOrder(spans: readonly Span[]): readonly Span[] {
  if (spans.every(({ start }, i) => i === 0 || spans[i - 1]!.start <= start)) return spans;
  const order = new Float64Array(spans.length);
  let fits = spans.length <= mostSpans;
  for (let i = 0; i < order.length; i++) {
    const { start } = spans[i]!;
    fits &&= start < mostStart;
    order[i] = start * mostSpans + i;
  }
  if (!fits) return [...spans].sort((a, b) => a.start - b.start);
  return Array.from(order.sort(), (number) => spans[number % mostSpans]!);
}

/** All that two lists of merged, sorted spans cover, as one such list: the first itself where it covers the other. */
export function uniteSpans(spans: readonly Span[], others: readonly Span[]): readonly Span[] {
  if (coversAll(spans, others)) return spans;
  const united: Span[] = [];
  for (let i = 0, j = 0; i < spans.length || j < others.length; ) {
    const isFirst = j === others.length || (i < spans.length && spans[i]!.start <= others[j]!.start);
    const { start, end } = isFirst ? spans[i++]! : others[j++]!;
    const last = united.at(-1);
    if (last === undefined || start > last.end) united.push({ start, end });
    else if (end > last.end) last.end = end;
  }
  return united;
}

/** True when each of the second list's merged, sorted spans lies in one of the first. */
export function coversAll(spans: readonly Span[], others: readonly Span[]): boolean {
  let at = 0;
  for (const { start, end } of others) {
    while (at < spans.length && spans[at]!.end < end) at += 1;
    if (at === spans.length || spans[at]!.start > start) return false;
  }
  return true;
}

/** True when [start, end) lies in one of the merged, sorted spans. */
export function covers(spans: readonly Span[], start: number, end: number): boolean {
  if (end <= start) return true;
  const span = spans[spanBefore(spans, start)];
  return span !== undefined && span.end >= end;
}

/** True when a byte of [start, end) lies in one of the merged, sorted spans. */
export function touches(spans: readonly Span[], start: number, end: number): boolean {
  const before = spanBefore(spans, start);
  return heldUntil(spans, start) > start || (spans[before + 1]?.start ?? end) < end;
}

/** The end to which the merged, sorted spans reach from `start` without a hole: `start` itself when it is not held. */
export function heldUntil(spans: readonly Span[], start: number): number {
  const span = spans[spanBefore(spans, start)];
  return span !== undefined && span.end > start ? span.end : start;
}

/** Index of the last span that starts at or before `offset`, or -1. */
function spanBefore(spans: readonly Span[], offset: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.start <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The parts of merged, sorted spans that no other covers; those are in order of their starts and may overlap. */
export function subtractSpans(spans: readonly Span[], others: Iterable<Span>): Span[] {
  const left: Span[] = [];
  const covering = mergeSpans([...others]);
  let at = 0;
  for (const { start, end } of spans) {
    let from = start;
    while (at < covering.length && covering[at]!.end <= start) at += 1;
    for (let i = at; i < covering.length && covering[i]!.start < end; i++) {
      if (covering[i]!.start > from) left.push({ start: from, end: covering[i]!.start });
      from = Math.max(from, covering[i]!.end);
    }
    if (from < end) left.push({ start: from, end });
  }
  return left;
}

/** Bytes in merged spans. */
export function spanBytes(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + span.end - span.start, 0);
}
