import { isPakratError, type PakratError } from '../../core/errors.ts';
import { offerEntries } from '../many-entries.ts';
import type { PackResult, PackSink, RewriteOptions, RewriteRow } from '../packing.ts';
import {
  type EntryStatus,
  type Pak,
  type PakEntry,
  type PakProblem,
  problemOf,
  type ReadAtOnce,
  type VerifyWork,
} from '../pak.ts';
import { unrealFacts, unrealNotes } from './describe.ts';
import type { UnrealContent } from './entries/content.ts';
import { EntryList } from './entries/entry-list.ts';
import { hasOwnChecksum } from './entries/method-names.ts';
import type { UnrealEntry } from './entries/unreal-entry.ts';
import { RowList, relativeNames } from './index/index-rows.ts';
import { RowNames } from './index/rows/row-names.ts';
import type { OpenedIndex, SharedIndex, UnrealParts } from './opened-index.ts';

/** An open Unreal PAK. With a locked index only its facts can be asked. */
export class UnrealPak implements Pak {
  readonly family = 'unreal';
  readonly version: string;
  readonly notes: readonly string[];
  readonly #parts: UnrealParts;
  readonly #entries: EntryList;
  readonly #names: RowNames;
  #content: Promise<UnrealContent> | undefined;

  constructor(parts: UnrealParts) {
    const { footer, index, source } = parts;
    const rows = isPakratError(index) ? new RowList() : index.rows;
    this.#parts = parts;
    this.version = footer.label;
    this.notes = unrealNotes(footer, index);
    this.#names = new RowNames(rows);
    const entries = new EntryList({ rows, footer, fileSize: source.size, names: this.#names });
    this.#entries = entries;
    // What a locked PAK is asked for it refuses by itself.
    if (!isPakratError(index))
      offerEntries(this, { count: entries.count, at: (row) => entries.at(row), share: () => shareIndex(index) });
  }

  get facts(): Record<string, unknown> {
    const { footer, index, source } = this.#parts;
    return unrealFacts(footer, index, source.size);
  }

  get locked(): PakratError | undefined {
    const { index } = this.#parts;
    return isPakratError(index) ? index : undefined;
  }

  get entries(): readonly UnrealEntry[] {
    if (this.locked !== undefined) throw this.locked;
    return this.#entries.all();
  }

  /** The folder of the game below which its names are. Throws as `entries`. */
  get mountPoint(): string {
    return this.#index.mountPoint;
  }

  get #index(): OpenedIndex {
    const { index } = this.#parts;
    if (isPakratError(index)) throw index;
    return index;
  }

  find(name: string): PakEntry | undefined {
    const { mountPoint, findRow } = this.#index;
    const candidates = relativeNames(mountPoint, name);
    for (const candidate of candidates) {
      const entry = this.#entries.keep(this.#names.find(candidate) ?? -1);
      if (entry !== undefined) return entry.record.deleted ? undefined : entry;
    }
    for (const candidate of candidates) {
      const entry = this.#entries.at(findRow?.(candidate) ?? -1);
      if (entry !== undefined) return entry.named(candidate);
    }
    return undefined;
  }

  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
    yield* (await this.#open()).read(entry);
  }

  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    yield* (await this.#open()).readRange(entry, offset, size);
  }

  async readerAtOnce(): Promise<ReadAtOnce> {
    const content = await this.#open();
    return (entry, part) => content.readAtOnce(entry, part);
  }

  async checkerAtOnce(): Promise<(entry: PakEntry) => boolean> {
    const content = await this.#open();
    return (entry) => content.isRightAtOnce(entry);
  }

  /** Blocks that have checksums. */
  partSize(entry: PakEntry): number | undefined {
    const { record, method } = this.#entries.own(entry);
    return record.blockCount > 1 && hasOwnChecksum(method) ? record.blockSize : undefined;
  }

  async status(entry: PakEntry): Promise<EntryStatus> {
    return (await this.#open()).status(entry);
  }

  async hasProof(entry: PakEntry, work: VerifyWork = {}): Promise<boolean> {
    return (await this.#open()).hasProof(entry, work);
  }

  async verify(entry: PakEntry, work: VerifyWork = {}): Promise<PakProblem | undefined> {
    const { locked } = this;
    if (locked !== undefined) return { code: locked.code, message: `${locked.message} (${locked.hint})` };
    return (await this.#open()).verify(entry, work);
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    try {
      await this.#index.readRest();
      return this.#index.problems[0];
    } catch (error) {
      return problemOf(error);
    }
  }

  async rewrite(rows: readonly RewriteRow[], sink: PackSink, options?: RewriteOptions): Promise<PackResult> {
    const { rewriteUnrealPak } = await import('./write/rewrite.ts');
    const entryKey = async (): Promise<Uint8Array> => (await this.#open()).entryKey();
    return rewriteUnrealPak({ parts: this.#parts, index: this.#index, entryKey }, rows, sink, options);
  }

  close(): Promise<void> {
    return this.#parts.source.close();
  }

  #open(): Promise<UnrealContent> {
    this.#content ??= import('./entries/content.ts').then(
      ({ UnrealContent }) => new UnrealContent(this.#parts, this.#index, this.#entries),
    );
    return this.#content;
  }
}

/** The index for threads, where its rows are bytes. */
function shareIndex({ mountPoint, seed, key, rows }: OpenedIndex): SharedIndex | undefined {
  const shared = rows.share?.();
  return shared && { mountPoint, seed, key, rows: shared };
}
