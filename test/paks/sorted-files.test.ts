import { describe, expect, test } from '@jest/globals';
import type { PackFile } from '../../src/paks/packing.ts';
import { type SortedFiles, sortForPacking } from '../../src/paks/sorted-files.ts';
import { packFile } from '../support/pak-sources.ts';

const lower = (name: string): string => name.toLowerCase();
const named = (...names: string[]): PackFile[] => names.map((name) => packFile(name, ''));

describe('sortForPacking', () => {
  test('sorts by the bytes of the names, as often as it is gone through', async () => {
    const sorted = await sortForPacking(named('b', 'a/b', '\u{1f600}', 'a.b', '\uff5e'), lower);
    expect(sorted.count).toBe(5);
    for (const _ of [1, 2]) {
      expect(Array.from(sorted, ({ name }) => name)).toEqual(['a.b', 'a/b', 'b', '\uff5e', '\u{1f600}']);
    }
  });

  test('takes what is sorted as it is, and makes no list of it', async () => {
    const files = named('a', 'b', 'c');
    const given: SortedFiles = { isSorted: true, count: 3, [Symbol.iterator]: () => files.values() };
    expect(await sortForPacking(given, lower)).toBe(given);
  });

  test('names two names that would be one', async () => {
    const same = sortForPacking(named('x/c', 'a', 'X/C', 'b'), lower);
    await expect(same).rejects.toMatchObject({ code: 'E_USAGE', data: { name: 'x/c', other: 'X/C' } });
    await expect(sortForPacking(named('a', 'A'), (name) => name)).resolves.toMatchObject({ count: 2 });
  });

  test.each(['', '/a', 'a/', 'a//b', '.', 'a/..', '../a', './a', 'a\\b', 'a\0b'])('refuses %j', async (name) => {
    await expect(sortForPacking(named('ok', name), lower)).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  test('takes names that are unusual, and allowed', async () => {
    const names = ['.a', '..a', '...', 'a b', 'a.', 'a..b/c..', '\n'];
    expect((await sortForPacking(named(...names), lower)).count).toBe(names.length);
  });

  test('ends as soon as it is told to', async () => {
    const signal = AbortSignal.abort();
    await expect(sortForPacking(named('a'), lower, signal)).rejects.toMatchObject({ code: 'E_ABORTED' });
  });
});
