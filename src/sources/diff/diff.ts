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
import { ListedRows } from './listed-rows.ts';

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
  /** Folder for temporary files, made when it is needed. */
  temporary: string;
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
  try {
    await comparison.passOverEqual();
    await comparison.listBefore();
    await comparison.compareAfter();
    return await comparison.finish();
  } finally {
    comparison.close();
  }
}

/** Numbers of rows in the tables of both sides; -1 for the side that has no such file. */
interface Items {
  before: number[];
  after: number[];
  by: (DecidedBy | undefined)[];
}

/** Files whose contents are compared at a time. */
const batchSize = 500;

class Comparison {
  readonly #identity: Identity;
  readonly #options: DiffOptions;
  readonly #before: DiffSide;
  readonly #after: DiffSide;
  /** The files of the first side, as they were listed. */
  readonly #listed: ListedRows;
  /** Finds them. */
  #index: DiffIndex | undefined;
  readonly #keysOnly: boolean;
  readonly #items: Items = { before: [], after: [], by: [] };
  /** Pairs that wait until their contents are read. */
  #unread: ContentPair[] = [];
  /** Bytes that were read, and that will be as far as that is known. */
  #done = 0;
  #toRead = 0;
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
    this.#listed = new ListedRows(options.temporary);
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

  /** Forgets what was listed. */
  close(): void {
    this.#listed.close();
    this.#index?.close();
  }

  /** Takes the files of the first side. */
  async listBefore(): Promise<void> {
    const listed = this.#listed;
    for await (const row of this.#rows(this.#before)) {
      await breathe(this.#options.signal);
      listed.add(row, identityHash(this.#identity, row));
    }
    this.#index = new DiffIndex(listed, this.#identity);
    this.#repeated = this.#index.repeated;
    this.#files.before += listed.count - this.#repeated;
    this.#toRead = this.#expectedOfRest();
  }

  /** Bytes that will be read for the files of the first side that were not met in the second, should it have all of them. */
  #expectedOfRest(): number {
    const listed = this.#listed;
    let bytes = 0;
    for (let row = 0; row < listed.count && !this.#keysOnly; row++)
      if (!listed.isDone(row)) bytes += this.#expected(listed.at(row));
    return bytes;
  }

  /** Bytes that will be read for a file of the first side, should the second have it in the same size. */
  #expected(row: DiffRow): number {
    return toRead(row) + (isBuildSource(this.#after.source) ? 0 : (row.size ?? 0));
  }

  /** Goes through the files of the second side. Contents are compared as they come: of those that are equal nothing is kept. */
  async compareAfter(): Promise<void> {
    for await (const row of this.#rows(this.#after)) {
      await breathe(this.#options.signal);
      const number = this.#index?.find(row, identityHash(this.#identity, row));
      if (number !== undefined && this.#listed.isDone(number)) this.#repeated += 1;
      else this.#take(row, number);
      if (this.#unread.length === batchSize) await this.#compareContents();
    }
    this.#toRead -= this.#expectedOfRest();
    await this.#compareContents();
  }

  /** @param before the number of the file of the first side that it is */
  #take(row: DiffRow, before: number | undefined): void {
    this.#files.after += 1;
    if (before === undefined) {
      this.#add(undefined, row);
      return;
    }
    this.#listed.setDone(before);
    const old = this.#listed.at(before);
    const verdict = compareRows(old, row);
    this.#toRead -= this.#expected(old);
    if (verdict === undefined) {
      this.#toRead += toRead(old) + toRead(row);
      this.#unread.push({ before: old, after: row });
    } else if (this.#isUnchanged(old, row, verdict)) this.#unchanged += 1;
    else this.#add(old, row, verdict.by);
  }

  #isUnchanged(before: DiffRow, after: DiffRow, { same, by }: Verdict): boolean {
    this.#decided[by] = (this.#decided[by] ?? 0) + 1;
    return same && !(this.#identity.byId && isRenamed(before, after));
  }

  /** Keeps what differs. */
  #add(before: DiffRow | undefined, after: DiffRow | undefined, by?: DecidedBy): void {
    this.#items.before.push(before === undefined ? -1 : this.#before.table.add(before));
    this.#items.after.push(after === undefined ? -1 : this.#after.table.add(after));
    this.#items.by.push(by);
  }

  async #compareContents(): Promise<void> {
    const { signal, onProgress } = this.#options;
    const pairs = this.#unread;
    if (pairs.length === 0) return;
    this.#unread = [];
    const onBytes = (bytes: number): void => {
      this.#done += bytes;
      onProgress?.('compare', this.#done, this.#toRead);
    };
    const sources = { before: this.#before.source, after: this.#after.source };
    for (const [i, result] of (await compareContents(sources, pairs, { signal, onBytes })).entries()) {
      const { before, after } = pairs[i]!;
      if ('error' in result) {
        const { code, message } = result.error;
        this.#failed.push({ name: nameOf(after), code, message });
      } else if (this.#isUnchanged(before, after, { same: result.same, by: 'content' })) this.#unchanged += 1;
      else this.#add(before, after, 'content');
    }
  }

  async finish(): Promise<Difference> {
    const { before, after, by } = this.#items;
    const [left, right] = [this.#before.table, this.#after.table];
    const listed = this.#listed;
    for (let row = 0; row < listed.count; row++) if (!listed.isDone(row)) this.#add(listed.at(row), undefined);
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
function toRead({ size = 0, mark }: DiffRow): number {
  return mark?.by === 'md5' ? 0 : size;
}
