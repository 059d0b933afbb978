import { messageOf, PakratError } from './errors.ts';

/*
 * Regular expressions as a tree, for automaton.ts, which matches them in a time that grows with the name alone.
 * What is read is the syntax of JavaScript without what no automaton can do: look-ahead, look-behind, back references.
 */

/** Code units, first and last of each range; in any order, ranges may overlap. */
export type Ranges = readonly (readonly [first: number, last: number])[];

/** A part of a pattern. */
export type PatternNode =
  | { kind: 'set'; ranges: Ranges; negated: boolean }
  | { kind: 'sequence'; items: PatternNode[] }
  | { kind: 'choice'; items: PatternNode[] }
  | { kind: 'repeat'; item: PatternNode; min: number; max: number }
  | { kind: 'assert'; what: 'start' | 'end' | 'word' | 'noWord' };

/** Longest text of a pattern, and how deep groups may nest in it. */
const maxLength = 40_000;
const maxDepth = 100;
/** Highest count in `{n,m}`. */
const maxRepeat = 1000;
const lastUnit = 0xffff;

/** The code units of `\d`, `\w` and `\s`. */
const digits: Ranges = [[0x30, 0x39]];
/** See {@link digits}. */
export const wordUnits: Ranges = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
const spaces: Ranges = [
  ...([9, 10, 11, 12, 13, 0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff] as const).map(
    (unit) => [unit, unit] as const,
  ),
  [0x2000, 0x200a],
];
const lineEnds: Ranges = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const classes: Readonly<Record<string, Ranges>> = { d: digits, w: wordUnits, s: spaces };
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

/**
 * Reads a regular expression.
 * @param shown what a person wrote, for errors
 * @throws E_USAGE for one that JavaScript would not take, that has what cannot be matched in bounded time, or that is too long
 */
export function parsePattern(text: string, shown = text): PatternNode {
  if (text.length > maxLength) throw badPattern(shown, `it is longer than ${maxLength} characters`);
  try {
    new RegExp(text);
  } catch (error) {
    throw badPattern(shown, messageOf(error).replace(/^.*\/: /s, ''));
  }
  return new PatternParser(text, shown).parse();
}

/** The error for a pattern that cannot be used. */
export function badPattern(text: string, problem: string): PakratError {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return new PakratError('E_USAGE', `the pattern ${JSON.stringify(shown)} cannot be used: ${problem}`, {
    hint: 'Patterns are regular expressions without look-ahead, look-behind and back references.',
    data: { pattern: shown },
  });
}

/** Every code unit that is in none of the ranges. */
function complement(ranges: Ranges): Ranges {
  const outside: [number, number][] = [];
  let next = 0;
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    if (first > next) outside.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  if (next <= lastUnit) outside.push([next, lastUnit]);
  return outside;
}

const one = (unit: number): Ranges => [[unit, unit]];
const setOf = (ranges: Ranges, negated = false): PatternNode => ({ kind: 'set', ranges, negated });

/** Goes along a text that JavaScript has taken as a regular expression: only what it allows needs to be told apart. */
class PatternParser {
  readonly #text: string;
  readonly #shown: string;
  #at = 0;
  #depth = 0;

  constructor(text: string, shown: string) {
    this.#text = text;
    this.#shown = shown;
  }

  parse(): PatternNode {
    return this.#choice();
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #choice(): PatternNode {
    const items = [this.#sequence()];
    while (this.#take('|')) items.push(this.#sequence());
    return items.length === 1 ? items[0]! : { kind: 'choice', items };
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = [];
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at]!)) items.push(this.#repeated());
    return { kind: 'sequence', items };
  }

  #repeated(): PatternNode {
    const item = this.#atom();
    const [token, simple, low, comma, high] =
      /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.#text.slice(this.#at)) ?? [];
    if (token === undefined || item.kind === 'assert') return item;
    this.#at += token.length;
    const min = low === undefined ? (simple === '+' ? 1 : 0) : Number(low);
    const most = low === undefined ? simple !== '?' : comma === ',' && high === '';
    const max = most ? Number.POSITIVE_INFINITY : low === undefined ? 1 : Number(high || low);
    if (min > maxRepeat || (max !== Number.POSITIVE_INFINITY && max > maxRepeat)) {
      throw badPattern(this.#shown, `it repeats something more than ${maxRepeat} times`);
    }
    return { kind: 'repeat', item, min, max };
  }

  #atom(): PatternNode {
    if (this.#take('(')) return this.#group();
    if (this.#take('^')) return { kind: 'assert', what: 'start' };
    if (this.#take('$')) return { kind: 'assert', what: 'end' };
    if (this.#take('.')) return setOf(lineEnds, true);
    if (this.#take('[')) return this.#set();
    if (this.#take('\\b')) return { kind: 'assert', what: 'word' };
    if (this.#take('\\B')) return { kind: 'assert', what: 'noWord' };
    const [, outside] = /^\\([DWS])/.exec(this.#text.slice(this.#at, this.#at + 2)) ?? [];
    if (outside === undefined) return setOf(this.#units());
    this.#at += 2;
    return setOf(classes[outside.toLowerCase()]!, true);
  }

  #group(): PatternNode {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw badPattern(this.#shown, `its groups nest deeper than ${maxDepth}`);
    const [head] = /^\?(?::|<[^=!>][^>]*>)/.exec(this.#text.slice(this.#at, this.#at + 200)) ?? [];
    if (head !== undefined) this.#at += head.length;
    else if (this.#text[this.#at] === '?') throw badPattern(this.#shown, 'it looks ahead or behind, or sets flags');
    const inner = this.#choice();
    this.#take(')');
    this.#depth -= 1;
    return inner;
  }

  #set(): PatternNode {
    const negated = this.#take('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.#take(']')) {
      const from = this.#units(true);
      const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']' && isOne(from);
      if (!isRange) {
        ranges.push(...from);
        continue;
      }
      this.#at += 1;
      const to = this.#units(true);
      // As in JavaScript: [a-\d] is an `a`, a dash and the digits.
      if (isOne(to)) ranges.push([from[0]![0], to[0]![0]]);
      else ranges.push(...from, ...one(0x2d), ...to);
    }
    return setOf(ranges, negated);
  }

  /** The code units that one character, or what stands for some, means. */
  #units(inSet = false): Ranges {
    const character = this.#text[this.#at]!;
    this.#at += 1;
    if (character !== '\\') return one(character.charCodeAt(0));
    const escaped = this.#text[this.#at]!;
    this.#at += 1;
    const known = classes[escaped.toLowerCase()];
    if (known !== undefined) return escaped < 'a' ? complement(known) : known;
    if (inSet && escaped === 'b') return one(8);
    const [, hex] =
      /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(this.#text.slice(this.#at - 1, this.#at + 4))?.filter(Boolean) ??
      [];
    if (hex !== undefined) {
      this.#at += hex.length;
      return one(Number.parseInt(hex, 16));
    }
    const control = /^0\d/.test(this.#text.slice(this.#at - 1)) ? undefined : controls[escaped];
    if (control !== undefined) return one(control);
    if (/[a-z0-9]/i.test(escaped)) throw badPattern(this.#shown, `\\${escaped} is not known`);
    return one(escaped.charCodeAt(0));
  }
}

function isOne(ranges: Ranges): boolean {
  return ranges.length === 1 && ranges[0]![0] === ranges[0]![1];
}
