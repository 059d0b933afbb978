import type { ByteSource } from '../../core/byte-source.ts';
import { isAllZero, toHex } from '../../core/bytes.ts';
import { formatError, isPakratError, PakratError } from '../../core/errors.ts';
import { foldName } from '../names.ts';
import type { HiddenKind, Pak, PakEntry, PakOptions, PakProblem } from '../pak.ts';
import { ScratchPool } from '../scratch.ts';
import { EntryHash } from './entry-hash.ts';
import { findEntryKey } from './entry-key.ts';
import { type EntryRecord, ivOf, sha1Of } from './entry-record.ts';
import type { Footer } from './footer.ts';
import type { IndexRow } from './index-rows.ts';
import { aesKeys, decryptUnit, missingKey } from './keys.ts';
import { hasOwnChecksum, methodName } from './methods.ts';
import { relativeNames } from './mount-point.ts';
import type { OpenedIndex, PakFormat } from './open.ts';
import { pathHash } from './path-hash.ts';
import { type DecodedRange, type EntryAccess, type EntryCipher, placementProblem, readEntry } from './read-entry.ts';
import { storedHash, verifyEntry } from './verify-entry.ts';

/** Ticks of 100 ns from the year 1 to 1970; smaller times were written as seconds since 1970. */
const ticksTo1970 = 621355968000000000n;
const ticksPerMillisecond = 10000n;

/** A row of the index as the outside sees it; what is rarely asked for is decoded when it is. */
export class UnrealEntry implements PakEntry {
  readonly index: number;
  readonly name: string;
  readonly method: string;
  readonly record: EntryRecord;
  hidden: HiddenKind | undefined;
  note: string | undefined;

  constructor(index: number, row: IndexRow, method: string) {
    this.index = index;
    this.name = row.name;
    this.method = method;
    this.record = row.record;
  }

  get size(): number {
    return this.record.size;
  }
  get storedSize(): number {
    return this.record.storedSize;
  }
  get encrypted(): boolean {
    return this.record.encrypted;
  }
  get sha1(): string | undefined {
    const sha1 = sha1Of(this.record);
    return sha1 === undefined || isAllZero(sha1) ? undefined : toHex(sha1);
  }
  get mtime(): Date | undefined {
    const { time } = this.record;
    if (time === undefined || time === 0n) return undefined;
    const milliseconds = time >= ticksTo1970 ? (time - ticksTo1970) / ticksPerMillisecond : time * 1000n;
    const date = new Date(Number(milliseconds));
    return Number.isNaN(date.getTime()) ? undefined : date;
  }
}

/** What a PAK is made of. */
export interface UnrealParts {
  source: ByteSource;
  footer: Footer;
  format: PakFormat;
  /** The index, or why it cannot be read. */
  index: OpenedIndex | PakratError;
  options: PakOptions;
  notes: readonly string[];
  facts: Record<string, unknown>;
}

/** An open Unreal PAK. With a locked index only its facts can be asked. */
export class UnrealPak implements Pak {
  readonly family = 'unreal';
  readonly version: string;
  readonly notes: readonly string[];
  readonly facts: Record<string, unknown>;
  readonly #parts: UnrealParts;
  readonly #entries: readonly UnrealEntry[];
  readonly #byName = new Map<string, UnrealEntry>();
  readonly #scratches = new ScratchPool();
  #key: Promise<Uint8Array | undefined> | undefined;

  constructor(parts: UnrealParts) {
    this.#parts = parts;
    this.version = parts.footer.label;
    this.notes = parts.notes;
    this.facts = parts.facts;
    const rows = isPakratError(parts.index) ? [] : parts.index.rows;
    this.#entries = rows.map((row, index) => new UnrealEntry(index, row, methodName(row.record.method, parts.footer)));
    for (const entry of this.#entries) {
      this.#describe(entry);
      this.#register(entry);
    }
  }

  #describe(entry: UnrealEntry): void {
    if (entry.record.deleted) {
      entry.hidden = 'delete-record';
      entry.note = 'takes this name away from PAKs of lower order';
      return;
    }
    const problem = placementProblem(entry.record, this.#parts.source.size);
    if (problem !== undefined) entry.note = `cannot be read: ${problem}`;
  }

  get locked(): PakratError | undefined {
    const { index } = this.#parts;
    return isPakratError(index) ? index : undefined;
  }

  get entries(): readonly UnrealEntry[] {
    if (this.locked !== undefined) throw this.locked;
    return this.#entries;
  }

  /** Where names start in the game. Throws as `entries`. */
  get mountPoint(): string {
    return this.#index.mountPoint;
  }

  get #index(): OpenedIndex {
    const { index } = this.#parts;
    if (isPakratError(index)) throw index;
    return index;
  }

  /** Rows by name without case. A later row of a name takes the place of an earlier one, as in the engine's table. */
  #register(entry: UnrealEntry): void {
    const key = foldName(entry.name);
    const earlier = this.#byName.get(key);
    if (earlier !== undefined) {
      earlier.hidden = 'shadowed';
      earlier.note = `shadowed: entry ${entry.index} has the same name and comes later`;
    }
    this.#byName.set(key, entry);
  }

  find(name: string): PakEntry | undefined {
    const { mountPoint, findRow, seed } = this.#index;
    const candidates = relativeNames(mountPoint, name);
    for (const candidate of candidates) {
      const entry = this.#byName.get(foldName(candidate));
      if (entry !== undefined) return entry.record.deleted ? undefined : entry;
    }
    for (const candidate of findRow === undefined ? [] : candidates) {
      const row = findRow!(pathHash(candidate, seed, this.#parts.footer.version));
      const entry = row === undefined ? undefined : this.#entries[row];
      if (entry !== undefined) return new UnrealEntry(entry.index, { ...entry, name: candidate }, entry.method);
    }
    return undefined;
  }

  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
    const access = await this.#accessTo(this.#rowOf(entry));
    const { record, method, name } = access;
    const isHashed = !hasOwnChecksum(method) && this.#parts.options.ignoreHashes !== true;
    const hash = isHashed ? new EntryHash(record.storedSize) : undefined;
    yield* readEntry(access, { offset: 0, size: record.size }, hash);
    hash?.check(sha1Of(record) ?? (await storedHash(access)), name);
  }

  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    const access = await this.#accessTo(this.#rowOf(entry));
    if (offset < 0 || size < 0 || offset + size > access.record.size) {
      throw formatError('E_FORMAT_RANGE', access.name, `has ${access.record.size} bytes, not ${size} from ${offset}`);
    }
    const range: DecodedRange = { offset, size };
    yield* readEntry(access, range);
  }

  async verify(entry: PakEntry): Promise<PakProblem | undefined> {
    try {
      const row = this.#rowOf(entry);
      if (!row.record.deleted) await this.#verifyStored(this.#located(row));
      return undefined;
    } catch (error) {
      if (!isPakratError(error)) throw error;
      return {
        code: error.code,
        message: error.hint === undefined ? error.message : `${error.message} (${error.hint})`,
      };
    }
  }

  async #verifyStored(access: EntryAccess): Promise<void> {
    const scratch = this.#scratches.take();
    try {
      await verifyEntry(access, scratch);
    } finally {
      this.#scratches.give(scratch);
    }
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    const { index } = this.#parts;
    try {
      if (isPakratError(index)) throw index;
      await index.readRest();
      return index.problems[0];
    } catch (error) {
      if (!isPakratError(error)) throw error;
      return { code: error.code, message: error.message };
    }
  }

  close(): Promise<void> {
    return this.#parts.source.close();
  }

  #rowOf(entry: PakEntry): UnrealEntry {
    const row = this.entries[entry.index];
    if (row === undefined) throw new PakratError('E_NOT_FOUND', `there is no entry ${entry.index}`);
    return row;
  }

  /** An entry that is where it can be. Throws E_FORMAT_RANGE for one that is not, E_NOT_FOUND for a delete record. */
  #located({ record, name, method }: UnrealEntry): EntryAccess {
    const { source, format } = this.#parts;
    if (record.deleted) throw new PakratError('E_NOT_FOUND', `${name} is a delete record and has no content`);
    const problem = placementProblem(record, source.size);
    if (problem !== undefined) throw formatError('E_FORMAT_RANGE', name, problem, { offset: record.offset });
    return { source, format, record, name, method, cipher: undefined, scratches: this.#scratches };
  }

  async #accessTo(row: UnrealEntry): Promise<EntryAccess> {
    const access = this.#located(row);
    if (!row.encrypted || row.size === 0) return access;
    this.#key ??= this.#findKey();
    const key = await this.#key;
    const keys = aesKeys(this.#parts.options.keys);
    if (key === undefined) throw missingKey(row.name, keys.length, this.#parts.footer);
    return { ...access, cipher: this.#cipher(access, key) };
  }

  async #findKey(): Promise<Uint8Array | undefined> {
    const known = this.#index.key;
    if (known !== undefined) return known;
    const keys = aesKeys(this.#parts.options.keys);
    const { source, format } = this.#parts;
    const encrypted = this.#entries.flatMap(({ record, name, method, encrypted: isEncrypted }): EntryAccess[] => {
      return isEncrypted && !record.deleted
        ? [{ source, format, record, name, method, cipher: undefined, scratches: this.#scratches }]
        : [];
    });
    return findEntryKey(keys, encrypted, (access, key) => this.#cipher(access, key));
  }

  #cipher({ record }: EntryAccess, key: Uint8Array): EntryCipher {
    const unit = { encryption: this.#parts.footer.encryption, iv: ivOf(record) };
    return (bytes, position) => decryptUnit(bytes, key, { unit, position });
  }
}
