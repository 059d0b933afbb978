import { HashSet, textHash } from '../../core/tables/hash-set.ts';

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
  /** Of those before: names that their owners have as they are in lower case, which is what most are. */
  readonly #plain = new HashSet();
  /** All others, and each with its owner, where that may take it again. */
  readonly #owned = new HashSet();
  readonly #isOnce: boolean;

  /** @param isOnce no owner takes a name again: who had one that is forgotten need not be known */
  constructor(isOnce = false) {
    this.#isOnce = isOnce;
  }

  take(name: string, owner: string): Taking {
    const key = name.toLowerCase();
    const known = this.#exact.get(key);
    if (known !== undefined) return known === owner && !this.#isOnce ? 'again' : { other: known };
    const before = this.#takenBefore(key, owner);
    if (before !== 'new') return before;
    if (this.#exact.size === mostExact) this.#forget();
    this.#exact.set(key, owner);
    return 'new';
  }

  /** Gives memory back: no name can be taken any more. */
  close(): void {
    this.#plain.close();
    this.#owned.close();
  }

  #takenBefore(key: string, owner: string): Taking {
    if (this.#plain.size === 0 && this.#owned.size === 0) return 'new';
    const hash = textHash(key);
    if (this.#plain.has(...hash)) return owner === key && !this.#isOnce ? 'again' : { other: key };
    if (!this.#owned.has(...hash)) return 'new';
    return this.#owned.has(...textHash(ownedName(key, owner))) ? 'again' : { other: undefined };
  }

  #forget(): void {
    for (const [key, owner] of this.#exact) {
      if (owner === key) this.#plain.add(...textHash(key));
      else {
        this.#owned.add(...textHash(key));
        if (!this.#isOnce) this.#owned.add(...textHash(ownedName(key, owner)));
      }
    }
    this.#exact.clear();
  }
}

/** No name has a NUL. */
function ownedName(key: string, owner: string): string {
  return `${key}\0${owner}`;
}
