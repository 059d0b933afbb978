import { breathe } from '../core/breathe.ts';
import type { Store } from '../store/store.ts';
import { problemRows, type UncheckedObject, type VerifyProblem, type VerifyResult } from '../verify/verify-result.ts';
import type { Finding } from './check-store.ts';
import {
  addEntries,
  countDamage,
  type Damage,
  type DamagedEntries,
  type FetchedDamage,
  forgetDamage,
  joinEntries,
  needsFetch,
} from './damage.ts';
import type { KnownObject } from './known-objects.ts';
import { countLacking } from './repair-store.ts';
import type { DamagedEntry } from './store-checks.ts';

/** One run over a store: adds up what is found, and takes back at once what turns out to be damaged. */
export class VerifyRun {
  readonly result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  readonly damages: Damage[] = [];
  /** Archives that could not be checked, by their paths. */
  readonly unchecked = new Map<string, UncheckedObject>();
  /** Paths of whole objects that were asked for, and that no host has. */
  readonly nowhere = new Set<string>();
  /** Objects that could not be read, and stay as they are. */
  unread = 0;
  /** Paths of objects that turned out to be none. */
  readonly withdrawn = new Set<string>();
  readonly #problems = problemRows(this.result.bad);
  /** Entries of one archive that the ledger still holds: they are forgotten together. */
  #waiting: DamagedEntries | undefined;
  readonly #store: Store;
  readonly #signal: AbortSignal | undefined;
  readonly #onChecked: (bytes: number) => void;

  constructor(store: Store, signal: AbortSignal | undefined, onChecked: (bytes: number) => void) {
    this.#store = store;
    this.#signal = signal;
    this.#onChecked = onChecked;
  }

  async take(findings: AsyncIterable<Finding>): Promise<void> {
    const { checked } = this.result;
    try {
      for await (const { bytes, entries = 1, problem, unread, damage, damaged, unchecked } of findings) {
        if (bytes !== undefined) {
          checked.entries += entries;
          checked.bytes += bytes;
        }
        if (problem !== undefined) this.tell(problem);
        if (unread === true) this.unread += 1;
        if (damage !== undefined) this.#forget(damage, problem !== undefined);
        if (damaged !== undefined) this.#takeEntries(damaged.object, damaged.entries);
        else this.#forgetEntries();
        if (unchecked !== undefined) this.unchecked.set(unchecked.name, unchecked);
        this.#onChecked(checked.bytes);
        await breathe(this.#signal);
      }
    } finally {
      this.#forgetEntries();
    }
  }

  /** Adds a problem to the result. */
  tell(problem: VerifyProblem): void {
    this.#problems.add(problem);
  }

  /** Damage that only a host can mend, and that none did yet, or not all of it. */
  unmended(): FetchedDamage[] {
    return this.#fetched().filter((damage) => countLacking(this.#store, damage) > 0);
  }

  /** The number of damaged things that are right again, or turned out to be none. */
  mendedCount(): number {
    const left = this.#fetched().reduce((sum, damage) => sum + countLacking(this.#store, damage), 0);
    return countDamage(this.damages) - left;
  }

  #fetched(): FetchedDamage[] {
    return this.damages.filter(needsFetch).filter(({ object }) => !this.withdrawn.has(object.path));
  }

  #takeEntries(object: KnownObject, entries: readonly DamagedEntry[]): void {
    const { path } = object;
    for (const { ekey, code, message } of entries) {
      const [named, hash] = /^entry ([0-9a-f]{32}):? /.exec(message) ?? [];
      // It is named in front already.
      this.tell({ name: `${path} ${ekey}`, code, message: hash === ekey ? message.slice(named?.length) : message });
    }
    if (this.#waiting?.object.path !== path) this.#forgetEntries();
    this.#waiting ??= { kind: 'entries', object, spans: [], count: 0, bytes: 0 };
    addEntries(this.#waiting, entries);
  }

  #forgetEntries(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    if (this.#store.writable) forgetDamage(this.#store, [waiting]);
    const last = this.damages.at(-1);
    if (last?.kind === 'entries' && last.object.path === waiting.object.path) joinEntries(last, waiting);
    else this.damages.push(waiting);
  }

  /** What follows may ask for an object. */
  #forget(damage: Damage, isTold: boolean): void {
    // A row of the ledger that never had a file is no damage that anybody must hear of.
    if (isTold) this.damages.push(damage);
    if (this.#store.writable) forgetDamage(this.#store, [damage]);
  }
}
