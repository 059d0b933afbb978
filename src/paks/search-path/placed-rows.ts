import { randomInt } from 'node:crypto';
import { seededHash } from '../../core/hash.ts';
import { firstNot } from '../../core/sorting/first-not.ts';
import { cleanName, foldName } from '../names.ts';
import type { HiddenKind, Pak, PakEntry } from '../pak.ts';
import { RowTable } from '../row-table.ts';

/** A step of a search path: an open PAK, or a folder as one. */
export interface SearchStep {
  /** Name of the step in notes, and the origin of its entries. */
  label: string;
  pak: Pak;
  /** Name of an entry in the whole, where it differs from its own. */
  nameOf?: ((entry: PakEntry) => string) | undefined;
  /** True for an entry that is no part of the whole. Default: none. */
  leavesOut?: ((entry: PakEntry) => boolean) | undefined;
}

/** Entries of a step, one at a time. */
export interface StepEntries {
  step: SearchStep;
  count: number;
  at(index: number): PakEntry | undefined;
}

/** Name of an entry of a step in the whole. */
export function nameIn({ nameOf }: SearchStep, entry: PakEntry): string {
  return nameOf === undefined ? entry.name : nameOf(entry);
}

/**
 * Rows of a search path, and which of them each name gives. There may be millions: each is made when it is asked for, and all that is kept is the
 * number of the row that each name gives.
 */
export class PlacedRows {
  readonly count: number;
  readonly #steps: readonly StepEntries[];
  readonly #keyOf: (name: string) => string;
  /** Number of the first row of each step. */
  readonly #starts: number[] = [];
  /** Numbers that its entries have in the step, where some are left out. */
  readonly #kept: (Uint32Array | undefined)[];
  readonly #seed = randomInt(2 ** 32);
  #winners: RowTable | undefined;
  /** The first file of each name when case is ignored; made when a name is asked for that is none. */
  #folded: RowTable | undefined;

  /** @param keyOf of a name: the same for names that are the same file */
  constructor(steps: readonly StepEntries[], keyOf: (name: string) => string) {
    this.#steps = steps;
    this.#keyOf = keyOf;
    this.#kept = steps.map(keptEntries);
    let count = 0;
    for (const [i, step] of steps.entries()) {
      this.#starts.push(count);
      count += this.#kept[i]?.length ?? step.count;
    }
    this.count = count;
  }

  /** The row of a number, or undefined. */
  at(row: number): PlacedRow | undefined {
    if (!Number.isInteger(row) || row < 0 || row >= this.count) return undefined;
    const step = firstNot(0, this.#steps.length, (one) => this.#starts[one]! <= row) - 1;
    const number = row - this.#starts[step]!;
    const entries = this.#steps[step]!;
    const inner = entries.at(this.#kept[step]?.[number] ?? number);
    return inner && new PlacedRow(row, { step: entries.step, inner, rows: this });
  }

  /** The number of the row that an entry of a step is. */
  numberOf(step: SearchStep, inner: PakEntry): number {
    const at = this.#steps.findIndex((entries) => entries.step === step);
    return this.#starts[at]! + (this.#kept[at]?.indexOf(inner.index) ?? inner.index);
  }

  /** The row that a name gives, or one whose name differs by case alone. */
  find(name: string): PlacedRow | undefined {
    const plain = cleanName(name);
    const winner = this.#winnerOf(this.#keyOf(plain));
    if (winner !== undefined) return winner.hidden === undefined ? winner : undefined;
    this.#folded ??= this.#fold();
    const folded = foldName(plain);
    const other = this.#find(this.#folded, folded, foldName);
    return other && new CaseIgnoredRow(other.index, other);
  }

  /** The row before this one that the name of both gives, or undefined. */
  winnerBefore(row: PlacedRow): PlacedRow | undefined {
    const winner = this.#winnerOf(this.#keyOf(row.name), row.index);
    return winner !== undefined && winner.index < row.index ? winner : undefined;
  }

  /** @param asked the row that it may be itself */
  #winnerOf(key: string, asked?: number): PlacedRow | undefined {
    this.#winners ??= this.#place();
    return this.#find(this.#winners, key, this.#keyOf, asked);
  }

  #find(table: RowTable, key: string, keyOf: (name: string) => string, asked?: number): PlacedRow | undefined {
    const isOne = (row: number): boolean => row === asked || keyOf(this.at(row)?.name ?? '') === key;
    const found = table.find(seededHash(key, this.#seed), isOne);
    return found === undefined ? undefined : this.at(found);
  }

  /** The first row of each name wins. One that its own PAK hides stands in nobody's way, but a delete record does. */
  #place(): RowTable {
    return this.#firstOf(this.#keyOf, ({ inner: { hidden } }) => hidden === undefined || hidden === 'delete-record');
  }

  #fold(): RowTable {
    return this.#firstOf(foldName, ({ hidden }) => hidden === undefined);
  }

  /** A table of the first row of each key. */
  #firstOf(keyOf: (name: string) => string, isMeant: (row: PlacedRow) => boolean): RowTable {
    const table = new RowTable(this.count);
    for (let number = 0; number < this.count; number++) {
      const row = this.at(number);
      if (row === undefined || !isMeant(row)) continue;
      const key = keyOf(row.name);
      const isSame = (other: number): boolean => keyOf(this.at(other)?.name ?? '') === key;
      table.putFirst(seededHash(key, this.#seed), number, isSame);
    }
    return table;
  }
}

/** Numbers of the entries that are not left out; undefined for all. */
function keptEntries({ step, count, at }: StepEntries): Uint32Array | undefined {
  const { leavesOut } = step;
  if (leavesOut === undefined) return undefined;
  const kept: number[] = [];
  for (let index = 0; index < count; index++) {
    const entry = at(index);
    if (entry !== undefined && !leavesOut(entry)) kept.push(index);
  }
  return Uint32Array.from(kept);
}

/** A row with what it is made of. */
interface RowParts {
  readonly step: SearchStep;
  /** The entry that it stands for. */
  readonly inner: PakEntry;
  readonly rows: PlacedRows;
}

/** A row of the whole: what it has of its own, and for the rest the entry that it stands for. */
export class PlacedRow implements PakEntry {
  // Declared only: millions are made, and fields cost less so.
  declare readonly index: number;
  declare readonly step: SearchStep;
  declare readonly inner: PakEntry;
  declare readonly rows: PlacedRows;
  declare private known: string | undefined;

  constructor(index: number, { step, inner, rows }: RowParts) {
    this.index = index;
    this.step = step;
    this.inner = inner;
    this.rows = rows;
    this.known = undefined;
  }

  get name(): string {
    this.known ??= nameIn(this.step, this.inner);
    return this.known;
  }
  get hidden(): HiddenKind | undefined {
    return this.inner.hidden ?? hiddenBy(this.rows.winnerBefore(this));
  }
  get note(): string | undefined {
    return joinNotes(this.inner.note, hiddenNote(this.rows.winnerBefore(this)));
  }
  get size(): number {
    return this.inner.size;
  }
  get storedSize(): number {
    return this.inner.storedSize;
  }
  get offset(): number | undefined {
    return this.inner.offset;
  }
  get method(): string {
    return this.inner.method;
  }
  get encrypted(): boolean {
    return this.inner.encrypted;
  }
  get mtime(): Date | undefined {
    return this.inner.mtime;
  }
  get sha1(): string | undefined {
    return this.inner.sha1;
  }
  get mayBeUnsure(): boolean | undefined {
    return this.inner.mayBeUnsure;
  }
  get origin(): string {
    return this.step.label;
  }
}

/** A row that was asked for under a name that differs by case. */
class CaseIgnoredRow extends PlacedRow {
  override get note(): string | undefined {
    return joinNotes(super.note, `found by ignoring case: it is stored as ${this.name}`);
  }
}

function joinNotes(...notes: (string | undefined)[]): string | undefined {
  return notes.filter((note) => note !== undefined).join('; ') || undefined;
}

function hiddenBy(winner: PlacedRow | undefined): HiddenKind | undefined {
  if (winner === undefined) return undefined;
  return winner.inner.hidden === 'delete-record' ? 'deleted' : 'shadowed';
}

function hiddenNote(winner: PlacedRow | undefined): string | undefined {
  if (winner === undefined) return undefined;
  return `${winner.inner.hidden === 'delete-record' ? 'deleted' : 'shadowed'} by ${winner.step.label}`;
}
