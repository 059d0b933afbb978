import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import picomatch from 'picomatch';
import { hasGlob, nameMatcher } from '../../src/core/glob.ts';
import { codeOf } from '../support/thrown-code.ts';

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

  test('an exclamation mark in front turns a glob round', () => {
    expect(chosen('!*.blp')).toEqual([names[3], names[4]]);
  });

  test('numbers and letters from one to another', () => {
    expect(['a7', 'a12', 'a13', 'a1'].filter(nameMatcher(['a{7..12}']))).toEqual(['a7', 'a12']);
    expect(['a07', 'a12', 'a7'].filter(nameMatcher(['a{07..12}']))).toEqual(['a07', 'a12']);
    expect(['xa', 'xc', 'xd'].filter(nameMatcher(['x{a..c}']))).toEqual(['xa', 'xc']);
  });

  test.each(['[z-a]', '{1..5000}', 'a!(b)', '[b]'.repeat(20_000)])('what cannot be used says so: %#', (glob) => {
    expect(codeOf(() => nameMatcher([glob]))).toBe('E_USAGE');
  });

  test('means what picomatch says it means', () => {
    const wild = ['*', '**', '?', '/', '/**/', '/*', '[ab]', '[^a]', '[a-c1]', '{a,b}', '{a*,_}', '{b,a{c,1}}'];
    const piece = fc.constantFrom(...wild, 'a', 'b', 'c', '.', '.blp', '_', '1', 'é');
    const glob = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    const part = fc.string({ unit: fc.constantFrom(...'abcABC1_.é'), minLength: 1, maxLength: 5 });
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    // What no name has is left out (empty parts, `.` and `..`), and what picomatch itself is of two minds about: `*/**`, `***`, `**{a,b}`, a dot at the end.
    const isUsual = (text: string): boolean =>
      !/\/\/|^\/|\/$|[*?\]}]\/\*\*$|\*\*[*{]|[*}]\*\*/.test(text) && !/(^|\/)\.{1,2}(\/|$)|\.$/.test(text);
    let found = 0;
    fc.assert(
      fc.property(
        glob.filter(isUsual),
        fc.array(path.filter(isUsual), { minLength: 4, maxLength: 8 }),
        (text, paths) => {
          const test = nameMatcher([text]);
          const oracle = picomatch(text, { nocase: true, dot: true });
          for (const each of paths) {
            const expected = oracle(text.includes('/') ? each : each.slice(each.lastIndexOf('/') + 1));
            found += Number(expected);
            expect([text, each, test(each)]).toEqual([text, each, expected]);
          }
        },
      ),
      { numRuns: 3000 },
    );
    expect(found).toBeGreaterThan(500);
  });

  test('globs and names made to be slow to match are not', () => {
    const hostile = [
      '_'.repeat(1000),
      'a/'.repeat(500),
      'x/y/'.repeat(250),
      `${'_.'.repeat(400)}bl`,
      'a'.repeat(60_000),
    ];
    const globs = ['*_*_*.blp', 'interface/icons/*_*_*.blp', '**/*a*/**/*.blp', '**/x/**/y/**/*.blp', '+(+(a|_)|a)b'];
    const started = performance.now();
    for (const glob of [...globs, `${'*a'.repeat(15)}b`, `${'**/*a*/'.repeat(15)}b`, `${'{a*,*a}'.repeat(15)}b`]) {
      const test = nameMatcher([glob]);
      for (const name of hostile) expect(test(name)).toBe(false);
    }
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

test('a glob is told from a name', () => {
  for (const glob of ['*.blp', 'a?c', 'x[0-9]', 'a.{b,c}']) expect(hasGlob(glob)).toBe(true);
  for (const name of ['Interface/Icons/Temp.blp', 'fdid:12', 'a b+c']) expect(hasGlob(name)).toBe(false);
});
