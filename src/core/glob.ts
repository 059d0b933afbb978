import { messageOf, PakratError } from './errors.ts';

/*
 * Globs, with the syntax that the shells and picomatch have:
 *
 *   *          any characters but a slash            **        any characters; as a whole part of a name also no part at all
 *   a/**       what is below a, not a itself
 *   ?          one character but a slash             [a-z]     one of these, [!a-z] none of these
 *   {a,b}      either; {1..20} any of these          @(a|b)    one of these; ?(a|b) at most one of these
 *   !glob      what the glob does not match                 a/         all that is below the folder: a/**
 *
 * A glob with groups stands for several without. Each is matched by going back to the last `*` in a part, then to the last `**`:
 * earlier stars lead nowhere else. One on which that takes long is matched by going through it once, with all places of the glob that it may
 * have come to. So a name costs at most its length times that of the globs, however they are written.
 */

/** Characters of a glob, brackets in it, globs without groups that it stands for, and their characters: at most. */
const [maxLength, maxBrackets, maxGlobs, maxTotal] = [10_000, 200, 1000, 500_000];

/** The code of a character, a set of characters, or one of these: `?`, `*`, `**` with its slash, and what ends in `/**`. */
type Step = number | CharacterSet;

/** A set in brackets; of ASCII, which most names are, a table tells. */
interface CharacterSet {
  ascii: Uint8Array;
  all: RegExp;
}

const [any, star, deep, below] = [-1, -2, -3, -4];
const slash = 0x2f;

/**
 * A test of names against globs: case and the direction of slashes do not matter, and a glob without `/` matches the last part of a name.
 * @throws E_USAGE for a glob that cannot be used
 */
export function nameMatcher(globs: readonly string[]): (name: string) => boolean {
  const tests = globs.map(globTest);
  return (name) => tests.some((test) => test(name));
}

/** True for text that has a character of a glob in it. */
export function hasGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

/** Globs in which a mere name stands for the folder of that name as well: for all that is below it. */
export function withFolders(globs: readonly string[]): string[] {
  return globs.flatMap((glob) => (hasGlob(glob) || /^!|[/\\]$/.test(glob) ? [glob] : [glob, `${glob}/`]));
}

/** A text without case and backslashes, as names are compared. A Greek capital has two small letters, by what comes after it. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return /[\\ς]/.test(lower) ? lower.replaceAll('\\', '/').replaceAll('ς', 'σ') : lower;
}

/** A text that is in every name that something matches, whatever its case: other names are passed over without a look at each. */
export interface NeededText {
  /** A regular expression without its flag `i`; it finds ASCII only, so bytes of UTF-8 can be gone through with it. */
  pattern: string;
  /** Names begin with it. */
  isAtStart: boolean;
}

/** What names need for a glob to match them; undefined where there is no such text. */
export function neededText(glob: string): NeededText | undefined {
  const { isNegated, own, isPath } = readGlob(glob);
  const needed = literalOf(own, isPath);
  return isNegated || needed.pattern === '' ? undefined : needed;
}

/**
 * As {@link neededText}, for going through lines of names: where a glob begins with a text, with the longest of its other texts behind that. Each line is looked at
 * once, for a pattern that begins anywhere could begin at every character of it.
 */
export function neededInLine(glob: string): NeededText | undefined {
  const needed = neededText(glob);
  if (needed === undefined) return undefined;
  const { own, isPath } = readGlob(glob);
  const [start = '', ...others] = literalsOf(own);
  if (!isPath || start === '') return needed;
  const texts = others.flatMap(asciiParts);
  const isLongest = needed.isAtStart;
  // The longest is needed as it is; of others a part.
  const first = isLongest ? needed.pattern : patternOf(asciiParts(start)[0] ?? '');
  const second = isLongest ? patternOf(longestOf(texts)) : needed.pattern;
  return {
    pattern: first === '' || second === '' ? needed.pattern : `${first}${anyInLine}${second}`,
    isAtStart: first !== '',
  };
}

/** What stands between two texts in a {@link neededInLine}. */
const anyInLine = '[^\\n]*';

/** The parts of a text that nothing but their own ASCII, of either case, becomes: there is a k, and an i with a dot of its own, that are none. */
function asciiParts(text: string): string[] {
  return text.split(/k/i).map((part) => part.replace(/i+$/i, ''));
}

function longestOf(texts: readonly string[]): string {
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '');
}

/** The texts of which a name needs one for one of the globs to match it; undefined where that is not known of each. */
export function neededTexts(globs: readonly string[]): NeededText[] | undefined {
  const needed = globs.map(neededText);
  return needed.every((one) => one !== undefined) ? needed : undefined;
}

/** A glob without what stands around it. */
function readGlob(glob: string): { isNegated: boolean; own: string; isPath: boolean } {
  const isNegated = glob.startsWith('!');
  const given = isNegated ? glob.slice(1) : glob;
  // As shells complete paths; names do not begin so. A folder is all that is in it.
  const path = given.replace(/^(?:\.[/\\])+/, '');
  const own = /[/\\]$/.test(path) ? `${path}**` : path;
  return { isNegated, own, isPath: /[/\\]/.test(given) };
}

function globTest(glob: string): (name: string) => boolean {
  if (glob.length > maxLength || glob.split(/[({]/).length > maxBrackets) throw badGlob(glob, 'it is too large');
  const [unknown] = /[+*!]\(/.exec(glob) ?? [];
  const instead = unknown === '!(' ? '!GLOB, or use --exclude' : 'the repeats as {a,aa,aaa}, or use --regex';
  if (unknown !== undefined) throw badGlob(glob, `${unknown}…) is not known`, `Write ${instead}.`);
  const { isNegated, own, isPath } = readGlob(glob);
  const text = fold(own);
  const expanded = expand(text, glob);
  if (expanded.join('').length > maxTotal) throw badGlob(glob, 'it is too large');
  const alternatives = expanded.map((one) => stepsOf(one, glob));
  const { pattern, isAtStart } = literalOf(own, isPath);
  const literal = new RegExp(isAtStart ? `^${pattern}` : pattern, 'i');
  return (name) => {
    if (!literal.test(name)) return isNegated;
    const folded = fold(name);
    const start = isPath ? 0 : folded.lastIndexOf('/') + 1;
    return alternatives.some((steps) => matches(steps, folded, start)) !== isNegated;
  };
}

/** The longest part, of ASCII, that every name that a glob matches has in it: most names do not, which takes a tenth of the time to see. */
function literalOf(own: string, isPath: boolean): NeededText {
  const longest = longestOf(literalsOf(own));
  return { pattern: patternOf(longest), isAtStart: isPath && own.replaceAll('\\', '/').startsWith(longest) };
}

/** The parts of a glob that stand for themselves, without slashes at their ends, in their order: the first is what it begins with. */
function literalsOf(own: string): string[] {
  const parts = own.replaceAll('\\', '/').split(/[{@?[].*[})\]]|[*?]|[^ -~]/s);
  const trimmed = parts.map((part) => part.replace(/^\/+|\/+$/g, ''));
  return parts[0]?.startsWith('/') ? ['', ...trimmed] : trimmed;
}

/** The regular expression of a text of ASCII in which the direction of slashes does not matter. */
export function patternOf(text: string): string {
  return text.replace(/[\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('/', '[/\\\\]');
}

function badGlob(glob: string, problem: string, hint?: string): PakratError {
  const shown = glob.length > 80 ? `${glob.slice(0, 80)}…` : glob;
  return new PakratError('E_USAGE', `the glob ${shown} cannot be used: ${problem}`, { hint, data: { glob: shown } });
}

/** The text of ASCII that names begin with, where a needed text says so; of `\\` and `/` it has `/`. */
export function neededStart({ pattern, isAtStart }: NeededText): string {
  const [literal = ''] = isAtStart ? pattern.split(anyInLine, 1) : [];
  return literal.replaceAll('[/\\\\]', '/').replace(/\\(.)/g, '$1');
}

/** The globs without groups that a text stands for. @param glob as a person wrote it, for errors */
function expand(text: string, glob: string): string[] {
  for (const { index, 0: opening } of text.matchAll(/\{|[@?]\(/g)) {
    const start = index + opening.length;
    const parts = split(text, start, opening === '{' ? '{,}' : '(|)');
    if (parts === undefined) continue;
    const end = start + parts.join().length;
    const choices = opening === '{' ? (range(text.slice(start, end)) ?? parts) : parts;
    if (opening === '{' && choices === parts && parts.length === 1) continue;
    if (opening === '?(') choices.push('');
    const tails = expand(text.slice(end + 1), glob);
    const expanded: string[] = [];
    for (const middle of choices.flatMap((choice) => expand(choice, glob))) {
      if (expanded.length + tails.length > maxGlobs) {
        throw badGlob(glob, `it stands for more than ${maxGlobs} globs`, 'Write [a-z] or * in it.');
      }
      for (const tail of tails) expanded.push(text.slice(0, index) + middle + tail);
    }
    return expanded;
  }
  return [text];
}

/** The parts between separators outside of inner brackets, up to the bracket that closes; undefined when none does. */
function split(text: string, from: number, [open, separator, close]: string | string[]): string[] | undefined {
  const parts = [''];
  let depth = 0;
  for (const character of text.slice(from)) {
    if (character === close && depth === 0) return parts;
    depth += Number(character === open) - Number(character === close);
    if (character === separator && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return undefined;
}

/** The choices of `1..20` and `a..f`, or so many of them that they are refused. */
function range(text: string): string[] | undefined {
  const [, low, high] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text) ?? [];
  if (low === undefined || high === undefined)
    return /^[a-z]\.\.[a-z]$/.test(text) ? [`[${text.split('..').sort().join('-')}]`] : undefined;
  const first = Math.min(Number(low), Number(high));
  const count = Math.abs(Number(high) - Number(low)) + 1;
  const width = /^0\d|\.0\d/.test(text) ? Math.max(low.length, high.length) : 0;
  return Array.from({ length: Math.min(count, maxGlobs + 1) }, (_, i) => String(first + i).padStart(width, '0'));
}

function stepsOf(text: string, glob: string): Step[] {
  const path = text.replace(/(?:(?:^|\/)\*\*)+$/, '');
  // A star that is a whole part stands for one character at least.
  const filled = path.replace(/(?<=^|\/)(?!\*\*\/)\*+(?=\/|$)/g, '?*');
  const pieces = filled.matchAll(/(?<=^|\/)\*\*\/|\*+|\[([!^]?)(\][^\]]*|[^\]]+)\]|./gs);
  const steps = Array.from(pieces, ([piece, not, members]): Step => {
    if (members !== undefined) return setOf(`${not && '^'}${members.replace(/[[\]^]/g, '\\$&')}`, glob);
    if (piece === '**/') return deep;
    return piece.startsWith('*') ? star : piece === '?' ? any : piece.charCodeAt(0);
  });
  return path === text ? steps : [...steps, below];
}

function setOf(members: string, glob: string): CharacterSet {
  try {
    const all = new RegExp(`[${members}]`);
    return { ascii: Uint8Array.from({ length: 128 }, (_, code) => Number(all.test(String.fromCharCode(code)))), all };
  } catch (error) {
    throw badGlob(glob, messageOf(error).replace(/^.*\/: /s, ''));
  }
}

function matches(steps: readonly Step[], name: string, start: number): boolean {
  let [at, i] = [0, start];
  let [starAt, starEnd] = [-1, start];
  let [deepAt, deepEnd] = [-1, start];
  for (let tries = 4 * (name.length + steps.length); ; tries--) {
    if (tries < 0) return matchesAlong(steps, name, start);
    const step = steps[at];
    const code = i < name.length ? name.charCodeAt(i) : -1;
    if (step === star) {
      at += 1;
      [starAt, starEnd] = [at, i];
    } else if (step === deep) {
      at += 1;
      [deepAt, deepEnd, starAt] = [at, i, -1];
    } else if (step === undefined ? code < 0 : step === below && (code === slash || i === start)) {
      return true;
    } else if (step !== undefined && code >= 0 && takes(step, code)) {
      at += 1;
      i += 1;
    } else if (starAt >= 0 && starEnd < name.length && name.charCodeAt(starEnd) !== slash) {
      starEnd += 1;
      [at, i] = [starAt, starEnd];
    } else {
      deepEnd = deepAt < 0 ? 0 : name.indexOf('/', deepEnd) + 1;
      if (deepEnd === 0) return false;
      [at, i, starAt] = [deepAt, deepEnd, -1];
    }
  }
}

/** As {@link matches}, along the name once. */
function matchesAlong(steps: readonly Step[], name: string, start: number): boolean {
  let now = new Uint8Array(steps.length + 1);
  let next = new Uint8Array(steps.length + 1);
  const enter = (places: Uint8Array, at: number): void => {
    let place = at;
    places[place] = 1;
    while (steps[place] === star || steps[place] === deep) {
      place += 1;
      places[place] = 1;
    }
  };
  enter(now, 0);
  for (let i = start; i < name.length; i++) {
    const code = name.charCodeAt(i);
    for (const [at, step] of steps.entries()) {
      if (now[at] === 0) continue;
      if (step === below && (code === slash || i === start)) return true;
      // What follows a star may begin at once; what follows `**/` behind a slash only.
      if (step === deep) {
        next[at] = 1;
        if (code === slash) enter(next, at + 1);
      } else if (step === star) {
        if (code !== slash) enter(next, at);
      } else if (takes(step, code)) enter(next, at + 1);
    }
    [now, next] = [next, now];
    next.fill(0);
  }
  return now[steps.length] === 1 || (start === name.length && steps[0] === below);
}

function takes(step: Step, code: number): boolean {
  if (typeof step === 'number' && step >= 0) return step === code;
  if (code === slash || typeof step === 'number') return code !== slash && step === any;
  return code < 128 ? step.ascii[code] === 1 : step.all.test(String.fromCharCode(code));
}
