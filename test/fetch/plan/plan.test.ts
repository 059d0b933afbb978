import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PagedIndex } from '../../../src/builds/indices/paged-index.ts';
import type { EntryPlace } from '../../../src/builds/objects.ts';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { md5 } from '../../../src/core/hash.ts';
import type { RecordTable } from '../../../src/core/tables/record-table.ts';
import { type PlacedEntries, placeEntries } from '../../../src/fetch/plan/placed-entries.ts';
import {
  entryJobs,
  type Plan,
  type PlanInput,
  type PlanOptions,
  planRanges,
  requestCount,
} from '../../../src/fetch/plan/plan.ts';
import { WantedList } from '../../../src/fetch/plan/wanted.ts';
import type { IndexEntry } from '../../../src/formats/indices/archive-index.ts';
import { objectPath } from '../../../src/store/layout.ts';
import { covers, heldUntil, mergeSpans, type Span, spanBytes } from '../../../src/store/spans.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { randomSource } from '../../support/hostile.ts';
import { scratchFolder } from '../../support/scratch.ts';

const kibibyte = 1024;
const mebibyte = 1024 * 1024;
const defaults: PlanOptions = { gapBytes: 64 * kibibyte, maxRangeBytes: 256 * mebibyte };

/** An entry of an archive (or a loose object), and whether it is wanted. */
interface Entry {
  ekey: string;
  archive: number | undefined;
  offset: number;
  size: number;
  priority: number;
  wanted: boolean;
}

/** The world of a plan. */
interface World {
  entries: Entry[];
  /** By archive number, or ekey for a loose object. */
  held: Map<number | string, Span[]>;
  complete: Set<string>;
}

/** Places wanted rows among entries of archives. */
function place(wanted: RecordTable, entries: readonly IndexEntry[], everyCopy = false): PlacedEntries {
  const group = {
    *matches(keys: RecordTable, visit: Parameters<PagedIndex['matches']>[1]): Generator<void> {
      // Side by side: what lies behind belongs to the result.
      let row = 0;
      for (const { ekey, archive, offset, size } of entries) {
        while (row < keys.count && keys.compare(row, ekey) < 0) row++;
        if (row < keys.count && keys.compare(row, ekey) === 0) visit(row, archive, offset, size);
      }
      yield;
    },
  };
  const steps = placeEntries(wanted, group, everyCopy);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function inputOf({ entries, held, complete }: World, everyCopy?: boolean): PlanInput {
  const list = new WantedList();
  for (const { ekey, size, priority, wanted } of entries) if (wanted) list.add(fromHex(ekey), size, priority);
  const archived: IndexEntry[] = entries.flatMap(({ ekey, archive, offset, size }) =>
    archive === undefined ? [] : [{ ekey: fromHex(ekey), archive, offset, size }],
  );
  archived.sort((a, b) => Buffer.compare(a.ekey, b.ekey));
  const sizes = new Map(entries.map(({ ekey, size }) => [ekey, size]));
  return {
    placed: place(list.sorted(), archived, everyCopy),
    heldSpans: (archive) => mergeSpans(held.get(archive) ?? []),
    loose: (ekey) => ({
      size: sizes.get(toHex(ekey)),
      complete: complete.has(toHex(ekey)),
      held: mergeSpans(held.get(toHex(ekey)) ?? []),
    }),
  };
}

const planOf = (world: World, options = defaults): Plan => planRanges(inputOf(world), options);
const keyOf = (n: number): string => toHex(md5(Uint8Array.of(n, n >> 8, n >> 16)));

/** Archives with entries that do not overlap, some of which are wanted and some held, whole or in part. */
const anyWorld: fc.Arbitrary<World> = fc
  .record({
    archives: fc.array(
      fc.array(
        fc.record({
          gap: fc.nat(60),
          size: fc.integer({ min: 1, max: 50 }),
          wanted: fc.boolean(),
          priority: fc.integer({ min: -1, max: 2 }),
        }),
        { maxLength: 25, size: 'max' },
      ),
      { maxLength: 4 },
    ),
    loose: fc.array(fc.record({ size: fc.integer({ min: 1, max: 50 }), held: fc.nat(60), complete: fc.boolean() }), {
      maxLength: 4,
    }),
    held: fc.array(fc.tuple(fc.nat(3), fc.nat(1500), fc.nat(80)), { maxLength: 20, size: 'max' }),
  })
  .map(({ archives, loose, held }) => {
    const world: World = { entries: [], held: new Map(), complete: new Set() };
    for (const [archive, list] of archives.entries()) {
      let offset = 0;
      for (const { gap, size, wanted, priority } of list) {
        offset += gap;
        world.entries.push({ ekey: keyOf(world.entries.length), archive, offset, size, priority, wanted });
        offset += size;
      }
    }
    for (const [archive, start, size] of held) {
      world.held.set(archive, [...(world.held.get(archive) ?? []), { start, end: start + size }]);
    }
    for (const { size, held: bytes, complete } of loose) {
      const ekey = keyOf(world.entries.length);
      world.entries.push({ ekey, archive: undefined, offset: 0, size, priority: 1, wanted: true });
      world.held.set(ekey, [{ start: 0, end: complete ? size : Math.min(bytes, size) }]);
      if (complete) world.complete.add(ekey);
    }
    return world;
  });
const anyOptions = fc.record({ gapBytes: fc.nat(80), maxRangeBytes: fc.integer({ min: 1, max: 300 }) });

/** What of an entry lacks, the simple way: from the end of its held start on, unless all of it is held. */
function lackOf(world: World, { ekey, archive, offset, size }: Entry): Span | undefined {
  const held = mergeSpans(world.held.get(archive ?? ekey) ?? []);
  if (archive === undefined ? world.complete.has(ekey) : covers(held, offset, offset + size)) return undefined;
  return { start: heldUntil(held, offset), end: offset + size };
}

describe('the ranges of a plan', () => {
  test('hold every missing entry once, from where it is held on, and nothing else but the gaps between', () => {
    fc.assert(
      fc.property(anyWorld, anyOptions, (world, options) => {
        const plan = planOf(world, options);
        const targets = plan.ranges.flatMap((range) =>
          range.targets().map((target) => ({ ...target, archive: range.archive })),
        );
        const expected = world.entries.flatMap((entry) => {
          const lack = entry.wanted ? lackOf(world, entry) : undefined;
          if (lack === undefined) return [];
          const { ekey, offset, size, archive } = entry;
          return [{ ekey, offset, size, archive, held: lack.start - offset }];
        });
        const byKey = (a: { ekey: string }, b: { ekey: string }): number => (a.ekey < b.ekey ? -1 : 1);
        expect(targets.toSorted(byKey)).toEqual(expected.toSorted(byKey));
        for (const range of plan.ranges) {
          const inside = [...range.targets()];
          const [first, last] = [inside[0]!, inside.at(-1)!];
          expect([range.start, range.end]).toEqual([first.offset + first.held, last.offset + last.size]);
          for (let i = 1; i < inside.length; i++) {
            const gap = inside[i]!.offset + inside[i]!.held - (inside[i - 1]!.offset + inside[i - 1]!.size);
            expect(inside[i]!.offset).toBeGreaterThanOrEqual(inside[i - 1]!.offset + inside[i - 1]!.size);
            expect(gap).toBeLessThanOrEqual(options.gapBytes);
          }
          expect(range.end - range.start <= options.maxRangeBytes || inside.length === 1).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('are as few as they can be: no two neighbours could be one', () => {
    fc.assert(
      fc.property(anyWorld, anyOptions, (world, options) => {
        const ranges = planOf(world, options)
          .ranges.filter(({ archive }) => archive !== undefined)
          .sort((a, b) => a.archive! - b.archive! || a.start - b.start);
        for (let i = 1; i < ranges.length; i++) {
          const [before, after] = [ranges[i - 1]!, ranges[i]!];
          if (before.archive !== after.archive) continue;
          const first = after.targets().at(0);
          const joined = first.offset + first.size - before.start;
          expect(after.start - before.end > options.gapBytes || joined > options.maxRangeBytes).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('come by priority, then by archive and offset, loose objects last', () => {
    fc.assert(
      fc.property(anyWorld, anyOptions, (world, options) => {
        const { ranges } = planOf(world, options);
        const priorities = new Map(world.entries.map(({ ekey, priority }) => [ekey, priority]));
        for (const range of ranges) {
          expect(range.priority).toBe(Math.min(...range.targets().map(({ ekey }) => priorities.get(ekey)!)));
        }
        const rank = ({ priority, archive, start }: (typeof ranges)[number]): number =>
          priority * 1e12 + (archive ?? 1e5) * 1e6 + (archive === undefined ? 0 : start);
        for (let i = 1; i < ranges.length; i++) {
          expect(rank(ranges[i]!)).toBeGreaterThanOrEqual(rank(ranges[i - 1]!));
        }
      }),
      { numRuns: 40 },
    );
  });

  test('sums: wanted is held and missing, by priority as in all', () => {
    fc.assert(
      fc.property(anyWorld, anyOptions, (world, options) => {
        const plan = planOf(world, options);
        const wanted = world.entries.filter(({ wanted }) => wanted);
        const lacks = wanted.flatMap((entry) => lackOf(world, entry) ?? []);
        expect(plan.wanted).toEqual({ entries: wanted.length, bytes: wanted.reduce((sum, { size }) => sum + size, 0) });
        expect(plan.missing).toEqual({ entries: lacks.length, bytes: spanBytes(lacks) });
        expect(plan.held.entries).toBe(plan.wanted.entries - plan.missing.entries);
        expect(plan.held.bytes).toBe(plan.wanted.bytes - plan.missing.bytes);
        const byPriority = [...plan.byPriority.values()];
        expect(byPriority.reduce((sum, { entries }) => sum + entries, 0)).toBe(plan.missing.entries);
        expect(byPriority.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(plan.missing.bytes);
        expect(plan.rangeBytes).toBe(plan.ranges.reduce((sum, { start, end }) => sum + end - start, 0));
        expect(plan.rangeBytes).toBeGreaterThanOrEqual(plan.missing.bytes);
      }),
      { numRuns: 40 },
    );
  });

  test('of many small entries hold 2560 each, for those are in memory together; an answer that is whole holds all', () => {
    const entries = Array.from({ length: 6000 }, (_, n): Entry => {
      return { ekey: keyOf(n), archive: 0, offset: n * 100, size: 100, priority: 0, wanted: true };
    });
    const world = { entries, held: new Map(), complete: new Set<string>() };
    const { ranges, rangeBytes } = planOf(world);
    expect(ranges.map(({ targets }) => targets().length)).toEqual([2560, 2560, 880]);
    expect(rangeBytes).toBe(600_000);
    expect(planOf(world, { ...defaults, whole: true }).ranges).toHaveLength(1);
  });

  test('go over gaps twice as wide where there would be more than a thousand', () => {
    const plansOf = (count: number, gap: number): number => {
      const entries = Array.from({ length: count }, (_, n): Entry => {
        return { ekey: keyOf(n), archive: 0, offset: n * (100 + gap), size: 100, priority: 0, wanted: true };
      });
      return planOf({ entries, held: new Map(), complete: new Set<string>() }).ranges.length;
    };
    expect(plansOf(1000, defaults.gapBytes + 1)).toBe(1000);
    // Of 63 MiB, which is cut into ranges of 16.
    expect(plansOf(1001, defaults.gapBytes + 1)).toBe(4);
    expect(plansOf(1001, 2 * defaults.gapBytes + 1)).toBe(1001);
  });

  test('are none when everything is held', () => {
    fc.assert(
      fc.property(anyWorld, (world) => {
        for (let archive = 0; archive < 4; archive++) world.held.set(archive, [{ start: 0, end: 1e6 }]);
        for (const { ekey, archive } of world.entries) if (archive === undefined) world.complete.add(ekey);
        expect(planOf(world).ranges).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a hostile index', () => {
  test('entries that overlap never share a range, whatever the order', () => {
    const entry = fc.record({ offset: fc.nat(200), size: fc.integer({ min: 1, max: 100 }) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20, size: 'max' }), (list) => {
        const entries = list.map((place, i) => ({ ...place, ekey: keyOf(i), archive: 0, priority: 0, wanted: true }));
        const { ranges } = planOf({ entries, held: new Map(), complete: new Set() });
        for (const range of ranges) {
          const targets = [...range.targets()];
          for (let i = 1; i < targets.length; i++) {
            expect(targets[i]!.offset).toBeGreaterThanOrEqual(targets[i - 1]!.offset + targets[i - 1]!.size);
          }
          expect(range.end).toBe(targets.at(-1)!.offset + targets.at(-1)!.size);
        }
        expect(ranges.flatMap((range) => [...range.targets()])).toHaveLength(list.length);
      }),
      { numRuns: 40 },
    );
  });

  test('offsets and sizes at the edge of 32 bits are numbers as any', () => {
    const edge = 2 ** 32 - 1;
    const entries = [
      { ekey: keyOf(1), archive: 65535, offset: edge, size: edge, priority: 0, wanted: true },
      { ekey: keyOf(2), archive: 65535, offset: 0, size: edge, priority: 0, wanted: true },
    ];
    const plan = planOf({ entries, held: new Map(), complete: new Set() });
    expect(plan.ranges.map(({ start, end }) => [start, end])).toEqual([
      [0, edge],
      [edge, 2 * edge],
    ]);
    expect(requestCount(plan, defaults.maxRangeBytes)).toBe(2 * 16);
  });

  test('a key that stands in two archives is planned once, and an entry of no bytes needs none', () => {
    const twice = { ekey: keyOf(1), size: 10, priority: 0, wanted: true };
    const entries = [
      { ...twice, archive: 0, offset: 5 },
      { ...twice, archive: 3, offset: 7 },
      { ekey: keyOf(2), archive: 0, offset: 100, size: 0, priority: 0, wanted: true },
    ];
    const plan = planOf({ entries, held: new Map(), complete: new Set() });
    expect(plan.ranges).toHaveLength(1);
    expect(plan.wanted.entries).toBe(2);
    expect(plan.held.entries).toBe(1);
  });
});

describe('loose objects', () => {
  const ekey = keyOf(1);
  const loose = { ekey, archive: undefined, offset: 0, size: 100, priority: 0, wanted: true };

  test('one that is verified to its end but has not got its name is missing, with nothing to fetch', () => {
    const plan = planOf({ entries: [loose], held: new Map([[ekey, [{ start: 0, end: 100 }]]]), complete: new Set() });
    expect(plan.missing).toEqual({ entries: 1, bytes: 0 });
    expect(plan.ranges.map((range) => [range.start, range.end, [...range.targets()]])).toEqual([
      [100, 100, [{ ekey, offset: 0, size: 100, held: 100 }]],
    ]);
    expect(requestCount(plan, defaults.maxRangeBytes)).toBe(0);
  });

  test('the size that the manifest has does where no index lists it', () => {
    const list = new WantedList();
    list.add(fromHex(ekey), 77);
    const input: PlanInput = {
      placed: place(list.sorted(), []),
      heldSpans: () => [],
      loose: () => ({ size: undefined, complete: false, held: [] }),
    };
    expect(planRanges(input, defaults).missing).toEqual({ entries: 1, bytes: 77 });
  });

  test('are never joined, however small', () => {
    const entries = [1, 2, 3].map((n) => ({ ...loose, ekey: keyOf(n), size: 1 }));
    expect(planOf({ entries, held: new Map(), complete: new Set() }).ranges).toHaveLength(3);
  });
});

/*
 * The gap curve. What the official client asked for was logged for real builds, and the same bytes were planned with growing gaps
 * (requests after coalescing). A build is made here whose gaps between wanted entries are drawn at random, so that as many lie
 * between any two of these as in the real one; its plan must then come to the same counts.
 */
const curves = [
  {
    build: 'Overwatch 2 (2.17.0.1.140030)',
    objects: 5248,
    requests: { 0: 63_705, 4: 53_768, 32: 41_545, 64: 36_515, 128: 30_712, 256: 24_613, 1024: 14_404 },
    checked: [128],
  },
  {
    build: 'WoW Classic Era (1.15.7.61582)',
    objects: 838,
    requests: { 0: 11_517, 4: 9_798, 32: 7_306, 64: 6_241, 128: 5_449, 256: 4_730, 1024: 3_444 },
    checked: [0, 4, 32, 64, 128, 256, 1024],
  },
];

/** Gaps in random order: of every bin of the curve as many as the counts of requests differ by. */
function drawGaps(curve: (typeof curves)[number], random: () => number): number[] {
  const points = Object.entries(curve.requests).map(([limit, requests]) => ({
    limit: Number(limit) * kibibyte,
    requests,
  }));
  const gaps: number[] = [];
  for (const [i, { limit, requests }] of points.entries()) {
    const next = points[i + 1] ?? { limit: 4 * mebibyte, requests: curve.objects };
    const draw = (): number => limit + 1 + Math.floor(random() * (next.limit - limit));
    for (let n = requests - next.requests; n > 0; n--) gaps.push(draw());
  }
  for (let i = gaps.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [gaps[i], gaps[j]] = [gaps[j]!, gaps[i]!];
  }
  return gaps;
}

/** The wanted entries of such a build: runs without a gap between them, then a gap, dealt over its objects. */
function curveInput(curve: (typeof curves)[number]): { input: PlanInput; gaps: number[] } {
  const random = randomSource(curve.objects);
  const gaps = drawGaps(curve, random);
  const entries: IndexEntry[] = [];
  const list = new WantedList();
  const ends = new Array<number>(curve.objects).fill(0);
  const addRun = (archive: number, gap: number): void => {
    let offset = ends[archive]! + gap;
    for (let n = 1 + Math.floor(random() * 3); n > 0; n--) {
      const ekey = new Uint8Array(Uint32Array.from({ length: 4 }, () => random() * 2 ** 32).buffer);
      const size = 200 + Math.floor(random() * 3000);
      entries.push({ ekey, archive, offset, size });
      list.add(ekey, size, Math.floor(random() * 3));
      offset += size;
    }
    ends[archive] = offset;
  };
  for (let archive = 0; archive < curve.objects; archive++) addRun(archive, Math.floor(random() * 1000));
  for (const [i, gap] of gaps.entries()) addRun(i % curve.objects, gap);
  entries.sort((a, b) => Buffer.compare(a.ekey, b.ekey));
  const loose = (): never => {
    throw new Error('nothing is loose');
  };
  return { input: { placed: place(list.sorted(), entries), heldSpans: () => [], loose }, gaps };
}

describe.each(curves)('a plan for a build shaped like $build', (curve) => {
  const { input, gaps } = curveInput(curve);
  test.each(
    Object.entries(curve.requests)
      .map(([gap, requests]) => [Number(gap), requests] as const)
      .filter(([gap]) => curve.checked.includes(gap)),
  )('with gaps up to %d KiB comes to the requests of the real one', (gap, requests) => {
    const gapBytes = gap * kibibyte;
    // So many ranges: wide gaps are bridged.
    const plan = planRanges(input, { ...defaults, gapBytes: gapBytes / 2 });
    const counted = requestCount(plan, defaults.maxRangeBytes);
    expect(Math.abs(counted - requests) / requests).toBeLessThanOrEqual(0.02);
    const filled = gaps.filter((bytes) => bytes <= gapBytes).reduce((sum, bytes) => sum + bytes, 0);
    expect(plan.rangeBytes - plan.missing.bytes).toBe(filled);
  });
});

const scratch = scratchFolder();
const object = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: '1'.repeat(32) };
const other = { ...object, hash: '2'.repeat(32) };
const entryAt = (n: number, offset: number, more: Partial<EntryPlace> = {}): EntryPlace => ({
  ekey: String(n).repeat(32),
  object,
  loose: false,
  offset,
  size: 100,
  ...more,
});

let store: Store;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
});
afterEach(() => store.close());

test('entries that lie close come in one range, others and loose ones in their own, each once', () => {
  const jobs = entryJobs(
    store,
    [
      entryAt(4, 5000),
      entryAt(1, 0),
      entryAt(2, 150),
      entryAt(1, 0),
      entryAt(3, 240),
      entryAt(5, 0, { object: other, loose: true }),
    ],
    { gapBytes: 50, maxRangeBytes: 1000 },
  );
  expect(jobs.map(({ start, end, targets }) => [start, end, targets.map(({ ekey }) => ekey[0])])).toEqual([
    [0, 250, ['1', '2']],
    // It overlaps the one before, as only a hostile index has it.
    [240, 340, ['3']],
    [5000, 5100, ['4']],
    [0, 100, ['5']],
  ]);
  expect(jobs[0]!).toMatchObject(store.files.partial(objectPath(object)));
  expect(jobs[3]!).toMatchObject(store.files.partial(objectPath(other)));
});

test('no range is longer than the longest that may be asked for', () => {
  const places = [entryAt(1, 0), entryAt(2, 100), entryAt(3, 200), entryAt(4, 300)];
  const jobs = entryJobs(store, places, { gapBytes: 50, maxRangeBytes: 250 });
  expect(jobs.map(({ start, end }) => [start, end])).toEqual([
    [0, 200],
    [200, 400],
  ]);
});

test('where answers are whole objects there is one job for each', () => {
  const places = [entryAt(1, 0), entryAt(2, 5000), entryAt(3, 0, { object: other })];
  const jobs = entryJobs(store, places, { gapBytes: 0, maxRangeBytes: 100, whole: true });
  expect(jobs.map(({ start, end, targets }) => [start, end, targets.length])).toEqual([
    [0, 5100, 2],
    [0, 100, 1],
  ]);
});

test('an entry of which the start is held is asked for from there', () => {
  store.ledger.addSpans(objectPath(object), [{ start: 900, end: 1040 }]);
  const [job] = entryJobs(store, [entryAt(1, 1000)], { gapBytes: 0, maxRangeBytes: 1000 });
  expect(job).toMatchObject({ start: 1040, end: 1100, targets: [{ held: 40 }] });
});

test('an entry that two archives have is planned once, and twice where every copy is wanted', () => {
  const entry = (n: number, archive: number | undefined): Entry => ({
    ekey: keyOf(n),
    archive,
    offset: 0,
    size: 100,
    priority: 0,
    wanted: archive !== 1,
  });
  const world: World = {
    entries: [entry(1, 0), entry(1, 1), entry(2, undefined), entry(3, 2)],
    held: new Map([[0, [{ start: 0, end: 100 }]]]),
    complete: new Set(),
  };
  const archivesOf = ({ ranges }: Plan): (number | undefined)[] => ranges.map(({ archive }) => archive);
  const once = planOf(world);
  expect(once.wanted.entries).toBe(3);
  expect(new Set(archivesOf(once))).toEqual(new Set([2, undefined]));
  const twice = planRanges(inputOf(world, true), defaults);
  expect(twice.wanted.entries).toBe(4);
  expect(twice.held.entries).toBe(1);
  expect(new Set(archivesOf(twice))).toEqual(new Set([1, 2, undefined]));
});
