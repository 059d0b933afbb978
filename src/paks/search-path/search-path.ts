import { basename } from 'node:path';
import type { ByteSource } from '../../core/byte-source.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import { fileSource } from '../../files/file-source.ts';
import { slicePieces } from '../../files/pieces.ts';
import { countEntries, eachEntry, entryAt, offerEntries, shareDirectory } from '../many-entries.ts';
import { cleanName, foldName } from '../names.ts';
import {
  type EntryStatus,
  type LockedPart,
  noEntry,
  type Pak,
  type PakEntry,
  type PakProblem,
  type ReadAtOnce,
  type VerifyWork,
} from '../pak.ts';
import { nameIn, PlacedRow, PlacedRows, type SearchStep, type StepEntries } from './placed-rows.ts';

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

/** The directory of a step as plain data, for threads. */
export interface SharedStep {
  label: string;
  /** Of its family. */
  directory: unknown;
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

/** Names that are looked for one by one before all rows are placed: then the next ones cost nothing. */
const fewNames = 8;

class SearchPathPak implements Pak {
  readonly family: string;
  readonly version: string;
  readonly notes: readonly string[];
  readonly facts: Record<string, unknown>;
  readonly lockedParts: readonly LockedPart[] | undefined;
  readonly readerAtOnce?: () => Promise<ReadAtOnce>;
  readonly checkerAtOnce?: () => Promise<(entry: PakEntry) => boolean>;
  readonly #steps: readonly SearchStep[];
  readonly #keyOf: (name: string) => string;
  #rows: PlacedRows | undefined;
  #all: readonly PlacedRow[] | undefined;
  #asked = 0;

  constructor(steps: readonly SearchStep[], options: SearchPathOptions) {
    this.family = options.family;
    this.version = options.version;
    this.facts = options.facts;
    this.lockedParts = options.lockedParts;
    this.notes = [...options.notes, ...steps.flatMap(({ label, pak }) => pak.notes.map((note) => `${label}: ${note}`))];
    this.#steps = steps;
    this.#keyOf = options.keyOf;
    if (steps.some(({ pak }) => pak.readerAtOnce !== undefined)) this.readerAtOnce = () => this.#readerAtOnce();
    if (steps.some(({ pak }) => pak.checkerAtOnce !== undefined)) this.checkerAtOnce = () => this.#checkerAtOnce();
    const placed = (): PlacedRows => this.#placed();
    offerEntries(this, {
      get count() {
        return placed().count;
      },
      at: (row) => placed().at(row),
      share: () => shareSteps(steps),
    });
  }

  get entries(): readonly PlacedRow[] {
    const rows = this.#placed();
    this.#all ??= Array.from({ length: rows.count }, (_, row) => rows.at(row)!);
    return this.#all;
  }

  #placed(): PlacedRows {
    this.#rows ??= new PlacedRows(
      this.#steps.map((step) => ({ step, count: countEntries(step.pak), at: (index) => entryAt(step.pak, index) })),
      this.#keyOf,
    );
    return this.#rows;
  }

  find(name: string): PakEntry | undefined {
    if (this.#rows !== undefined || ++this.#asked > fewNames) return this.#placed().find(name);
    // Rows stand in the way of those alone that have the same name but for case: so these are all that have to be placed.
    const folded = foldName(this.#keyOf(cleanName(name)));
    const named = this.#steps.map((step): StepEntries => {
      const found = namedIn(step, name, folded);
      return { step, count: found.length, at: (index) => found[index] };
    });
    const row = new PlacedRows(named, this.#keyOf).find(name);
    return row && new FoundRow(row, () => this.#placed().numberOf(row.step, row.inner));
  }

  #rowOf(entry: PakEntry): PlacedRow {
    if (entry instanceof FoundRow) return entry;
    const row = this.#placed().at(entry.index);
    if (row === undefined) throw noEntry(entry.index);
    return row;
  }

  read(entry: PakEntry): AsyncIterable<Uint8Array> {
    const { step, inner } = this.#rowOf(entry);
    return step.pak.read(inner);
  }

  readRange(entry: PakEntry, offset: number, size: number): AsyncIterable<Uint8Array> {
    const { step, inner } = this.#rowOf(entry);
    return step.pak.readRange?.(inner, offset, size) ?? slicePieces(step.pak.read(inner), offset, size);
  }

  async #readerAtOnce(): Promise<ReadAtOnce> {
    const readers = await ofSteps(this.#steps, ({ pak }) => pak.readerAtOnce?.());
    const rowOf = (entry: PakEntry): PlacedRow => this.#rowOf(entry);
    return function* (entry, part) {
      const { step, inner } = rowOf(entry);
      const read = readers.get(step);
      return read !== undefined && (yield* read(inner, part));
    };
  }

  async #checkerAtOnce(): Promise<(entry: PakEntry) => boolean> {
    const checkers = await ofSteps(this.#steps, ({ pak }) => pak.checkerAtOnce?.());
    return (entry) => {
      const { step, inner } = this.#rowOf(entry);
      return checkers.get(step)?.(inner) === true;
    };
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

/** The directories of all steps; undefined where there is one that each thread has to read. */
function shareSteps(steps: readonly SearchStep[]): SharedStep[] | undefined {
  const shared = steps.flatMap(({ label, pak }) => {
    const directory = shareDirectory(pak)?.directory;
    return directory === undefined ? [] : [{ label, directory }];
  });
  return shared.length === steps.length ? shared : undefined;
}

/** Entries of a step whose names in the whole are this one when case is ignored. */
function namedIn(step: SearchStep, name: string, folded: string): readonly PakEntry[] {
  const known = step.nameOf === undefined ? step.pak.namesakes?.(name) : undefined;
  const found: PakEntry[] = [];
  for (const entry of known ?? eachEntry(step.pak)) {
    if (step.leavesOut?.(entry) !== true && foldName(nameIn(step, entry)) === folded) found.push(entry);
  }
  return found;
}

/** The answers of those steps that give one. */
async function ofSteps<Value>(
  steps: readonly SearchStep[],
  ask: (step: SearchStep) => Promise<Value> | undefined,
): Promise<Map<SearchStep, Value>> {
  const answers = new Map<SearchStep, Value>();
  for (const step of steps) {
    const answer = await ask(step);
    if (answer !== undefined) answers.set(step, answer);
  }
  return answers;
}

/** A row that was found without placing all of them. Its number is known once they are. */
class FoundRow extends PlacedRow {
  readonly #note: string | undefined;

  constructor(row: PlacedRow, indexOf: () => number) {
    super(row.index, row);
    this.#note = row.note;
    Object.defineProperty(this, 'index', { get: indexOf, enumerable: true });
  }

  override get hidden(): undefined {
    return undefined;
  }
  override get note(): string | undefined {
    return this.#note;
  }
}
