import { randomInt } from 'node:crypto';
import { seededHash } from '../../core/hash.ts';
import { HashTags } from '../../core/tables/hash-tags.ts';

/** Names that are kept as they are. As texts, three million take hundreds of megabytes. */
const mostExact = 1 << 12;

/** What became of a name: it is new, was taken by the same before, or by another, whose name may be forgotten by then. */
export type Taking = 'new' | 'again' | { other: string | undefined };

/**
 * Names of files of which no two are to differ by case only, and who has each. The last ones are kept as they are, those before as hashes of 64 bits: two names
 * that differ are taken for one as good as never, and then one of them is refused; two that are one are always found.
 */
export class TakenNames {
  /** By the name in lower case: who has it. */
  readonly #exact = new Map<string, string>();
  /** Those before, and a number for who has each: 0 where that is the name in lower case, as most are, or is not asked for. */
  readonly #before = new HashTags();
  /** Nobody can make names that all have one hash, for these are not known to them. */
  readonly #seeds = [randomInt(2 ** 32), randomInt(2 ** 32)] as const;
  readonly #isOnce: boolean;

  /** @param isOnce no owner takes a name again: who had one that is forgotten need not be known */
  constructor(isOnce = false) {
    this.#isOnce = isOnce;
  }

  take(name: string, owner: string): Taking {
    const key = name.toLowerCase();
    const known = this.#exact.get(key);
    if (known !== undefined) return known === owner && !this.#isOnce ? 'again' : { other: known };
    const before = this.#before.tagOf(...this.#hash(key));
    if (before !== undefined) {
      if (this.#isOnce) return { other: undefined };
      return before === this.#ownerTag(key, owner) ? 'again' : { other: before === 0 ? key : undefined };
    }
    if (this.#exact.size === mostExact) this.#forget();
    this.#exact.set(key, owner);
    return 'new';
  }

  /** Gives memory back: no name can be taken any more. */
  close(): void {
    this.#before.close();
  }

  #forget(): void {
    for (const [key, owner] of this.#exact) {
      this.#before.add(...this.#hash(key), this.#isOnce ? 0 : this.#ownerTag(key, owner));
    }
    this.#exact.clear();
  }

  #hash(key: string): [number, number] {
    return [seededHash(key, this.#seeds[0]), seededHash(key, this.#seeds[1])];
  }

  #ownerTag(key: string, owner: string): number {
    return owner === key ? 0 : Math.max(1, seededHash(owner, this.#seeds[0]));
  }
}
