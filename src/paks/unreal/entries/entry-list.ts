import { noEntry } from '../../pak.ts';
import { type EntryContext, UnrealEntry } from './unreal-entry.ts';

/** The entries of a PAK by number. There may be millions, and most work needs one at a time: so each is made when it is asked for. */
export class EntryList {
  readonly #context: EntryContext;
  #all: readonly UnrealEntry[] | undefined;
  /** Those that were given out to stay. */
  readonly #found = new Map<number, UnrealEntry>();

  constructor(context: EntryContext) {
    this.#context = context;
  }

  get count(): number {
    return this.#context.rows.count;
  }

  /** All of them. They stay the same, and are those that {@link keep} gave before. */
  all(): readonly UnrealEntry[] {
    this.#all ??= Array.from({ length: this.count }, (_, row) => this.#found.get(row) ?? this.#made(row));
    return this.#all;
  }

  /** The entry of a number, or undefined. */
  at(index: number): UnrealEntry | undefined {
    if (this.#all !== undefined) return this.#all[index];
    return Number.isInteger(index) && index >= 0 && index < this.count ? this.#made(index) : undefined;
  }

  /** The entry of a number, or undefined: always the same. */
  keep(index: number): UnrealEntry | undefined {
    const entry = this.#found.get(index) ?? this.at(index);
    if (entry !== undefined && this.#all === undefined) this.#found.set(index, entry);
    return entry;
  }

  /** The entry that stands for one at the outside. Throws E_NOT_FOUND for an entry of another PAK. */
  own({ index }: { readonly index: number }): UnrealEntry {
    const entry = this.at(index);
    if (entry === undefined) throw noEntry(index);
    return entry;
  }

  #made(index: number): UnrealEntry {
    return new UnrealEntry(index, this.#context);
  }
}
