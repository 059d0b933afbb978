import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { covers, coversAll, heldUntil, mergeSpans, type Span, spanBytes, uniteSpans } from '../../src/store/spans.ts';

const size = 60;
const anySpans = fc.array(
  fc.tuple(fc.nat(size), fc.nat(size)).map(([start, end]) => ({ start, end })),
  { maxLength: 12, size: 'max' },
);

/** Which bytes spans hold, byte by byte: the simple truth. */
function marks(spans: readonly Span[]): boolean[] {
  const held = new Array<boolean>(size + 1).fill(false);
  for (const { start, end } of spans) for (let i = start; i < end; i++) held[i] = true;
  return held;
}

test('merged spans hold the same bytes, in order, with a hole between any two', () => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      const before = structuredClone(spans);
      const merged = mergeSpans(spans);
      expect(marks(merged)).toEqual(marks(spans));
      for (const { start, end } of merged) expect(end).toBeGreaterThan(start);
      for (let i = 1; i < merged.length; i++) expect(merged[i]!.start).toBeGreaterThan(merged[i - 1]!.end);
      expect(spanBytes(merged)).toBe(marks(spans).filter(Boolean).length);
      expect(spans).toEqual(before);
    }),
  );
});

test('what is covered, and how far, is what the bytes say', () => {
  fc.assert(
    fc.property(anySpans, fc.nat(size), fc.nat(size), (spans, start, end) => {
      const merged = mergeSpans(spans);
      const held = marks(spans);
      expect(covers(merged, start, end)).toBe(held.slice(start, end).every(Boolean));
      let until = start;
      while (held[until]) until++;
      expect(heldUntil(merged, start)).toBe(until);
    }),
  );
});

test('offsets beyond 32 bits are numbers as any', () => {
  const far = 2 ** 40;
  const spans = mergeSpans([
    { start: far, end: far + 10 },
    { start: 0, end: 5 },
    { start: far + 10, end: far + 20 },
  ]);
  expect(spans).toEqual([
    { start: 0, end: 5 },
    { start: far, end: far + 20 },
  ]);
  expect(covers(spans, far + 5, far + 20)).toBe(true);
});

test('two lists of spans make one that holds the bytes of both; the first stays what it is where it holds all', () => {
  fc.assert(
    fc.property(anySpans, anySpans, (some, more) => {
      const [first, second] = [mergeSpans(some), mergeSpans(more)];
      const united = uniteSpans(first, second);
      expect(united).toEqual(mergeSpans([...first, ...second]));
      expect(united === first).toBe(coversAll(first, second));
      expect(coversAll(first, second)).toBe(second.every(({ start, end }) => covers(first, start, end)));
    }),
  );
});

test('spans beyond what fits into a number with their places are merged as others', () => {
  const far = 2 ** 45;
  const spans = [
    { start: far + 20, end: far + 30 },
    { start: far, end: far + 20 },
    { start: 5, end: 9 },
  ];
  expect(mergeSpans(spans)).toEqual([
    { start: 5, end: 9 },
    { start: far, end: far + 30 },
  ]);
});
