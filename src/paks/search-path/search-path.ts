import { basename } from 'node:path';
import type { ByteSource } from '../../core/byte-source.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import { fileSource } from '../../files/file-source.ts';
import { slicePieces } from '../../files/pieces.ts';
import { cleanName, foldName } from '../names.ts';
import {
  type EntryStatus,
  getRow,
  type HiddenKind,
  type LockedPart,
  type Pak,
  type PakEntry,
  type PakProblem,
  type VerifyWork,
} from '../pak.ts';

/** A step of a search path: an open PAK, or a folder as one. */
export interface SearchStep {
  /** Name of the step in notes, and the origin of its entries. */
  label: string;
  pak: Pak;
  /** Name of an entry in the whole, where it differs from its own; undefined leaves the entry out. */
  nameOf?: ((entry: PakEntry) => string | undefined) | undefined;
}

interface SearchPathOptions {
  family: string;
  version: string;
  facts: Record<string, unknown>;
  /** The notes of the steps themselves are added to these. */
  notes: readonly string[];
  /** PAKs that are no steps because no key opens them. */
  lockedParts?: readonly LockedPart[];
  /** Names with the same key are the same file to the engine; they differ by case at most. */
  keyOf: (name: string) => string;
}

/** A row of the whole, with the step and the entry that it stands for. */
interface SearchRow extends PakEntry {
  readonly step: SearchStep;
  readonly inner: PakEntry;
}

/**
 * Several PAKs as one, as an engine sees them through its search path.
 * @param steps the strongest first: the first step that has a name gives the file, or by a delete record takes it away.
 *   What is hidden stays listed, and says by what it is hidden.
 */
export function joinSearchPath(steps: readonly SearchStep[], options: SearchPathOptions): Pak {
  return new SearchPathPak(steps, options);
}

/**
 * Opens the PAK of a step.
 * @param label in front of errors that do not name the file themselves
 * @throws as `open` does, E_NOT_FOUND, E_STORE
 */
export async function openStepPak<Opened extends Pak>(
  path: string,
  label: string,
  open: (source: ByteSource) => Promise<Opened>,
): Promise<Opened> {
  const source = await fileSource(path);
  try {
    return await open(source);
  } catch (error) {
    await source.close();
    if (!isPakratError(error) || error.message.includes(basename(path))) throw error;
    const { code, message, hint, data } = error;
    throw new PakratError(code, `${label}: ${message}`, { hint, data, cause: error });
  }
}

/** Closes steps that were opened for a search path. */
export async function closeSteps(steps: readonly SearchStep[]): Promise<void> {
  for (const { pak } of steps) await pak.close();
}

/** Names that are looked for one by one before all rows are listed: then the next ones cost nothing. */
const fewNames = 8;

class SearchPathPak implements Pak {
  readonly family: string;
  readonly version: string;
  readonly notes: readonly string[];
  readonly facts: Record<string, unknown>;
  readonly lockedParts: readonly LockedPart[] | undefined;
  readonly #steps: readonly SearchStep[];
  readonly #keyOf: (name: string) => string;
  #all: PlacedRows | undefined;
  #asked = 0;

  constructor(steps: readonly SearchStep[], options: SearchPathOptions) {
    this.family = options.family;
    this.version = options.version;
    this.facts = options.facts;
    this.lockedParts = options.lockedParts;
    this.notes = [...options.notes, ...steps.flatMap(({ label, pak }) => pak.notes.map((note) => `${label}: ${note}`))];
    this.#steps = steps;
    this.#keyOf = options.keyOf;
    // Where nothing has to be listed, faults of names are told as soon as it is opened.
    if (steps.every(({ pak }) => pak.namesakes === undefined)) this.#listed();
  }

  get entries(): readonly SearchRow[] {
    return this.#listed().entries;
  }

  #listed(): PlacedRows {
    this.#all ??= new PlacedRows(this.#steps, this.#keyOf, ({ pak }) => pak.entries);
    return this.#all;
  }

  find(name: string): PakEntry | undefined {
    if (this.#all !== undefined || ++this.#asked > fewNames) return this.#listed().find(name);
    // Rows stand in the way of those alone that have the same name but for case: so these are all that have to be placed.
    const folded = foldName(name);
    const named = new PlacedRows(this.#steps, this.#keyOf, (step) => {
      const known = step.nameOf === undefined ? step.pak.namesakes?.(name) : undefined;
      return known ?? step.pak.entries.filter((inner) => foldName(nameIn(step, inner) ?? '') === folded);
    });
    const row = named.find(name);
    return row && new FoundRow(row, () => this.#indexOf(row));
  }

  /** The number of a row that was found by itself. */
  #indexOf({ step, inner }: SearchRow): number {
    return this.entries.findIndex((row) => {
      // A name occurs once in what is listed late.
      return (
        row.step === step &&
        (row.inner === inner || (step.pak.namesakes !== undefined && row.inner.name === inner.name))
      );
    });
  }

  #rowOf(entry: PakEntry): SearchRow {
    return entry instanceof FoundRow ? entry : getRow(this.entries, entry);
  }

  read(entry: PakEntry): AsyncIterable<Uint8Array> {
    const { step, inner } = this.#rowOf(entry);
    return step.pak.read(inner);
  }

  readRange(entry: PakEntry, offset: number, size: number): AsyncIterable<Uint8Array> {
    const { step, inner } = this.#rowOf(entry);
    return step.pak.readRange?.(inner, offset, size) ?? slicePieces(step.pak.read(inner), offset, size);
  }

  partSize(entry: PakEntry): number | undefined {
    const { step, inner } = this.#rowOf(entry);
    return step.pak.partSize?.(inner);
  }

  async status(entry: PakEntry): Promise<EntryStatus> {
    const { step, inner } = this.#rowOf(entry);
    return (await step.pak.status?.(inner)) ?? 'exact';
  }

  verify(entry: PakEntry, work?: VerifyWork): Promise<PakProblem | undefined> {
    const { step, inner } = this.#rowOf(entry);
    return step.pak.verify(inner, work);
  }

  hasProof(entry: PakEntry, work?: VerifyWork): Promise<boolean> {
    const { step, inner } = this.#rowOf(entry);
    return step.pak.hasProof(inner, work);
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    for (const { label, pak } of this.#steps) {
      const problem = await pak.verifyDirectory();
      if (problem !== undefined) return { code: problem.code, message: `${label}: ${problem.message}` };
    }
    return undefined;
  }

  async close(): Promise<void> {
    await closeSteps(this.#steps);
  }
}

/** Rows of a search path, and which of them each name gives. */
class PlacedRows {
  readonly entries: readonly SearchRow[];
  readonly #keyOf: (name: string) => string;
  readonly #winners = new Map<string, SearchRow>();
  /** The first file of each name when case is ignored; made when a name is asked for that is none. */
  #folded: Map<string, SearchRow> | undefined;

  constructor(
    steps: readonly SearchStep[],
    keyOf: (name: string) => string,
    entriesOf: (step: SearchStep) => readonly PakEntry[],
  ) {
    this.#keyOf = keyOf;
    const entries: SearchRow[] = [];
    for (const step of steps) {
      for (const inner of entriesOf(step)) {
        const name = nameIn(step, inner);
        if (name !== undefined) entries.push(this.#place({ step, inner }, name, entries.length));
      }
    }
    this.entries = entries;
  }

  #place({ step, inner }: { step: SearchStep; inner: PakEntry }, name: string, index: number): SearchRow {
    const key = this.#keyOf(name);
    const winner = this.#winners.get(key);
    const hidden = inner.hidden ?? hiddenBy(winner);
    const note = joinNotes(inner.note, hiddenNote(winner));
    const row = new PlacedRow({ step, inner }, { index, name, hidden, note });
    // A row that its own PAK hides stands in nobody's way, but a delete record does.
    if (winner === undefined && (inner.hidden === undefined || inner.hidden === 'delete-record')) {
      this.#winners.set(key, row);
    }
    return row;
  }

  #fold(): Map<string, SearchRow> {
    const folded = new Map<string, SearchRow>();
    for (const row of this.#winners.values()) {
      const key = foldName(row.name);
      if (row.hidden === undefined && !folded.has(key)) folded.set(key, row);
    }
    return folded;
  }

  find(name: string): SearchRow | undefined {
    const row = this.#winners.get(this.#keyOf(cleanName(name)));
    if (row !== undefined) return row.hidden === undefined ? row : undefined;
    this.#folded ??= this.#fold();
    const other = this.#folded.get(foldName(name));
    if (other === undefined) return undefined;
    const note = joinNotes(other.note, `found by ignoring case: it is stored as ${other.name}`);
    return new PlacedRow(other, { index: other.index, name: other.name, hidden: other.hidden, note });
  }
}

/** A row of the whole: what it has of its own, and for the rest the entry that it stands for. There may be hundreds of thousands. */
class PlacedRow implements SearchRow {
  // Declared only: fields cost less so.
  declare readonly index: number;
  declare readonly name: string;
  declare readonly step: SearchStep;
  declare readonly inner: PakEntry;
  declare readonly hidden: HiddenKind | undefined;
  declare readonly note: string | undefined;

  constructor(
    { step, inner }: Pick<SearchRow, 'step' | 'inner'>,
    { index, name, hidden, note }: Pick<SearchRow, 'index' | 'name' | 'hidden' | 'note'>,
  ) {
    this.index = index;
    this.name = name;
    this.step = step;
    this.inner = inner;
    this.hidden = hidden;
    this.note = note;
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

/** A row that was found without listing all of them. Its number is known once they are listed. */
class FoundRow extends PlacedRow {
  constructor(row: SearchRow, indexOf: () => number) {
    super(row, row);
    Object.defineProperty(this, 'index', { get: indexOf, enumerable: true });
  }
}

function nameIn({ nameOf }: SearchStep, entry: PakEntry): string | undefined {
  return nameOf === undefined ? entry.name : nameOf(entry);
}

function joinNotes(...notes: (string | undefined)[]): string | undefined {
  return notes.filter((note) => note !== undefined).join('; ') || undefined;
}

function hiddenBy(winner: SearchRow | undefined): HiddenKind | undefined {
  if (winner === undefined) return undefined;
  return winner.hidden === 'delete-record' ? 'deleted' : 'shadowed';
}

function hiddenNote(winner: SearchRow | undefined): string | undefined {
  if (winner === undefined) return undefined;
  return `${winner.hidden === 'delete-record' ? 'deleted' : 'shadowed'} by ${winner.step.label}`;
}
