import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { patternMatcher } from '../../src/core/glob.ts';
import { codeOf } from '../support/thrown-code.ts';

const finds = (pattern: string, name: string): boolean => patternMatcher([pattern])(name);

/** Regular expressions of the kind that people write, over few letters so that they often match. */
const pattern: fc.Arbitrary<string> = fc.letrec<{ node: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    fc.constantFrom(
      ...'abcAB019_ .',
      '\\.',
      '\\d',
      '\\w',
      '\\W',
      '\\s',
      '\\b',
      '\\B',
      '[ab]',
      '[^ab]',
      '[a-c0-9]',
      '[^\\w.]',
    ),
    fc.constantFrom(
      '^',
      '$',
      '[\\W_]',
      '\\x61',
      '\\u0062',
      'é',
      '[à-ü]',
      '[^]',
      'a{2}',
      'b{1,3}',
      'c{2,}',
      '{',
      ']',
      '-',
      '[a-]',
    ),
    fc.constantFrom('.*', 'a+', 'b?', '.+?', '[ab]*?'),
    { arbitrary: tie('node').map((inner) => `(${inner})`), weight: 2 },
    { arbitrary: tie('node').map((inner) => `(?:${inner})*`), weight: 2 },
    { arbitrary: tie('node').map((inner) => `(?<n${inner.length}>${inner}){1,2}`), weight: 1 },
  ),
  node: fc
    .array(fc.oneof({ maxDepth: 2 }, tie('atom'), tie('atom')), { maxLength: 4 })
    .chain((items) => fc.constantFrom(items.join(''), items.join('|'))),
})).node;
const name = fc.string({ unit: fc.constantFrom(...'abcABC019_-. éÉ\n{]'), maxLength: 8 });

describe('patternMatcher', () => {
  test('finds what the regular expressions of JavaScript find, case apart', () => {
    let found = 0;
    fc.assert(
      fc.property(pattern, fc.array(name, { maxLength: 8 }), (text, names) => {
        let regExp: RegExp;
        try {
          regExp = new RegExp(text, 'i');
        } catch {
          expect(codeOf(() => patternMatcher([text]))).toBe('E_USAGE');
          return;
        }
        const test = patternMatcher([text]);
        for (const each of names) {
          found += regExp.test(each) ? 1 : -1;
          expect([text, each, test(each)]).toEqual([text, each, regExp.test(each)]);
        }
      }),
      { numRuns: 1500 },
    );
    expect(Math.abs(found)).toBeLessThan(8 * 1500 * 0.45);
  });

  test('is found anywhere in a name, whatever its case and slashes', () => {
    expect(finds('icons/inv_', 'Interface\\Icons\\INV_axe.blp')).toBe(true);
    expect(finds('^icons', 'interface/icons/a.blp')).toBe(false);
    expect(finds('\\d{3}\\.blp$', 'a/axe_012.BLP')).toBe(true);
    expect(finds('\\bicons\\b', 'interface/icons/x')).toBe(true);
    expect(finds('[^/]+/x', 'icons\\x')).toBe(true);
    expect(patternMatcher(['^a', 'b$'])('xb')).toBe(true);
    expect(patternMatcher([])('xb')).toBe(false);
  });

  test.each(['(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(a)\\1', '(?<n>a)\\k<n>', '\\p{L}', '(', 'a{2,1}', 'a**', '[z-a]'])(
    '%s is refused, not taken for something else',
    (text) => expect(codeOf(() => patternMatcher([text]))).toBe('E_USAGE'),
  );

  test.each([
    ['((((a{1000}){1000}){1000}){1000})', 'repeats in repeats'],
    ['(((((){1000}){1000}){1000}){1000})', 'repeats of nothing'],
    ['a{1001}', 'a count too high'],
    ['('.repeat(500) + ')'.repeat(500), 'groups in groups'],
    ['a'.repeat(50_000), 'a long text'],
    [Array.from({ length: 400 }, (_, i) => `[\\u0100-\\u${(0x9000 + i).toString(16)}]`).join(''), 'large sets'],
  ])('a pattern of endless work is refused at once: %#', (text) => {
    const started = performance.now();
    expect(codeOf(() => patternMatcher([text]))).toBe('E_USAGE');
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test.each(['(a+)+$', '^(a|a)*$', '(a|aa)+$', '(.*a){20}$', '(a?){40}a{40}$', '.*a.{14}[bc]$', '(\\w+\\s?)+$'])(
    'a pattern that would hang one that goes back is matched at once: %s',
    (text) => {
      const started = performance.now();
      const test = patternMatcher([text]);
      expect(test(`${'a'.repeat(2000)}!`)).toBe(false);
      expect(test(`${'ab'.repeat(1000)}!`)).toBe(false);
      expect(performance.now() - started).toBeLessThan(2000);
    },
  );

  test('a table that is full is begun anew, and nothing is lost', () => {
    const text = '^[ab]*a[ab]{40}$';
    const test = patternMatcher([text]);
    const slow = new RegExp(text);
    let seed = 7;
    for (let i = 0; i < 2000; i++) {
      let each = '';
      for (let k = 0; k < 80; k++) {
        seed ^= seed << 13;
        seed ^= seed >>> 17;
        seed ^= seed << 5;
        each += seed & 0x4000 ? 'a' : 'b';
      }
      if (test(each) !== slow.test(each)) throw new Error(each);
    }
  });
});
