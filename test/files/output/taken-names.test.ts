import { expect, jest, test } from '@jest/globals';
import * as hash from '../../../src/core/hash.ts';

/** What names were hashed with. */
const seeds = new Set<number>();
jest.unstable_mockModule('../../../src/core/hash.ts', () => ({
  ...hash,
  seededHash(text: string, seed: number) {
    seeds.add(seed);
    return hash.seededHash(text, seed);
  },
}));
const { TakenNames } = await import('../../../src/files/output/taken-names.ts');

/** So many names are forgotten, and only their hashes are kept. */
const many = 150_000;

test('each name is taken once, by whoever takes it first, however long ago', () => {
  const taken = new TakenNames();
  const name = (i: number): string => (i % 3 === 0 ? `Folder/File-${i}.BLP` : `folder/file-${i}.blp`);
  const takings = new Set(Array.from({ length: many }, (_, i) => taken.take(name(i), name(i))));
  expect([...takings]).toEqual(['new']);
  for (let i = 0; i < many; i += 1111) {
    expect([i, taken.take(name(i), name(i))]).toEqual([i, 'again']);
    // Another file with the same name, and one whose name differs by case.
    for (const [other, owner] of [
      [name(i), `${name(i)} (entry 2)`],
      [`FOLDER/file-${i}.blp`, `FOLDER/file-${i}.blp`],
      ...(i % 3 === 0 ? [[name(i).toLowerCase(), name(i).toLowerCase()]] : []),
    ] as const)
      expect([other, typeof taken.take(other!, owner!)]).toEqual([other, 'object']);
  }
  expect(taken.take('folder/file.blp', 'folder/file.blp')).toBe('new');
});

test('says who has it, as long as that is known', () => {
  const taken = new TakenNames();
  taken.take('a/B.txt', 'A/B.txt');
  taken.take('a/c.txt', 'a/c.txt');
  expect(taken.take('A/b.txt', 'A/b.txt')).toEqual({ other: 'A/B.txt' });
  for (let i = 0; i < many; i++) taken.take(`file-${i}`, `file-${i}`);
  expect(taken.take('A/b.txt', 'A/b.txt')).toEqual({ other: undefined });
  expect(taken.take('A/C.txt', 'A/C.txt')).toEqual({ other: 'a/c.txt' });
  expect(taken.take('ä/Ö.txt', 'ä/Ö.txt')).toBe('new');
  expect(taken.take('Ä/ö.txt', 'Ä/ö.txt')).toEqual({ other: 'ä/Ö.txt' });
});

test('where each is taken once, not even its owner takes it again', () => {
  const taken = new TakenNames(true);
  const owners = ['low', 'Mixed', 'low-2 (entry 2)'];
  for (const owner of owners) expect(taken.take(owner.split(' ')[0]!, owner)).toBe('new');
  for (let turn = 0; turn < 2; turn++) {
    for (const owner of owners) expect(typeof taken.take(owner.split(' ')[0]!, owner)).toBe('object');
    for (let i = 0; i < many; i++) taken.take(`file-${i}`, `file-${i} (entry ${i})`);
  }
});

test('nobody knows the hashes of names beforehand: no two are hashed alike', () => {
  seeds.clear();
  for (let i = 0; i < 3; i++) {
    const taken = new TakenNames(true);
    for (let name = 0; name < 5000; name++) taken.take(`file-${name}`, '');
    taken.close();
  }
  expect(seeds.size).toBe(6);
});
