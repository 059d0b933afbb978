import { randomInt } from 'node:crypto';
import { breathe } from '../../core/breathe.ts';
import type { IdSet } from '../../core/tables/id-set.ts';
import { isBuildSource } from '../build-source.ts';
import type { Source } from '../source.ts';
import { type ContentPair, compareContents } from './diff-content.ts';
import { DiffIndex, type Identity, identityHash } from './diff-index.ts';
import { diffRows, equalIds, fillSizes, hasIds, type RowChoice } from './diff-rows.ts';
import {
  compareRows,
  type DecidedBy,
  type DiffRow,
  type DiffSide,
  DiffTable,
  isRenamed,
  nameOf,
  type Verdict,
} from './diff-table.ts';

/** A file that one side has and the other has not, or has otherwise. */
export type DiffItem =
  | { kind: 'added'; after: DiffRow }
  | { kind: 'removed'; before: DiffRow }
  | { kind: 'changed'; before: DiffRow; after: DiffRow; by: DecidedBy }
  | { kind: 'renamed'; before: DiffRow; after: DiffRow; by: DecidedBy };

/** A file whose contents could not be compared. */
export interface DiffFailure {
  name: string;
  code: string;
  message: string;
}

/** The outcome of a comparison. */
export interface Difference {
  /** Every file that differs, by name; those without a name last, by id. Made one at a time, as often as asked for. */
  items(): Iterable<DiffItem>;
  /** Number of items. */
  count: number;
  unchanged: number;
  /** Files that are on both sides, by what decided about them. */
  decided: Partial<Record<DecidedBy, number>>;
  failed: DiffFailure[];
  /** Files of each side. */
  files: { before: number; after: number };
  /** Files that are left out, for one of the same name came before them. */
  repeated: number;
}

/** The files that are compared, and whoever hears of it. */
export interface DiffOptions extends Pick<RowChoice, 'needed'> {
  /** Undefined for all. */
  matches?: ((name: string) => boolean) | undefined;
  signal?: AbortSignal | undefined;
  /** Told what is done, in a word, with the bytes that were read and, where it is known, that will be. */
  onProgress?: ((phase: string, bytes: number, total: number) => void) | undefined;
}

/**
 * Compares the files of two sources. The same file is the one of the same id, where both sides have ids, else of the same name.
 * Contents are equal when both sides know the MD5 of it and it is the same; where one does not, different sizes tell, then the hashes of
 * stored bytes, and at last the contents are read. Nothing is read of two builds.
 * @throws as the sources do when they are listed, E_ABORTED
 */
export async function diffSources(before: Source, after: Source, options: DiffOptions): Promise<Difference> {
  const byId = (await hasIds(before)) && (await hasIds(after));
  const comparison = new Comparison({ byId, seed: randomInt(2 ** 32) }, { before, after }, options);
  await comparison.passOverEqual();
  await comparison.listAfter(await comparison.listBefore());
  await comparison.compareContents();
  return comparison.finish();
}

/** Numbers of rows of both sides; -1 for the side that has no such file. */
interface Items {
  before: number[];
  after: number[];
  by: (DecidedBy | undefined)[];
}

class Comparison {
  readonly #identity: Identity;
  readonly #options: DiffOptions;
  readonly #before: DiffSide;
  /** Holds only what is not known to be equal. */
  readonly #after: DiffSide;
  readonly #keysOnly: boolean;
  readonly #items: Items = { before: [], after: [], by: [] };
  readonly #unread: ContentPair[] = [];
  readonly #failed: DiffFailure[] = [];
  readonly #decided: Difference['decided'] = {};
  readonly #files = { before: 0, after: 0 };
  #unchanged = 0;
  #repeated = 0;
  /** Ids of files that are counted as equal already. */
  #equal: IdSet | undefined;

  constructor(identity: Identity, sources: { before: Source; after: Source }, options: DiffOptions) {
    this.#identity = identity;
    this.#options = options;
    this.#before = { source: sources.before, table: new DiffTable() };
    this.#after = { source: sources.after, table: new DiffTable() };
    this.#keysOnly = isBuildSource(sources.before) && isBuildSource(sources.after);
  }

  #rows({ source }: DiffSide): AsyncIterable<DiffRow> {
    this.#options.onProgress?.(`list ${source.label}`, 0, 0);
    const { matches = () => true, needed } = this.#options;
    return diffRows(source, { matches, needed, keysOnly: this.#keysOnly, without: this.#equal });
  }

  /** Most files of two builds are equal: where both have ids, these are never made rows of. */
  async passOverEqual(): Promise<void> {
    const { matches, signal, onProgress } = this.#options;
    if (!this.#identity.byId || matches !== undefined) return;
    const [before, after] = [this.#before.source, this.#after.source];
    onProgress?.(`list ${before.label}`, 0, 0);
    this.#equal = await equalIds(before, after, signal);
    const size = this.#equal?.size ?? 0;
    if (size > 0) this.#decided.md5 = size;
    this.#unchanged = size;
    this.#files.before = size;
    this.#files.after = size;
  }

  /** Takes the files of the first side, and gives back what finds them. */
  async listBefore(): Promise<DiffIndex> {
    const { table } = this.#before;
    for await (const row of this.#rows(this.#before)) {
      await breathe(this.#options.signal);
      table.add(row, identityHash(this.#identity, row));
    }
    const index = new DiffIndex(table, this.#identity);
    this.#repeated = index.repeated;
    this.#files.before += table.count - this.#repeated;
    return index;
  }

  async listAfter(index: DiffIndex): Promise<void> {
    for await (const row of this.#rows(this.#after)) {
      await breathe(this.#options.signal);
      const hash = identityHash(this.#identity, row);
      const number = index.find(row, hash);
      if (number !== undefined && this.#before.table.isDone(number)) this.#repeated += 1;
      else this.#take(row, hash, number);
    }
  }

  #take(row: DiffRow, hash: number, before: number | undefined): void {
    this.#files.after += 1;
    if (before === undefined) {
      this.#add(-1, this.#after.table.add(row, hash));
      return;
    }
    this.#before.table.setDone(before);
    const old = this.#before.table.at(before);
    const verdict = compareRows(old, row);
    if (verdict === undefined) this.#unread.push({ before, after: this.#after.table.add(row, hash) });
    else if (this.#isUnchanged(old, row, verdict)) this.#unchanged += 1;
    else this.#add(before, this.#after.table.add(row, hash), verdict.by);
  }

  #isUnchanged(before: DiffRow, after: DiffRow, { same, by }: Verdict): boolean {
    this.#decided[by] = (this.#decided[by] ?? 0) + 1;
    return same && !(this.#identity.byId && isRenamed(before, after));
  }

  #add(before: number, after: number, by?: DecidedBy): void {
    this.#items.before.push(before);
    this.#items.after.push(after);
    this.#items.by.push(by);
  }

  async compareContents(): Promise<void> {
    const { table } = this.#after;
    const { signal, onProgress } = this.#options;
    const total = this.#unread.reduce(
      (sum, pair) => sum + toRead(this.#before, pair.before) + toRead(this.#after, pair.after),
      0,
    );
    let done = 0;
    const onBytes = (bytes: number): void => {
      done += bytes;
      onProgress?.('compare', done, total);
    };
    const sides = { before: this.#before, after: this.#after };
    for await (const result of compareContents(sides, this.#unread, { signal, onBytes })) {
      const { before, after } = result.pair;
      const row = table.at(after);
      if ('error' in result) {
        const { code, message } = result.error;
        this.#failed.push({ name: nameOf(row), code, message });
      } else if (this.#isUnchanged(this.#before.table.at(before), row, { same: result.same, by: 'content' })) {
        this.#unchanged += 1;
      } else this.#add(before, after, 'content');
    }
  }

  async finish(): Promise<Difference> {
    const { before, after, by } = this.#items;
    const [left, right] = [this.#before.table, this.#after.table];
    for (let row = 0; row < left.count; row++) if (!left.isDone(row)) this.#add(row, -1);
    if (this.#keysOnly) {
      await fillSizes(this.#before, before);
      await fillSizes(this.#after, after);
    }
    const order = this.#order();
    return {
      *items() {
        for (const item of order) yield itemOf(rowAt(left, before[item]), rowAt(right, after[item]), by[item]);
      },
      count: before.length,
      unchanged: this.#unchanged,
      decided: this.#decided,
      failed: this.#failed,
      files: this.#files,
      repeated: this.#repeated,
    };
  }

  /** Numbers of the items, by name. */
  #order(): Uint32Array {
    const { before, after } = this.#items;
    const [left, right] = [this.#before.table, this.#after.table];
    const named = (item: number): [table: DiffTable, row: number] => {
      const row = after[item] ?? -1;
      return row < 0 ? [left, before[item] ?? -1] : [right, row];
    };
    return Uint32Array.from(before.keys()).sort((a, b) => {
      const [table, row] = named(a);
      // Of one name under two ids the old comes before the new.
      return table.compare(row, ...named(b)) || (after[a] ?? 0) - (after[b] ?? 0);
    });
  }
}

function rowAt(table: DiffTable, row = -1): DiffRow | undefined {
  return row < 0 ? undefined : table.at(row);
}

function itemOf(before: DiffRow | undefined, after: DiffRow | undefined, by: DecidedBy | undefined): DiffItem {
  if (before !== undefined && after !== undefined && by !== undefined) {
    const isEqual = compareRows(before, after)?.same === true;
    return { kind: isEqual ? 'renamed' : 'changed', before, after, by };
  }
  if (after !== undefined) return { kind: 'added', after };
  if (before !== undefined) return { kind: 'removed', before };
  throw new Error('a file of neither side');
}

/** Bytes of a file that must be read to compare it. */
function toRead({ table }: DiffSide, row: number): number {
  const { size = 0, mark } = table.at(row);
  return mark?.by === 'md5' ? 0 : size;
}
