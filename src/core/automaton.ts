import { badPattern, type PatternNode, wordUnits } from './pattern.ts';
import { UnitClasses } from './unit-classes.ts';

/*
 * Matching without going back: a pattern becomes a list of steps, and the set of steps that a name may be at after each of its
 * characters becomes a state, made when it is first met and kept in a table. However the pattern is written, a name costs
 * a look into the table for each of its characters. (Thompson's construction, with the states made as they come, as RE2 does.)
 *
 * Code units that no part of the pattern tells apart share a class, so a row of the table has a cell for each class and one for the end.
 */

/** Steps of a pattern; repeats are written out. */
const maxSteps = 10_000;
/** Cells of the table, and steps of all its states together. When there are more, it is begun anew. */
const maxCells = 1 << 20;
const maxHeld = 1 << 19;
/** Numbers in the table that are no states: no match any more, a match, not known yet. */
const [dead, matched, unknown] = [0, 1, -1];
/** What stands before the next character. */
const [atStart, afterWord, afterOther] = [0, 1, 2];

type Step =
  | { kind: 'set'; set: number; next: number }
  | { kind: 'split'; first: number; second: number }
  | { kind: 'assert'; what: 'start' | 'end' | 'word' | 'noWord'; next: number }
  | { kind: 'match' };

/** A test whether a pattern is found anywhere in a name; case and the direction of slashes do not matter. @throws E_USAGE when it is too large */
export function compilePattern(pattern: PatternNode, text: string): (name: string) => boolean {
  const automaton = new Automaton(new Program(pattern, text));
  return (name) => automaton.test(name);
}

/** A pattern as steps, and its sets of code units as classes. */
class Program {
  readonly steps: Step[] = [{ kind: 'match' }];
  readonly start: number;
  readonly classes: UnitClasses;
  /** The set of word characters, where the pattern asks for them. */
  readonly wordSet: number | undefined;
  readonly #text: string;
  #visits = 0;

  constructor(pattern: PatternNode, text: string) {
    this.#text = text;
    this.classes = new UnitClasses(text);
    if (asksForWords(pattern)) this.wordSet = this.classes.add(wordUnits, false);
    const first = this.#compile(pattern, 0);
    const unit: PatternNode = { kind: 'set', ranges: [], negated: true };
    const anywhere: PatternNode = { kind: 'repeat', item: unit, min: 0, max: Number.POSITIVE_INFINITY };
    this.start = isAnchored(pattern) ? first : this.#compile(anywhere, first);
  }

  /** Writes the steps of a node, last first. @returns where it begins */
  #compile(node: PatternNode, next: number): number {
    this.#visits += 1;
    if (this.#visits > maxSteps) throw badPattern(this.#text, 'it is too large when its repeats are written out');
    if (node.kind === 'set') return this.#add({ kind: 'set', set: this.classes.add(node.ranges, node.negated), next });
    if (node.kind === 'assert') return this.#add({ kind: 'assert', what: node.what, next });
    if (node.kind === 'sequence') return node.items.reduceRight((after, item) => this.#compile(item, after), next);
    if (node.kind === 'repeat') return this.#repeat(node, next);
    const starts = node.items.map((item) => this.#compile(item, next));
    return starts.reduceRight((second, first) => this.#add({ kind: 'split', first, second }));
  }

  #repeat({ item, min, max }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number {
    let start = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop = { kind: 'split', first: 0, second: next } as const satisfies Step;
      start = this.#add(loop);
      this.steps[start] = { ...loop, first: this.#compile(item, start) };
    } else {
      for (let i = min; i < max; i++) {
        start = this.#add({ kind: 'split', first: this.#compile(item, start), second: next });
      }
    }
    for (let i = 0; i < min; i++) start = this.#compile(item, start);
    return start;
  }

  #add(step: Step): number {
    this.steps.push(step);
    return this.steps.length - 1;
  }
}

/** True when a match can only begin where the name does. */
function isAnchored(node: PatternNode): boolean {
  if (node.kind === 'assert') return node.what === 'start';
  if (node.kind === 'choice') return node.items.every(isAnchored);
  return node.kind === 'sequence' && node.items[0] !== undefined && isAnchored(node.items[0]);
}

function asksForWords(node: PatternNode): boolean {
  if (node.kind === 'assert') return node.what === 'word' || node.what === 'noWord';
  if (node.kind === 'repeat') return asksForWords(node.item);
  return node.kind !== 'set' && node.items.some(asksForWords);
}

/** The states of a program, as far as names have asked for them. */
class Automaton {
  readonly #program: Program;
  readonly #classOf: Uint16Array;
  /** Cells of a row: a class each, and the end. */
  readonly #width: number;
  readonly #asserts: boolean;
  #table = new Int32Array(0);
  #states: { steps: readonly number[]; before: number }[] = [];
  #numbers = new Map<string, number>();
  #held = 0;
  /** For each step the last walk that came to it. */
  readonly #seen: Uint32Array;
  #walk = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#classOf = program.classes.classOf;
    this.#width = program.classes.count + 1;
    this.#asserts = program.steps.some(({ kind }) => kind === 'assert');
    this.#seen = new Uint32Array(program.steps.length);
    this.#begin();
  }

  #begin(): void {
    this.#table = new Int32Array(this.#width * 16).fill(unknown);
    this.#states = [];
    this.#numbers = new Map();
    this.#held = 0;
    // The numbers of no state have no rows.
    this.#states.length = matched + 1;
    this.#stateOf([this.#program.start], this.#asserts ? atStart : afterOther);
  }

  test(name: string): boolean {
    const classOf = this.#classOf;
    const width = this.#width;
    let state = matched + 1;
    for (let i = 0; i <= name.length; i++) {
      const unitClass = i < name.length ? classOf[name.charCodeAt(i)]! : width - 1;
      let next = this.#table[state * width + unitClass]!;
      if (next <= matched) {
        if (next === unknown) next = this.#next(state, unitClass);
        if (next <= matched) return next === matched;
      }
      state = next;
    }
    return false;
  }

  /** The state behind a character, found and noted in the table. */
  #next(state: number, unitClass: number): number {
    const from = this.#states[state]!;
    const { steps, isMatch } = this.#follow(from, unitClass);
    if (isMatch) return this.#note(state, unitClass, matched);
    if (steps.length === 0) return this.#note(state, unitClass, dead);
    const before = !this.#asserts ? afterOther : this.#isWord(unitClass) ? afterWord : afterOther;
    if (this.#states.length * this.#width >= maxCells || this.#held > maxHeld) {
      this.#begin();
      return this.#stateOf(steps, before);
    }
    return this.#note(state, unitClass, this.#stateOf(steps, before));
  }

  #note(state: number, unitClass: number, next: number): number {
    this.#table[state * this.#width + unitClass] = next;
    return next;
  }

  #isWord(unitClass: number): boolean {
    const { wordSet, classes } = this.#program;
    return wordSet !== undefined && unitClass < classes.count && classes.isIn(unitClass, wordSet);
  }

  /** Where a character, or the end, leads to from the steps of a state. */
  #follow(
    from: { steps: readonly number[]; before: number },
    unitClass: number,
  ): { steps: number[]; isMatch: boolean } {
    const { steps, classes } = this.#program;
    const isEnd = unitClass === classes.count;
    const border = (from.before === afterWord) !== this.#isWord(unitClass);
    const holds = { start: from.before === atStart, end: isEnd, word: border, noWord: !border };
    this.#walk += 1;
    const seen = this.#seen;
    const open = [...from.steps];
    const after = new Set<number>();
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen[at] === this.#walk) continue;
      seen[at] = this.#walk;
      const step = steps[at]!;
      if (step.kind === 'match') return { steps: [], isMatch: true };
      if (step.kind === 'split') open.push(step.second, step.first);
      else if (step.kind === 'assert') {
        if (holds[step.what]) open.push(step.next);
      } else if (!isEnd && classes.isIn(unitClass, step.set)) after.add(step.next);
    }
    return { steps: [...after].sort((a, b) => a - b), isMatch: false };
  }

  #stateOf(steps: readonly number[], before: number): number {
    const key = `${before} ${steps.join(' ')}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#states.push({ steps, before }) - 1;
    this.#numbers.set(key, number);
    this.#held += steps.length;
    if (this.#states.length * this.#width > this.#table.length) {
      const larger = new Int32Array(this.#table.length * 2).fill(unknown);
      larger.set(this.#table);
      this.#table = larger;
    }
    return number;
  }
}
