import { compilePattern } from './automaton.ts';
import { badPattern, parsePattern } from './pattern.ts';

/*
 * Globs, with the syntax that the shells and picomatch have:
 *
 *   *          any characters but a slash            **        any characters; as a whole part of a name also no part at all
 *   ?          one character but a slash             [a-z]     one of these, [!a-z] none of these
 *   {a,b}      either; {1..20} any of these          @(a|b)    one of these; ?( at most once, +( once or more, *( any times
 *   !glob      what the glob does not match
 */

/** Highest number of alternatives in `{1..n}`. */
const maxSpread = 1000;

/**
 * A test of names against globs: case and the direction of slashes do not matter, and a glob without `/` matches the last part of a name.
 * However a glob is written, the test takes a time that grows with the name alone.
 * @throws E_USAGE for a glob that cannot be used
 */
export function nameMatcher(globs: readonly string[]): (name: string) => boolean {
  return anyOf(globs.map(globTest));
}

/**
 * A test whether any of some regular expressions is found in a name; case and the direction of slashes do not matter.
 * It takes a time that grows with the name alone, so there are no look-aheads, look-behinds and back references.
 * @throws E_USAGE for a pattern that cannot be used
 */
export function patternMatcher(patterns: readonly string[]): (name: string) => boolean {
  return anyOf(patterns.map((pattern) => compilePattern(parsePattern(pattern), pattern)));
}

/** True for text that has a character of a glob in it. */
export function hasGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

function anyOf(tests: readonly ((name: string) => boolean)[]): (name: string) => boolean {
  return tests.length === 1 ? tests[0]! : (name) => tests.some((test) => test(name));
}

function globTest(glob: string): (name: string) => boolean {
  const text = glob.replaceAll('\\', '/').replace(/\/\*\*(?:\/\*\*)+(?=\/|$)/g, '/**');
  const isNegated = /^!(?!\()/.test(text);
  const positive = isNegated ? text.slice(1) : text;
  const anywhere = positive.includes('/') ? '' : '(?:[^]*/)?';
  const test = compilePattern(parsePattern(`^${anywhere}(?:${translate(positive)})$`, glob), glob);
  return isNegated ? (name) => !test(name) : test;
}

/** A part of a glob as a regular expression. */
function translate(glob: string): string {
  let pattern = '';
  for (let at = 0; at < glob.length; ) {
    const piece = stars(glob, at) ?? group(glob, at) ?? characters(glob, at);
    // What ends in `/**` is also the folder itself.
    pattern =
      piece.pattern === below && pattern.endsWith('/')
        ? `${pattern.slice(0, -1)}(?:/${below})?`
        : pattern + piece.pattern;
    at = piece.end;
  }
  return pattern;
}

interface Piece {
  pattern: string;
  end: number;
}

const below = '[^]*';

function stars(glob: string, at: number): Piece | undefined {
  const [run] = /^\*+(?!\()/.exec(glob.slice(at)) ?? [];
  if (run === undefined) return undefined;
  const end = at + run.length;
  const isWhole = (at === 0 || glob[at - 1] === '/') && (end === glob.length || glob[end] === '/');
  if (run.length !== 2 || !isWhole) return { pattern: isWhole ? '[^/]+' : '[^/]*', end };
  return end === glob.length ? { pattern: below, end } : { pattern: `(?:${below}/)?`, end: end + 1 };
}

function group(glob: string, at: number): Piece | undefined {
  if (glob[at] === '{') return braces(glob, at);
  const [kind] = /^[@?+*!](?=\()/.exec(glob.slice(at)) ?? [];
  const end = kind === undefined ? undefined : closing(glob, at + 1, '()');
  if (kind === undefined || end === undefined) return undefined;
  if (kind === '!') throw badPattern(glob, '!(…) is not known; write !GLOB, or use --exclude');
  const choices = split(glob.slice(at + 2, end - 1), '|', '()').map(translate);
  return { pattern: `(?:${choices.join('|')})${kind === '@' ? '' : kind}`, end };
}

function braces(glob: string, at: number): Piece | undefined {
  const end = closing(glob, at, '{}');
  if (end === undefined) return undefined;
  const inner = glob.slice(at + 1, end - 1);
  const choices = spread(inner) ?? split(inner, ',', '{}').map(translate);
  return choices.length > 1 ? { pattern: `(?:${choices.join('|')})`, end } : undefined;
}

/** The alternatives of `{1..20}` and `{a..f}`. */
function spread(text: string): string[] | undefined {
  const [, low, high] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text) ?? [];
  if (low === undefined || high === undefined) {
    const letters = /^([a-z])\.\.([a-z])$/i.exec(text);
    return letters === null ? undefined : [`[${letters.slice(1).sort().join('-')}]`, '[]'];
  }
  const [first, last] = [Number(low), Number(high)].sort((a, b) => a - b) as [number, number];
  if (last - first >= maxSpread) throw badPattern(text, `it stands for more than ${maxSpread} names`);
  const width = /^0\d/.test(low) || /^0\d/.test(high) ? Math.max(low.length, high.length) : 0;
  return Array.from({ length: last - first + 1 }, (_, i) => String(first + i).padStart(width, '0')).concat('[]');
}

/** Behind the bracket that closes the one at `at`, or undefined. */
function closing(text: string, at: number, [open, close]: string | string[]): number | undefined {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text[i] === open) depth += 1;
    else if (text[i] === close) depth -= 1;
    if (depth === 0) return i + 1;
  }
  return undefined;
}

/** The parts between separators that stand in no inner brackets. */
function split(text: string, separator: string, [open, close]: string | string[]): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === open) depth += 1;
    else if (character === close) depth -= 1;
    if (character === separator && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}

function characters(glob: string, at: number): Piece {
  if (glob[at] === '?') return { pattern: '[^/]', end: at + 1 };
  const [set, negation, members] = /^\[([!^]?)(\]?[^\]]*)\]/.exec(glob.slice(at)) ?? [];
  if (set !== undefined && members !== '') {
    const escaped = members!.replace(/[[\]^]/g, '\\$&');
    return { pattern: negation === '' ? `[${escaped}]` : `[^${escaped}/]`, end: at + set.length };
  }
  return { pattern: glob[at]!.replace(/[\^$.*+?()[\]{}|]/g, '\\$&'), end: at + 1 };
}
