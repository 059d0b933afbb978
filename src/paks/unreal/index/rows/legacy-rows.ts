import { codeOf, PakratError } from '../../../../core/errors.ts';
import { ByteReader } from '../../../../core/reader.ts';
import type { FillingSource } from '../../../../files/scratch.ts';
import type { NameDecoder } from '../../../names.ts';
import { type EntryRecord, RecordDecoder, type RecordFormat } from '../../entries/entry-record.ts';
import { endOfFString, hashFString, readFString, skipFString } from '../fstring.ts';
import { NameBudget } from '../index-rows.ts';
import { hashStart, noHash } from './name-hash.ts';
import { inSharedBytes, type LegacyData, sharedNumbers } from './shared-rows.ts';
import { StoredRows } from './stored-rows.ts';
import { type IndexWindow, type IndexWindows, scanBytes, windowsOf } from './windows.ts';

/** Names the bytes of an index in errors. */
export const legacyWhat = 'Unreal PAK index';

/** A row that is larger than what is looked at at once is looked at again with so many times as much. */
const scanGrowth = 8;

/**
 * Finds the rows of an index of versions 1 to 9, and looks at all that can be wrong with them.
 * @param rows.start where they start
 * @returns the place of each row, and the end of the last
 * @throws E_FORMAT… for damage, and as the source does
 */
export function findLegacyRows(
  windows: IndexWindows,
  { start, count, format }: { start: number; count: number; format: RecordFormat },
): Uint32Array {
  const budget = new NameBudget();
  const places = sharedNumbers(count + 1);
  places[0] = start;
  const memory = new Uint8Array(Math.min(scanBytes, windows.size));
  let row = 0;
  for (let size = scanBytes; row < count; ) {
    const first = row;
    const window = windows.read(places[row]!, size, memory);
    const rows = new WindowRows(window, format);
    try {
      for (; row < count; row++) {
        budget.spend(rows.skip(places[row]!));
        places[row + 1] = rows.end;
      }
    } catch (error) {
      const isLast = window.start + window.bytes.length === windows.size;
      if (isLast || codeOf(error) !== 'E_FORMAT_TRUNCATED') throw error;
      size = row === first ? size * scanGrowth : scanBytes;
    }
  }
  return places;
}

/** The rows in a part of an index. */
class WindowRows {
  readonly #start: number;
  readonly #bytes: Uint8Array;
  readonly #reader: ByteReader;
  readonly #decoder: RecordDecoder;

  constructor({ bytes, start }: IndexWindow, format: RecordFormat) {
    this.#start = start;
    this.#bytes = bytes;
    this.#reader = new ByteReader(bytes, legacyWhat, 0, start);
    this.#decoder = new RecordDecoder(bytes, format, { what: legacyWhat, origin: start });
  }

  /** Where the row ends that was skipped last. */
  get end(): number {
    return this.#start + this.#reader.pos;
  }

  /** Moves behind the row at a place. Returns the length of its name. Throws E_FORMAT… for damage. */
  skip(place: number): number {
    const reader = this.#reader;
    reader.seek(place - this.#start);
    const length = skipFString(reader);
    reader.seek(this.#decoder.endOf(reader.pos));
    return length;
  }

  /** @param end of the row, at which it must end */
  nameAt(place: number, end: number, decodeName: NameDecoder): string {
    this.#reader.seek(place - this.#start);
    const name = readFString(this.#reader, decodeName);
    this.#demandEnd(this.#reader.pos, end);
    return name;
  }

  /** @param end of the row, at which it must end */
  recordAt(place: number, end: number): EntryRecord {
    const start = endOfFString(this.#bytes, place - this.#start);
    this.#demandEnd(start, end);
    return this.#decoder.at(start);
  }

  #demandEnd(record: number, end: number): void {
    if (this.#start + this.#decoder.endOf(record) !== end) throw changed();
  }

  /** @param end of the row, before which the name must end */
  hashAt(place: number, end: number): number {
    const start = place - this.#start;
    if (this.#start + endOfFString(this.#bytes, start) >= end) throw changed();
    return hashFString(this.#bytes, start, hashStart);
  }
}

/** What was found right may be something else by now: nobody keeps others from writing to the file. So each row is looked at again where it is read. */
function changed(): PakratError {
  return new PakratError('E_INTEGRITY', `${legacyWhat}: it is not what it was when it was opened`);
}

/** Rows that follow one another are read so many bytes at a time. */
const aheadBytes = 64 << 10;

/** The rows of an index of versions 1 to 9: a name and a record each. */
export class LegacyRows extends StoredRows {
  readonly count: number;
  readonly #data: LegacyData;
  readonly #windows: IndexWindows;
  readonly #format: RecordFormat;
  readonly #decodeName: NameDecoder;
  /** The rows that were read last, and the numbers of the first and of the one behind them. */
  #rows: WindowRows | undefined;
  #first = 0;
  #end = 0;

  /** @param source in which the index lies, where it is not in memory */
  constructor(
    data: LegacyData,
    source: FillingSource,
    { format, decodeName }: { format: RecordFormat; decodeName: NameDecoder },
  ) {
    super();
    this.count = data.places.length - 1;
    this.#data = data;
    this.#windows = windowsOf(data.index, source);
    this.#format = format;
    this.#decodeName = decodeName;
  }

  storedNameAt(row: number): string {
    return this.#rowsWith(row).nameAt(this.#data.places[row]!, this.#data.places[row + 1]!, this.#decodeName);
  }

  share(): LegacyData {
    const { index } = this.#data;
    return { ...this.#data, index: index instanceof Uint8Array ? inSharedBytes(index) : index };
  }

  protected decodeAt(row: number): EntryRecord {
    return this.#rowsWith(row).recordAt(this.#data.places[row]!, this.#data.places[row + 1]!);
  }

  protected hashBytesAt(row: number): number {
    if (this.#decodeName.keepsAscii !== true) return noHash;
    return this.#rowsWith(row).hashAt(this.#data.places[row]!, this.#data.places[row + 1]!);
  }

  #rowsWith(row: number): WindowRows {
    if (this.#rows === undefined || row < this.#first || row >= this.#end) this.#rows = this.#read(row);
    return this.#rows;
  }

  /** One row, or with it those that may be asked for next: all of them where they are in memory. */
  #read(row: number): WindowRows {
    const { index, places } = this.#data;
    const isInMemory = index instanceof Uint8Array;
    let [first, end] = isInMemory ? [0, this.count] : [row, row + 1];
    const hasRoom = (): boolean => places[end]! - places[first]! < aheadBytes;
    if (row === this.#end) while (end < this.count && hasRoom()) end += 1;
    if (row === this.#first - 1) while (first > 0 && hasRoom()) first -= 1;
    const start = places[first]!;
    const rows = new WindowRows(this.#windows.read(start, places[end]! - start), this.#format);
    [this.#first, this.#end] = [first, end];
    return rows;
  }
}
