import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fetchOrder } from '../../../src/fetch/plan/fetch-order.ts';
import type { PlannedRange } from '../../../src/fetch/plan/plan.ts';
import { RangeTargets } from '../../../src/fetch/transfer/range-targets.ts';

const none = RangeTargets.of([]);
const range = (archive: number | undefined, start: number, priority = 0): PlannedRange => {
  return { archive, start, end: start + 1, priority, targets: () => none };
};
/** Ranges of archives, then loose objects, as a plan has them. */
const ranges = (archived: number, loose: number, priority = 0): PlannedRange[] => [
  ...Array.from({ length: archived }, (_, i) => range(i, 0, priority)),
  ...Array.from({ length: loose }, (_, i) => range(undefined, i, priority)),
];
const shown = (list: Iterable<PlannedRange>): string =>
  [...list].map(({ archive, start }) => (archive === undefined ? `l${start}` : archive)).join(' ');

describe('the order in which planned ranges are fetched', () => {
  test('spreads loose objects among the ranges of archives, which keep their order', () => {
    expect(shown(fetchOrder(ranges(4, 2)))).toBe('0 1 l0 2 3 l1');
    expect(shown(fetchOrder(ranges(2, 5)))).toBe('0 l0 l1 1 l2 l3 l4');
    expect(shown(fetchOrder(ranges(3, 0)))).toBe('0 1 2');
    expect(shown(fetchOrder(ranges(0, 3)))).toBe('l0 l1 l2');
    expect(shown(fetchOrder([]))).toBe('');
  });

  test('keeps to the priorities: nothing comes before what is sooner', () => {
    const counts = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 4 });
    fc.assert(
      fc.property(counts, (list) => {
        const planned = list.flatMap(([archived, loose], priority) => ranges(archived, loose, priority));
        const ordered = [...fetchOrder(planned)];
        expect(ordered.map(({ priority }) => priority)).toEqual(planned.map(({ priority }) => priority));
        expect(new Set(ordered)).toEqual(new Set(planned));
        expect(ordered).toHaveLength(planned.length);
        for (const isLoose of [true, false]) {
          const of = (all: PlannedRange[]): PlannedRange[] =>
            all.filter(({ archive }) => (archive === undefined) === isLoose);
          expect(of(ordered)).toEqual(of(planned));
        }
      }),
    );
  });
});
