import { expect, test } from '@jest/globals';
import { fromHex } from '../../src/core/bytes.ts';
import { formatError } from '../../src/core/errors.ts';
import { checkEntries } from '../../src/verify/check-entries.ts';
import { EntryProver } from '../../src/verify/entry-prover.ts';
import { archiveOf, chunkedEntry, rawEntry, type TestEntry, wholeEntry } from '../fetch/archive.ts';
import { randomSource } from '../support/hostile.ts';

interface Place {
  ekey: string;
  offset: number;
  size: number;
  raw: boolean;
}

const prover = new EntryProver();

/** Whether the prover says that all entries of an object are right. */
function isProven(bytes: Uint8Array, places: readonly Place[]): boolean {
  const read = (into: Uint8Array, offset: number): void => {
    if (offset + into.length > bytes.length) throw formatError('E_FORMAT_TRUNCATED', 'archive', 'the file ends');
    into.set(bytes.subarray(offset, offset + into.length));
  };
  const object = prover.open(read, bytes.length);
  for (const { ekey, ...place } of places) prover.add({ ekey: fromHex(ekey), ...place }, bytes.length);
  prover.flush();
  return !object.isOpen;
}

/** Whether the check that tells what is wrong finds nothing. */
async function isRight(bytes: Uint8Array, places: readonly Place[]): Promise<boolean> {
  const read = ({ offset }: Place, from: number, size: number): Uint8Array =>
    bytes.subarray(offset + from, offset + from + size);
  let right = true;
  for await (const batch of checkEntries(places, read))
    for (const { problem } of batch) right &&= problem === undefined;
  return right;
}

const placed = (entries: readonly TestEntry[], raw: (i: number) => boolean, gaps: number[] = []) => {
  const { bytes, places } = archiveOf(entries, gaps);
  return { bytes, places: places.map((place, i) => ({ ...place, raw: raw(i) })) };
};

test('proves entries of every kind, more of them than its memory has room for', () => {
  const entries = [
    chunkedEntry(50_000, 10_000, 1),
    wholeEntry(20_000, 2),
    rawEntry(5000, 3),
    chunkedEntry(9_000_000, 1_000_000, 4),
    chunkedEntry(3_000_000, 700_000, 5),
    wholeEntry(7_000_000, 6),
    chunkedEntry(100, 100, 7),
  ];
  const { bytes, places } = placed(entries, (i) => i === 2, [0, 5, 300_000, 0, 1]);
  expect(isProven(bytes, places)).toBe(true);
  for (const { offset, size } of places) {
    for (const at of [offset, offset + 30, offset + size - 1]) {
      const wrong = bytes.slice();
      wrong[at]! ^= 1;
      expect(isProven(wrong, places)).toBe(false);
    }
  }
});

test('of tiny entries hashes some before all are read, and finds a wrong one wherever it is', () => {
  const entries = Array.from({ length: 10_000 }, (_, i) => chunkedEntry(40, 40, i));
  const { bytes, places } = placed(entries, () => false);
  expect(isProven(bytes, places)).toBe(true);
  for (const i of [0, 4095, 4096, 9999]) {
    const wrong = bytes.slice();
    wrong[places[i]!.offset + places[i]!.size - 1]! ^= 1;
    expect([i, isProven(wrong, places)]).toEqual([i, false]);
  }
  expect(isProven(bytes, places)).toBe(true);
});

test('leaves open what it has no room for', () => {
  const { bytes, places } = placed([wholeEntry(9_000_000, 1)], () => false);
  expect(isProven(bytes, places)).toBe(false);
});

test('takes a key of which only the first digits are known, and checks these', () => {
  const { bytes, places } = placed([chunkedEntry(500, 100, 1), wholeEntry(500, 2)], () => false);
  const short = places.map((place) => ({ ...place, ekey: place.ekey.slice(0, 18) }));
  expect(isProven(bytes, short)).toBe(true);
  expect(
    isProven(
      bytes,
      short.map((place, i) => ({ ...place, ekey: short[1 - i]!.ekey })),
    ),
  ).toBe(false);
});

test('one object that is wrong says nothing of those beside it', () => {
  const right = chunkedEntry(500, 100, 1);
  const proofs = [0, 1, 0].map((flip) => {
    const bytes = right.bytes.slice();
    bytes[400]! ^= flip;
    const object = prover.open((into, offset) => into.set(bytes.subarray(offset, offset + into.length)), bytes.length);
    prover.add({ ekey: fromHex(right.ekey), offset: 0, size: bytes.length, raw: false }, bytes.length);
    return object;
  });
  prover.flush();
  expect(proofs.map(({ isOpen }) => isOpen)).toEqual([false, true, false]);
});

test('proves nothing that the check finds wrong, and all that is right', async () => {
  const random = randomSource(20261124);
  const whole = (most: number): number => Math.floor(random() * most);
  let proven = 0;
  for (let round = 0; round < 400; round++) {
    const entries = Array.from({ length: 1 + whole(4) }, (_, i) => {
      const size = 1 + whole(600);
      return [chunkedEntry(size, 1 + whole(300), i), wholeEntry(size, i), rawEntry(size, i)][whole(3)]!;
    });
    const { bytes, places } = placed(entries, (i) => rawEntryOf(entries[i]!));
    for (let flips = whole(3); flips > 0; flips--) bytes[whole(bytes.length)]! ^= 1 << whole(8);
    const right = await isRight(bytes, places);
    expect(isProven(bytes, places)).toBe(right);
    if (right) proven += 1;
  }
  expect(proven).toBeGreaterThan(80);
  expect(proven).toBeLessThan(320);
});

function rawEntryOf({ bytes }: TestEntry): boolean {
  return Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'BLTE';
}
