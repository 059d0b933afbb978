import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import picomatch from 'picomatch';
import { hasGlob, nameMatcher, neededInLine, neededText, withFolders } from '../../src/core/glob.ts';
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
    expect(['a\\B/c\\d.blp', 'É.blp'].filter(nameMatcher(['a/b/*/*.BLP', 'é.*']))).toEqual(['a\\B/c\\d.blp', 'É.blp']);
  });

  test.each([
    ['İx', 'İx'],
    ['\u212ax', '\u212aX'],
    ['\u2126', '\u2126'],
    ['ΑΣ*', 'ασα'],
    ['*ΑΣ', 'βας'],
  ])('letters beyond ASCII are themselves in either case: %s, %s', (glob, name) => {
    expect(nameMatcher([glob])(name)).toBe(true);
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

  test('as a whole part of a name, a star is a character at least, and two stars are also no part', () => {
    expect(['a', 'a/', 'a/b', 'a/b/c', 'ab'].filter(nameMatcher(['a/*']))).toEqual(['a/b']);
    const below = ['a', 'a/b', 'A/b/c', 'ab', 'x/a/b'];
    for (const glob of ['a/**', 'a/', 'a\\']) expect(below.filter(nameMatcher([glob]))).toEqual(['a/b', 'A/b/c']);
    expect(below.filter(nameMatcher(['*/b/', '!a/']))).toEqual(['a', 'A/b/c', 'ab', 'x/a/b']);
    expect(below.filter(nameMatcher(withFolders(['a'])))).toEqual(['a', 'a/b', 'A/b/c']);
    expect(withFolders(['!a', 'a/', '*a'])).toEqual(['!a', 'a/', '*a']);
    expect(['a', 'a/', 'a/b', 'a/b/c', 'ab'].filter(nameMatcher(['a/**']))).toEqual(['a/', 'a/b', 'a/b/c']);
    expect(['x.pak', 'x.pak/a'].filter(nameMatcher(['x.pak/**', 'x.*/**']))).toEqual(['x.pak/a']);
    expect(['a/c', 'a/b/c', 'a/b/b/c', 'abc', 'a/bc'].filter(nameMatcher(['a/**/c']))).toEqual([
      'a/c',
      'a/b/c',
      'a/b/b/c',
    ]);
  });

  test('groups in groups', () => {
    expect(chosen('**/t{a..f}{0..20}mp.blp', '**/@(te|so{u,n}nd/music/theme)?(mp).*')).toEqual([names[0], names[3]]);
    expect(['x', 'xa', 'xb1', 'xbc', 'xb', '{x}'].filter(nameMatcher(['x?(a|b@(1|c))', '{x}']))).toEqual([
      'x',
      'xa',
      'xb1',
      'xbc',
      '{x}',
    ]);
  });

  test.each(['[a', 'a{b', 'a{b}', '@(ab', 'a]b}c)'])(
    'brackets that make no group or set are characters: %s',
    (glob) => {
      expect([glob, 'ab', 'a'].filter(nameMatcher([glob]))).toEqual([glob]);
    },
  );

  const tooMany = ['{1..1000}{1,2}', '{1..1000}'.repeat(20), '{0..999999999}', '{a,b}'.repeat(10)];
  const tooLarge = ['[b]'.repeat(20_000), '@('.repeat(5000), '{a,'.repeat(3000), `{1..999}${'[a]'.repeat(3000)}`];
  test.each(['[z-a]', ...tooMany, ...tooLarge])('what cannot be used says so at once: %#', (glob) => {
    const started = performance.now();
    expect(codeOf(() => nameMatcher([glob]))).toBe('E_USAGE');
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test.each([
    ['+(a)', '{a,aa,aaa}'],
    ['x*(a|b)', '--regex'],
    ['!(a)', '!GLOB'],
    ['a!(b)', '--exclude'],
  ])('%s is refused with what to write instead', (glob, instead) => {
    expect(() => nameMatcher([glob])).toThrow(
      expect.objectContaining({ code: 'E_USAGE', hint: expect.stringContaining(instead) }),
    );
  });

  test('means what picomatch says it means', () => {
    const groups = ['{a,b}', '{a*,_}', '{b,a{c,1}}', '{1..3}', '@(a|bc)', '?(a)'];
    const wild = ['*', '**', '?', '/', '/**/', '/*', '[ab]', '[^a]', '[a-c1]', ...groups];
    const pieces = [...wild, 'a', 'b', '.blp', '_', '1', 'é'];
    // Left out is what no name has (empty parts, `.` and `..`), and what picomatch itself is of two minds about: `*/**`, `***`, `**{a,b}`,
    // `**@(a)`, `**/?(a)`, `(a)?`, a dot at the end.
    const isUsual = (text: string): boolean =>
      !/\/\/|^\/|\/$|[*?\]})]\/\*\*$|\*\*[*{@]|[*})]\*\*|\*\*\/\**[?*]\(|\)[?*+]/.test(text) &&
      !/(^|\/)\.{1,2}(\/|$)|\.$/.test(text);
    const pairs = pieces.flatMap((first) => pieces.map((second) => first + second));
    const longer = fc.sample(fc.array(fc.constantFrom(...pieces), { minLength: 3, maxLength: 6 }), {
      numRuns: 300,
      seed: 7,
    });
    const part = fc.string({ unit: fc.constantFrom(...'aabbcABC1_.é'), minLength: 1, maxLength: 5 });
    const paths = fc
      .sample(fc.array(part, { minLength: 1, maxLength: 4 }), { numRuns: 60, seed: 7 })
      .map((parts) => parts.join('/'))
      .filter(isUsual);
    let found = 0;
    const wrong: object[] = [];
    for (const glob of [...pieces, ...pairs, ...longer.map((some) => some.join(''))].filter(isUsual)) {
      // For picomatch a folder is below itself; names are those of files.
      const oracle = picomatch(glob.replace(/\/\*\*$/, '/**/*'), { nocase: true, dot: true });
      const last = (path: string): string => (glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1));
      const test = nameMatcher([glob]);
      for (const path of paths) {
        const expected = oracle(last(path));
        if (test(path) !== expected) wrong.push({ glob, path, expected });
        found += Number(expected);
      }
    }
    expect(wrong).toEqual([]);
    expect(found).toBeGreaterThan(500);
  });

  test.each([
    ['stars', '*a'.repeat(300)],
    ['parts', `${'**/*a*/'.repeat(200)}a`],
    ['groups', `${'{a*,*a}'.repeat(8)}b`],
    ['numbers', '{1..30}*{1..30}'],
    ['what follows a star', `*a${'?'.repeat(60)}[bc]`],
  ])('a glob that is made to be slow to match is not: %s', (_, glob) => {
    const hostile = ['_'.repeat(1000), 'a/'.repeat(500), 'aab'.repeat(300), 'a'.repeat(2000), '12'.repeat(500)];
    const started = performance.now();
    const test = nameMatcher([glob]);
    for (const name of hostile) expect(test(`${name}12ab!`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('names that are made to be slow to match are not', () => {
    const globs = ['*_*_*.blp', 'interface/icons/*_*_*.blp', '**/*a*/**/*.blp', '**/x/**/y/**/*.blp', '*a*a*a*a*a.'];
    const hostile = ['_'.repeat(60_000), 'x/y/'.repeat(15_000), '_.'.repeat(30_000), 'a'.repeat(60_000)];
    const started = performance.now();
    for (const test of globs.map((glob) => nameMatcher([glob]))) {
      for (const name of hostile) expect(test(`${name}_/a.blp!`)).toBe(false);
    }
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('a name of many folders costs its length, and is still matched rightly', () => {
    const started = performance.now();
    const test = nameMatcher(['**/a*b/**/*a*c/**/d*/e']);
    const folders = 'ab/'.repeat(20_000);
    expect([test(`${folders}e`), test(`${folders}ac/${folders}d/f`)]).toEqual([false, false]);
    expect([test(`${folders}xac/${folders}d/e`), test(`ab/ac/${folders}dd/e`)]).toEqual([true, true]);
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

test('a glob is told from a name', () => {
  for (const glob of ['*.blp', 'a?c', 'x[0-9]', 'a.{b,c}']) expect(hasGlob(glob)).toBe(true);
  for (const name of ['Interface/Icons/Temp.blp', 'fdid:12', 'a b+c']) expect(hasGlob(name)).toBe(false);
});

test('every name that a glob matches has the text that it needs; where there is none no name is passed over', () => {
  const needs = (glob: string) => neededText(glob);
  expect(needs('World/maps/*_5791*')).toEqual({ pattern: 'World[/\\\\]maps', isAtStart: true });
  expect(needs('*_5791*')).toEqual({ pattern: '_5791', isAtStart: false });
  expect(needs('maps')).toEqual({ pattern: 'maps', isAtStart: false });
  for (const glob of ['*', '!*.blp', '{a,b}', '**/[a-c]?', 'ä*']) expect(needs(glob)).toBeUndefined();
});

test('in a line of a list the text is found that a glob begins with, and behind it the longest of its others', () => {
  const needs = (glob: string) => neededInLine(glob);
  expect(needs('world/maps/zone034/*5791*')).toEqual({
    pattern: 'world[/\\\\]maps[/\\\\]zone034[^\\n]*5791',
    isAtStart: true,
  });
  expect(needs('a/*longer*')).toEqual({ pattern: 'a[^\\n]*longer', isAtStart: true });
  for (const glob of ['*_5791*', 'maps', '*/a/*longest*', 'World/maps/*'])
    expect(needs(glob)).toEqual(neededText(glob));
  for (const glob of ['*', '!*.blp', '{a,b}', 'ä*']) expect(needs(glob)).toBeUndefined();
});

test('a line has the text that a glob needs wherever the glob matches its name', () => {
  const parts = ['ab', 'k', 'i', 'İ', '\u212a', 'x.', '/', 'Ab', 'ck', '5'];
  const names = Array.from({ length: 4000 }, (_, i) => {
    const mixed = Math.imul(i + 1, 0x9e3779b1) >>> 0;
    return Array.from({ length: 5 }, (_, at) => parts[(mixed >>> (6 * at)) % parts.length]).join('');
  });
  const globs = [
    'ab/*',
    'a*k*',
    'ab*ck*5',
    'k*ab*x',
    'i*5',
    'a?{b,c}*i/*',
    'ab/**/i*k',
    '[a-c]b*5',
    'x./*ab*',
    'AB*/*K5',
  ];
  let found = 0;
  for (const glob of globs) {
    const needed = neededInLine(glob);
    if (needed === undefined) continue;
    const matches = nameMatcher([glob]);
    const search = new RegExp(needed.isAtStart ? `;${needed.pattern}` : needed.pattern, 'i');
    for (const name of names) {
      if (!matches(name)) continue;
      found += 1;
      // As it is gone through: a character for each byte.
      expect([glob, name, search.test(Buffer.from(`1;${name}`).toString('latin1'))]).toEqual([glob, name, true]);
    }
  }
  expect(found).toBeGreaterThan(100);
});
