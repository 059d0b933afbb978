import { expect, test } from '@jest/globals';
import { rowWords, sizeAt, startAt } from '../../../../src/builds/listfile/write/listed-rows.ts';
import { foldersOf, sortedNames } from '../../../../src/builds/listfile/write/sorted-names.ts';
import { randomSource } from '../../../support/hostile.ts';

const random = randomSource(9);
const of = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

/** The numbers of names in the order of their bytes, and as it should be. */
function orders(names: readonly string[]): [found: number[], expected: number[]] {
  const texts = names.map((name) => Buffer.from(name));
  const words = new Uint32Array(names.length * rowWords);
  for (let i = 0, start = 0; i < names.length; i++) {
    words[i * rowWords + startAt] = start;
    words[i * rowWords + sizeAt] = texts[i]!.length;
    start += texts[i]!.length;
  }
  // Behind the last name there is what was there before.
  const bytes = new Uint8Array(Buffer.concat([...texts, Buffer.from('rest')]));
  const expected = texts.map((_, i) => i).sort((a, b) => Buffer.compare(texts[a]!, texts[b]!) || a - b);
  const placed = { bytes, words };
  const found = sortedNames(placed, names.length, foldersOf(placed, names.length));
  return [Array.from(found), expected];
}

const folders = ['', 'a/', 'a/b/', 'a/b/c/', 'a\\', 'a/b.c/', 'A/', 'a/bb/', 'ä/', '/', 'long/'.repeat(20)];

test.each([
  ['none', []],
  [
    'in order within folders that lie in each other',
    folders.flatMap((folder) => ['1', 'b', 'b/x', 'z'].map((name) => folder + name)),
  ],
  [
    'in order by number, folders in turn',
    Array.from({ length: 3000 }, (_, i) => `${folders[i % folders.length]}${String(i).padStart(5, '0')}`),
  ],
  [
    'some folders in order, some not',
    Array.from({ length: 3000 }, (_, i) =>
      i % 2 ? `a/b/${10_000 + i}` : `${of(folders)}${Math.floor(random() * 500)}`,
    ),
  ],
  ['backwards', Array.from({ length: 500 }, (_, i) => `${of(folders)}${9999 - i}`)],
  ['more folders than are put in order', Array.from({ length: 140_000 }, (_, i) => `${(i * 7919) % 140_000}/x`)],
])('names are sorted by their bytes, equal ones as they came: %s', (_, names) => {
  const [found, expected] = orders(names);
  expect(found).toEqual(expected);
});
