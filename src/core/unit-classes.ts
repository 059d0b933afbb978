import { badPattern, type Ranges } from './pattern.ts';

/** Code units in the sets of a pattern, each set counted by itself, and classes of them. */
const maxUnits = 1 << 20;
const maxClasses = 1 << 11;

/**
 * Sets of code units, and the classes of units that no set tells apart. Case and the direction of slashes are taken care of here:
 * what means one letter is in one class.
 */
export class UnitClasses {
  /** The class of each code unit. */
  readonly classOf = new Uint16Array(0x10000);
  /** For each class the sets whose members it is of. */
  readonly #holders: number[][] = [[]];
  readonly #negated: boolean[] = [];
  readonly #known = new Map<string, number>();
  readonly #text: string;
  #units = 0;

  /** @param text the pattern, for errors */
  constructor(text: string) {
    this.#text = text;
  }

  /** Number of classes. */
  get count(): number {
    return this.#holders.length;
  }

  /** The number of a set, added when it is new. @throws E_USAGE when there are too many units or classes */
  add(ranges: Ranges, negated: boolean): number {
    const key = `${negated} ${ranges.join(' ')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const set = this.#negated.length;
    this.#known.set(key, set);
    this.#negated.push(negated);
    const parted = new Map<number, number>();
    const units = closure(ranges);
    this.#units += units.size;
    for (const unit of units) {
      const old = this.classOf[unit]!;
      let own = parted.get(old);
      if (own === undefined) {
        own = this.#holders.push([...this.#holders[old]!, set]) - 1;
        parted.set(old, own);
      }
      this.classOf[unit] = own;
    }
    if (this.#units > maxUnits || this.count > maxClasses) {
      throw badPattern(this.#text, 'it tells too many characters apart');
    }
    return set;
  }

  /** True when the units of a class are in a set. */
  isIn(unitClass: number, set: number): boolean {
    return this.#holders[unitClass]!.includes(set) !== this.#negated[set];
  }
}

/** The units of some ranges, with those that differ from them by case or by the direction of a slash only. */
function closure(ranges: Ranges): Set<number> {
  const units = new Set<number>();
  for (const [first, last] of ranges) {
    for (let unit = first; unit <= last; unit++) {
      units.add(unit);
      for (const same of unit < 0x80 ? variantsOf(unit) : (variantsBeyondAscii().get(unit) ?? [])) units.add(same);
    }
  }
  return units;
}

let beyondAscii: Map<number, number[]> | undefined;

/** What {@link variantsOf} says of the units beyond ASCII: of most it says nothing. Made when it is first asked for. */
function variantsBeyondAscii(): Map<number, number[]> {
  if (beyondAscii === undefined) {
    const entries = Array.from({ length: 0x10000 - 0x80 }, (_, i) => [i + 0x80, variantsOf(i + 0x80)] as const);
    beyondAscii = new Map(entries.filter(([, same]) => same.length > 0));
  }
  return beyondAscii;
}

function variantsOf(unit: number): number[] {
  if (unit === 0x2f || unit === 0x5c) return [0x2f, 0x5c];
  const letter = String.fromCharCode(unit);
  const [upper, lower] = [letter.toUpperCase(), letter.toLowerCase()];
  if (upper === lower) return [];
  const others = [upper, lower, upper.toLowerCase()].filter((other) => other.length === 1);
  // A letter beyond ASCII is never the same as one within: the Kelvin sign is no k.
  return others.map((other) => other.charCodeAt(0)).filter((other) => other < 0x80 === unit < 0x80);
}
