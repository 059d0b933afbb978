import { seededHash } from '../../core/hash.ts';
import { giveBack, largeWords } from '../../core/tables/large-bytes.ts';
import { type DiffRow, nameOf } from './diff-table.ts';
import type { ListedRows } from './listed-rows.ts';

const { imul } = Math;

/** The part of the slots that is taken at most. */
const mostFilled = 3 / 4;

/** The rule by which files of two sides are the same file. */
export interface Identity {
  /** Files that have an id are told apart by it, whatever they are called. Else, and for those without, by name. */
  byId: boolean;
  /** A random number of 32 bits, so that nobody can make names that all have one hash. */
  seed: number;
}

/** A hash of what a row is told apart by, 32 bits. */
export function identityHash({ byId, seed }: Identity, row: DiffRow): number {
  if (byId && row.fileDataId !== undefined) return (imul(row.fileDataId + 1, 0x9e3779b1) ^ seed) >>> 0;
  return seededHash(comparable(nameOf(row)), seed);
}

function isSame({ byId }: Identity, a: DiffRow, b: DiffRow): boolean {
  if (byId && (a.fileDataId ?? b.fileDataId) !== undefined) return a.fileDataId === b.fileDataId;
  return comparable(nameOf(a)) === comparable(nameOf(b));
}

/** A name as extracting would write it, so that a source can be compared with what came out of it. */
function comparable(name: string): string {
  const [, kind] = /^(fdid|ckey|ekey):/.exec(name) ?? [];
  const path = kind === undefined ? name : `${kind}-${name.slice(5)}`;
  return path.normalize('NFC');
}

/** Finds listed rows by what they are told apart by: 4 to 8 bytes for each. */
export class DiffIndex {
  /** Rows that are the same file as one before them: they are marked as done, and never found. */
  readonly repeated: number;
  readonly #rows: ListedRows;
  readonly #identity: Identity;
  /** Row number + 1, or 0; a row lies at its hash or behind, before the next 0. */
  readonly #slots: Uint32Array;

  constructor(rows: ListedRows, identity: Identity) {
    this.#rows = rows;
    this.#identity = identity;
    this.#slots = largeWords(2 ** Math.ceil(Math.log2((rows.count + 1) / mostFilled)));
    let repeated = 0;
    for (let row = 0; row < rows.count; row++) {
      const slot = this.#slotFor(rows.hash(row), () => rows.at(row));
      if (this.#slots[slot] === 0) this.#slots[slot] = row + 1;
      else {
        rows.setDone(row);
        repeated += 1;
      }
    }
    this.repeated = repeated;
  }

  /** Gives memory back: no row can be found any more. */
  close(): void {
    giveBack(this.#slots);
  }

  /** The number of the row that is the same file, or undefined. */
  find(row: DiffRow, hash: number): number | undefined {
    const found = this.#slots[this.#slotFor(hash, () => row)] ?? 0;
    return found === 0 ? undefined : found - 1;
  }

  #slotFor(hash: number, row: () => DiffRow): number {
    const mask = this.#slots.length - 1;
    let wanted: DiffRow | undefined;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const there = this.#slots[slot] ?? 0;
      if (there === 0) return slot;
      if (this.#rows.hash(there - 1) !== hash) continue;
      wanted ??= row();
      if (isSame(this.#identity, this.#rows.at(there - 1), wanted)) return slot;
    }
  }
}
