import { breathe } from '../core/breathe.ts';
import type { Store } from '../store/store.ts';
import type { UncheckedObject, VerifyResult } from '../verify/verify-result.ts';
import type { Finding } from './check-store.ts';
import { type Damage, type FetchedDamage, forgetDamage, needsFetch } from './damage.ts';
import { isHeldAgain } from './repair-store.ts';

/** Damaged entries that are forgotten in one transaction. */
const forgetAtOnce = 256;

/** One run over a store: adds up what is found, and takes back at once what turns out to be damaged. */
export class VerifyRun {
  readonly result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  readonly damages: Damage[] = [];
  /** Archives that could not be checked, by their paths. */
  readonly unchecked = new Map<string, UncheckedObject>();
  /** Paths of whole objects that were asked for, and that no host has. */
  readonly nowhere = new Set<string>();
  /** Paths of objects that turned out to be none. */
  readonly withdrawn = new Set<string>();
  readonly #waiting: Damage[] = [];
  readonly #store: Store;
  readonly #signal: AbortSignal | undefined;
  readonly #onChecked: (bytes: number) => void;

  constructor(store: Store, signal: AbortSignal | undefined, onChecked: (bytes: number) => void) {
    this.#store = store;
    this.#signal = signal;
    this.#onChecked = onChecked;
  }

  async take(findings: AsyncIterable<Finding>): Promise<void> {
    const { checked, bad } = this.result;
    try {
      for await (const { bytes, entries = 1, problem, damage, unchecked } of findings) {
        if (bytes !== undefined) {
          checked.entries += entries;
          checked.bytes += bytes;
        }
        if (problem !== undefined) bad.push(problem);
        if (damage !== undefined) this.#forget(damage, problem !== undefined);
        if (unchecked !== undefined) this.unchecked.set(unchecked.name, unchecked);
        this.#onChecked(checked.bytes);
        await breathe(this.#signal);
      }
    } finally {
      this.#forgetWaiting();
    }
  }

  /** Damage that only a host can mend, and that none did yet. */
  unmended(): FetchedDamage[] {
    return this.damages
      .filter(needsFetch)
      .filter((damage) => !this.withdrawn.has(damage.object.path) && !isHeldAgain(this.#store, damage));
  }

  /** Entries are forgotten many at a time; an object at once, for what follows may ask for it. */
  #forget(damage: Damage, isTold: boolean): void {
    // A row of the ledger that never had a file is no damage that anybody must hear of.
    if (isTold) this.damages.push(damage);
    this.#waiting.push(damage);
    if (damage.kind !== 'entry' || this.#waiting.length >= forgetAtOnce) this.#forgetWaiting();
  }

  #forgetWaiting(): void {
    const waiting = this.#waiting.splice(0);
    if (this.#store.writable && waiting.length > 0) forgetDamage(this.#store, waiting);
  }
}
