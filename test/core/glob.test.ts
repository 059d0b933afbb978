import { describe, expect, test } from '@jest/globals';
import { hasGlob, nameMatcher } from '../../src/core/glob.ts';

const names = [
  'Interface/Icons/Temp.blp',
  'interface/icons/sub/deep.blp',
  'Interface/Icons/.hidden.blp',
  'Sound/Music/theme.mp3',
  'Wow.exe',
];
const chosen = (...globs: string[]): string[] => names.filter(nameMatcher(globs));

describe('nameMatcher', () => {
  test('case and the direction of slashes do not matter', () => {
    expect(chosen('interface/icons/temp.BLP')).toEqual([names[0]]);
    expect(chosen('INTERFACE\\ICONS\\temp.blp')).toEqual([names[0]]);
  });

  test('a star ends at a slash, two go on, and names with a dot in front are names', () => {
    expect(chosen('interface/icons/*.blp')).toEqual([names[0], names[2]]);
    expect(chosen('interface/**')).toEqual(names.slice(0, 3));
    expect(chosen('**/*.blp')).toEqual(names.slice(0, 3));
  });

  test('a glob without a slash matches the last part of a name', () => {
    expect(chosen('*.blp')).toEqual(names.slice(0, 3));
    expect(chosen('wow.exe')).toEqual(['Wow.exe']);
    expect(chosen('icons')).toEqual([]);
  });

  test('several globs choose what any of them chooses; none choose nothing', () => {
    expect(chosen('*.mp3', 'wow.*')).toEqual([names[3], names[4]]);
    expect(chosen('*.{mp3,exe}')).toEqual([names[3], names[4]]);
    expect(chosen()).toEqual([]);
  });

  test('characters of regular expressions are themselves', () => {
    expect(nameMatcher(['a+b.(x)'])('a+b.(x)')).toBe(true);
    expect(nameMatcher(['a.b'])('axb')).toBe(false);
  });

  test('names made to be slow to match are not', () => {
    const hostile = ['_'.repeat(1000), 'a/'.repeat(500), 'x/y/'.repeat(250), `${'_.'.repeat(400)}bl`];
    const started = performance.now();
    for (const glob of ['*_*_*.blp', 'interface/icons/*_*_*.blp', '**/*a*/**/*.blp', '**/x/**/y/**/*.blp']) {
      for (const name of hostile) expect(nameMatcher([glob])(name)).toBe(false);
    }
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

test('a glob is told from a name', () => {
  for (const glob of ['*.blp', 'a?c', 'x[0-9]', 'a.{b,c}']) expect(hasGlob(glob)).toBe(true);
  for (const name of ['Interface/Icons/Temp.blp', 'fdid:12', 'a b+c']) expect(hasGlob(name)).toBe(false);
});
