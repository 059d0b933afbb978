import { formatError, isPakratError, PakratError } from '../../../core/errors.ts';
import { checkPart } from '../../../files/pieces.ts';
import { ScratchPool } from '../../../files/scratch.ts';
import { getRow, type PakEntry, type PakProblem } from '../../pak.ts';
import { aesKeys, decryptUnit, missingKey } from '../keys.ts';
import type { OpenedIndex, UnrealParts } from '../opened-index.ts';
import { EntryHash } from './entry-hash.ts';
import { findEntryKey } from './entry-key.ts';
import { ivOf, placementProblem, sha1Of } from './entry-record.ts';
import { hasOwnChecksum } from './method-names.ts';
import { type EntryAccess, type EntryCipher, readEntry } from './read-entry.ts';
import type { UnrealEntry } from './unreal-entry.ts';
import { storedHash, verifyEntry } from './verify-entry.ts';

/** The content of the entries of a PAK. Loaded when that is asked for: a list needs none of it. */
export class UnrealContent {
  readonly #parts: UnrealParts;
  readonly #index: OpenedIndex;
  readonly #entries: readonly UnrealEntry[];
  readonly #scratches = new ScratchPool();
  #key: Promise<Uint8Array | undefined> | undefined;

  constructor(parts: UnrealParts, index: OpenedIndex, entries: readonly UnrealEntry[]) {
    this.#parts = parts;
    this.#index = index;
    this.#entries = entries;
  }

  /** The decoded bytes of an entry. Throws as `Pak.read`. */
  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
    const access = await this.#accessTo(getRow(this.#entries, entry));
    const { record, method, name } = access;
    const isHashed = !hasOwnChecksum(method) && this.#parts.options.ignoreHashes !== true;
    const hash = isHashed ? new EntryHash(record.storedSize) : undefined;
    yield* readEntry(access, { offset: 0, size: record.size }, hash);
    hash?.check(sha1Of(record) ?? (await storedHash(access)), name);
  }

  /** Part of the decoded bytes. Throws as `Pak.readRange`. */
  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    const access = await this.#accessTo(getRow(this.#entries, entry));
    checkPart({ name: access.name, size: access.record.size }, offset, size);
    yield* readEntry(access, { offset, size });
  }

  /** Checks an entry, as `Pak.verify`. */
  async verify(entry: PakEntry): Promise<PakProblem | undefined> {
    const scratch = this.#scratches.take();
    try {
      const row = getRow(this.#entries, entry);
      if (!row.record.deleted) await verifyEntry(this.#located(row), scratch);
      return undefined;
    } catch (error) {
      if (!isPakratError(error)) throw error;
      const { code, message, hint } = error;
      return { code, message: hint === undefined ? message : `${message} (${hint})` };
    } finally {
      this.#scratches.give(scratch);
    }
  }

  /** An entry that is where it can be. Throws E_FORMAT_RANGE for one that is not, E_NOT_FOUND for a delete record. */
  #located(row: UnrealEntry): EntryAccess {
    const access = this.#plainAccess(row);
    const { record, source } = access;
    if (record.deleted) throw new PakratError('E_NOT_FOUND', `${row.name} is a delete record and has no content`);
    const problem = placementProblem(record, source.size);
    if (problem !== undefined) throw formatError('E_FORMAT_RANGE', row.name, problem, { offset: record.offset });
    return access;
  }

  #plainAccess(row: UnrealEntry): EntryAccess {
    const { source, format, options } = this.#parts;
    return {
      source,
      format,
      record: row.record,
      cipher: undefined,
      oodle: options.oodle,
      scratches: this.#scratches,
      // Names stay bytes until somebody has to be told one.
      get name() {
        return row.name;
      },
      get method() {
        return row.method;
      },
    };
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
    if (this.#index.key !== undefined) return this.#index.key;
    const keys = aesKeys(this.#parts.options.keys);
    const encrypted = this.#entries.filter(({ record }) => record.encrypted && !record.deleted);
    const accesses = encrypted.map((entry) => this.#plainAccess(entry));
    return findEntryKey(keys, accesses, (access, key) => this.#cipher(access, key));
  }

  #cipher({ record }: EntryAccess, key: Uint8Array): EntryCipher {
    const unit = { encryption: this.#parts.footer.encryption, iv: ivOf(record) };
    return (bytes, position) => decryptUnit(bytes, key, { unit, position });
  }
}
