import { isAllZero } from '../../../core/bytes.ts';
import { formatError, isPakratError, PakratError } from '../../../core/errors.ts';
import { checkPart } from '../../../files/pieces.ts';
import { ScratchPool } from '../../../files/scratch.ts';
import type { EntryPart, EntryStatus, PakEntry, PakProblem, VerifyWork } from '../../pak.ts';
import { aesKeys, decryptUnit, missingKey } from '../keys.ts';
import type { OpenedIndex, UnrealParts } from '../opened-index.ts';
import { EntryHash } from './entry-hash.ts';
import { findEntryKey, type KeyChoice } from './entry-key.ts';
import type { EntryList } from './entry-list.ts';
import { ivOf, placementProblem } from './entry-record.ts';
import { hasOwnChecksum } from './method-names.ts';
import { isFilledAsWritten } from './padding.ts';
import { QuickReader } from './quick-reader.ts';
import { type EntryAccess, type EntryCipher, readEntry } from './read-entry.ts';
import type { UnrealEntry } from './unreal-entry.ts';
import { checkRecord, isRightNow, readCheckedRecord, verifyEntry } from './verify-entry.ts';

/** Entries that are asked whether a PAK has hashes. */
const hashSamples = 16;
/** Marks of a row whose record is that of the index, without a SHA-1 and with one. */
const checkedBounds = 1;
const checkedHash = 2;

/** The content of the entries of a PAK. Loaded when that is asked for: a list needs none of it. */
export class UnrealContent {
  readonly #parts: UnrealParts;
  readonly #index: OpenedIndex;
  readonly #entries: EntryList;
  readonly #scratches = new ScratchPool();
  /** Of each row what its record in front of the data said when it was checked. */
  readonly #checked: Uint8Array;
  #quick: QuickReader | undefined;
  #key: Promise<KeyChoice> | undefined;
  #hasHashes: Promise<boolean> | undefined;

  constructor(parts: UnrealParts, index: OpenedIndex, entries: EntryList) {
    this.#parts = parts;
    this.#index = index;
    this.#entries = entries;
    this.#checked = new Uint8Array(entries.count);
  }

  /** The decoded bytes of an entry. Throws as `Pak.read`. */
  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
    const row = this.#entries.own(entry);
    const located = this.#located(row);
    const expected = this.#ignoresHashes ? undefined : await this.#checkRecord(row, located);
    const { record } = located;
    const isHashed = expected !== undefined && !hasOwnChecksum(row.method);
    if (isHashed && isAllZero(expected)) await this.#demandNoHashes(row);
    const hash = isHashed ? new EntryHash(record.storedSize) : undefined;
    yield* readEntry(await this.#unlocked(row, located), { offset: 0, size: record.size }, hash);
    if (expected !== undefined) hash?.check(expected, row.name);
  }

  /** Part of the decoded bytes. Throws as `Pak.readRange`. */
  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    const row = this.#entries.own(entry);
    const located = this.#located(row);
    checkPart({ name: row.name, size: located.record.size }, offset, size);
    if (!this.#ignoresHashes && this.#checked[row.index] === 0) await this.#checkRecord(row, located);
    yield* readEntry(await this.#unlocked(row, located), { offset, size });
  }

  /** As {@link ReadAtOnce}. */
  *readAtOnce(entry: PakEntry, part?: EntryPart): Generator<Uint8Array, boolean> {
    const row = this.#entries.own(entry);
    if (row.encrypted || this.#ignoresHashes) return false;
    try {
      const isChecked = part !== undefined && this.#checked[row.index] !== 0;
      const check = (access: EntryAccess, bytes: Uint8Array): Uint8Array =>
        this.#markChecked(row, checkRecord(access, bytes));
      this.#quick ??= new QuickReader();
      return yield* this.#quick.read(this.#located(row), { part, check: isChecked ? undefined : check });
    } catch (error) {
      if (isPakratError(error)) return false;
      throw error;
    }
  }

  /** Checks an entry, as `Pak.verify`. */
  async verify(entry: PakEntry, { decode = false }: VerifyWork): Promise<PakProblem | undefined> {
    const scratch = this.#scratches.take();
    try {
      const row = this.#entries.own(entry);
      const { record } = row;
      if (record.deleted) return undefined;
      const located = this.#located(row);
      const verified = verifyEntry(located, scratch);
      const isHashed = typeof verified === 'boolean' ? verified : await verified;
      this.#checked[row.index] = isHashed ? checkedHash : checkedBounds;
      if (!isHashed) await this.#demandNoHashes(row);
      if (decode && record.method !== 0) {
        for await (const _ of readEntry(await this.#unlocked(row, located), { offset: 0, size: record.size }));
      }
      return undefined;
    } catch (error) {
      if (!isPakratError(error)) throw error;
      const { code, message, hint } = error;
      return { code, message: hint === undefined ? message : `${message} (${hint})` };
    } finally {
      this.#scratches.give(scratch);
    }
  }

  /** As `Pak.checkerAtOnce` says, of a small entry that is not encrypted. */
  isRightAtOnce(entry: PakEntry): boolean {
    const scratch = this.#scratches.take();
    try {
      const row = this.#entries.own(entry);
      if (row.size === 0 || row.encrypted) return false;
      const isRight = isRightNow(this.#located(row), scratch);
      if (isRight) this.#checked[row.index] = checkedHash;
      return isRight;
    } catch (error) {
      if (isPakratError(error)) return false;
      throw error;
    } finally {
      this.#scratches.give(scratch);
    }
  }

  /** As `Pak.hasProof`. */
  async hasProof(entry: PakEntry, { decode = false }: VerifyWork): Promise<boolean> {
    const row = this.#entries.own(entry);
    if (row.size === 0 || row.record.deleted || (decode && row.record.method !== 0)) return true;
    if (this.#checked[row.index] === 0) await this.#checkRecord(row, this.#located(row));
    return this.#checked[row.index] === checkedHash && (await this.#isProvenToItsEnd(row));
  }

  /** Whether what the SHA-1 of an encrypted entry leaves out is as it was written; true where there is no key to look at it. */
  async #isProvenToItsEnd(row: UnrealEntry): Promise<boolean> {
    if (!row.encrypted || ivOf(row.record) !== undefined || (await this.#chooseKey()).key === undefined) return true;
    return isFilledAsWritten(await this.#unlocked(row, this.#located(row)));
  }

  /** As `Pak.status`. */
  async status(entry: PakEntry): Promise<EntryStatus> {
    const row = this.#entries.own(entry);
    if (!row.mayBeUnsure || hasOwnChecksum(row.method)) return 'exact';
    const { key, isProven } = await this.#chooseKey();
    return key === undefined || isProven ? 'exact' : 'key unverified';
  }

  get #ignoresHashes(): boolean {
    return this.#parts.options.ignoreHashes === true;
  }

  /** The SHA-1 of an entry, its record checked. Throws as {@link readCheckedRecord}. */
  async #checkRecord(row: UnrealEntry, access: EntryAccess): Promise<Uint8Array> {
    return this.#markChecked(row, await readCheckedRecord(access));
  }

  /** @param hash what its record says @returns the same */
  #markChecked(row: UnrealEntry, hash: Uint8Array): Uint8Array {
    this.#checked[row.index] = isAllZero(hash) ? checkedBounds : checkedHash;
    return hash;
  }

  /** Some tools write no hashes at all. In any other PAK an entry without one has lost it. Throws E_INTEGRITY. */
  async #demandNoHashes(row: UnrealEntry): Promise<void> {
    this.#hasHashes ??= this.#findHash();
    if (row.size === 0 || !(await this.#hasHashes)) return;
    throw new PakratError('E_INTEGRITY', `${row.name}: its SHA-1 is zeros, and other entries have one`, {
      hint: 'The PAK is damaged, or was changed by hand.',
      data: { name: row.name },
    });
  }

  async #findHash(): Promise<boolean> {
    const step = Math.max(1, Math.floor(this.#entries.count / hashSamples));
    for (let i = 0; i < this.#entries.count; i += step) {
      const row = this.#entries.at(i);
      if (row === undefined || row.size === 0 || row.record.deleted) continue;
      try {
        if (!isAllZero(await this.#checkRecord(row, this.#located(row)))) return true;
      } catch (error) {
        if (!isPakratError(error)) throw error;
      }
    }
    return false;
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
      row,
    };
  }

  /** An entry with the cipher that it needs. Throws E_KEY_MISSING. */
  async #unlocked(row: UnrealEntry, access: EntryAccess): Promise<EntryAccess> {
    if (!row.encrypted || row.size === 0) return access;
    return { ...access, cipher: this.#cipher(access, await this.entryKey(row.name)) };
  }

  /** The key of the entries. @param what needs it, for the error @throws E_KEY_MISSING */
  async entryKey(what = this.#parts.source.name): Promise<Uint8Array> {
    const { key, possible } = await this.#chooseKey();
    const given = aesKeys(this.#parts.options.keys).length;
    if (key === undefined) throw missingKey(what, this.#parts.footer, { given, possible });
    return key;
  }

  #chooseKey(): Promise<KeyChoice> {
    this.#key ??= this.#findKey();
    return this.#key;
  }

  async #findKey(): Promise<KeyChoice> {
    const { key } = this.#index;
    if (key !== undefined) return { key, isProven: true, possible: 1 };
    const keys = aesKeys(this.#parts.options.keys);
    const accesses: EntryAccess[] = [];
    for (let i = 0; i < this.#entries.count; i++) {
      const row = this.#entries.at(i);
      if (row?.record.encrypted === true && !row.record.deleted) accesses.push(this.#plainAccess(row));
    }
    return findEntryKey(keys, accesses, (access, key) => this.#cipher(access, key));
  }

  #cipher({ record }: EntryAccess, key: Uint8Array): EntryCipher {
    const unit = { encryption: this.#parts.footer.encryption, iv: ivOf(record) };
    return (bytes, position) => decryptUnit(bytes, key, { unit, position });
  }
}
