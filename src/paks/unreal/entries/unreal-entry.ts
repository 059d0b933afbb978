import { isAllZero, toHex } from '../../../core/bytes.ts';
import type { HiddenKind, PakEntry } from '../../pak.ts';
import type { Footer } from '../footer.ts';
import type { IndexRows } from '../index/index-rows.ts';
import type { RowNames } from '../index/rows/row-names.ts';
import { dataOffset, type EntryRecord, placementProblem, sha1Of } from './entry-record.ts';
import { methodName } from './method-names.ts';

/** Ticks of 100 ns from the year 1 to 1970; smaller times were written as seconds since 1970. */
const ticksTo1970 = 621355968000000000n;
const ticksPerMillisecond = 10000n;

/** No system has longer paths. */
const maxNameLength = 4096;

/** The parts of a PAK that its entries share. */
export interface EntryContext {
  rows: IndexRows;
  footer: Footer;
  fileSize: number;
  names: RowNames;
}

/** A row of the index as the outside sees it; everything is decoded when it is asked for. */
export class UnrealEntry implements PakEntry {
  // Thousands are made at once: declared only, fields cost a tenth of what the language makes of them otherwise.
  declare readonly index: number;
  declare private readonly context: EntryContext;
  declare private readonly givenName: string | undefined;

  /** @param givenName the name that the index does not have for it */
  constructor(index: number, context: EntryContext, givenName?: string) {
    this.index = index;
    this.context = context;
    this.givenName = givenName;
  }

  get name(): string {
    return this.givenName ?? this.context.rows.nameAt(this.index);
  }
  get record(): EntryRecord {
    return this.context.rows.recordAt(this.index);
  }
  get method(): string {
    return methodName(this.record.method, this.context.footer);
  }
  get size(): number {
    return this.record.size;
  }
  get storedSize(): number {
    return this.record.storedSize;
  }
  get offset(): number | undefined {
    const { record } = this;
    return record.deleted ? undefined : dataOffset(record);
  }
  get encrypted(): boolean {
    return this.record.encrypted;
  }
  /** The key of an encrypted index has proved itself; that of entries alone may not. */
  get mayBeUnsure(): boolean {
    const { encrypted, size } = this.record;
    return encrypted && size > 0 && !this.context.footer.encryptedIndex;
  }
  get hidden(): HiddenKind | undefined {
    if (this.context.names.shadowOf(this.index) !== undefined) return 'shadowed';
    return this.record.deleted ? 'delete-record' : undefined;
  }
  get note(): string | undefined {
    const shadow = this.context.names.shadowOf(this.index);
    if (shadow !== undefined) return `shadowed: entry ${shadow} has the same name and comes later`;
    if (this.record.deleted) return 'takes this name away from PAKs of lower order';
    const problem = placementProblem(this.record, this.context.fileSize);
    if (problem !== undefined) return `cannot be read: ${problem}`;
    const { length } = this.name;
    return length > maxNameLength ? `not extracted: its name has ${length} characters` : undefined;
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

  /** The same entry under another name. */
  named(name: string): UnrealEntry {
    return new UnrealEntry(this.index, this.context, name);
  }
}
