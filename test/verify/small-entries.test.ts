import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RangeTargets } from '../../src/fetch/transfer/range-targets.ts';
import { SmallEntries } from '../../src/verify/small-entries.ts';
import { archiveOf, chunkedEntry, rawEntry, type TestArchive, wholeEntry } from '../fetch/archive.ts';

const small = SmallEntries.create(65_536)!;

/** What is said of the entries of an archive, whose bytes may have been changed. */
function check({ bytes, places }: TestArchive, changed = bytes): number[] {
  const targets = RangeTargets.of(places.map((place) => ({ ...place, held: 0 })));
  return [...small.check({ bytes: changed, position: 0 }, targets, 0, targets.length)];
}

const entry = fc
  .tuple(fc.constantFrom('one chunk', 'no table'), fc.integer({ min: 1, max: 2000 }), fc.nat(1000))
  .map(([kind, size, seed]) => (kind === 'one chunk' ? chunkedEntry(size, 4000, seed) : wholeEntry(size, seed)));

test('entries with one chunk and without a table are right, whatever their sizes and what lies between', () => {
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 25 }), fc.array(fc.nat(50)), (entries, gaps) => {
      expect(check(archiveOf(entries, gaps))).toEqual(entries.map(() => 1));
    }),
    { numRuns: 60 },
  );
});

test('a changed byte, wherever it is, makes its own entry one that is not known to be right', () => {
  const archive = archiveOf([chunkedEntry(150, 200, 1), wholeEntry(80, 2), chunkedEntry(700, 1000, 3)]);
  for (let at = 0; at < archive.bytes.length; at++) {
    const changed = archive.bytes.slice();
    changed[at]! ^= 1 << (at % 8);
    const expected = archive.places.map(({ offset, size }) => (at >= offset && at < offset + size ? 0 : 1));
    expect(check(archive, changed)).toEqual(expected);
  }
});

test('what is not as plain as that is left to others: more chunks, patches, large ones, sizes that no entry has', () => {
  const archive = archiveOf([chunkedEntry(3000, 1000, 1), rawEntry(100, 2), wholeEntry(5000, 3), wholeEntry(90, 4)]);
  expect(check(archive)).toEqual([0, 0, 0, 1]);
  const places = archive.places.map((place) => ({ ...place, size: 5 }));
  expect(check({ ...archive, places })).toEqual([0, 0, 0, 0]);
});

test('an entry is measured by the size that is wanted of it', () => {
  const archive = archiveOf([chunkedEntry(150, 200, 1), wholeEntry(80, 2)]);
  for (const off of [-1, 1]) {
    const [first, second] = archive.places.map((place) => ({ ...place, size: place.size + off }));
    expect(check({ bytes: new Uint8Array([...archive.bytes, 0]), places: [first!] })).toEqual([0]);
    expect(check({ bytes: new Uint8Array([...archive.bytes, 0]), places: [second!] })).toEqual([0]);
  }
});

test('more than there is room for at a time', () => {
  const archive = archiveOf(Array.from({ length: 3000 }, (_, i) => wholeEntry(1 + (i % 9), i)));
  expect(archive.bytes.length).toBeLessThanOrEqual(65_536);
  expect(check(archive)).toEqual(archive.places.map(() => 1));
  const changed = archive.bytes.slice();
  changed[archive.places[1500]!.offset + 8]! ^= 1;
  expect(check(archive, changed)).toEqual(archive.places.map((_, i) => (i === 1500 ? 0 : 1)));
});
