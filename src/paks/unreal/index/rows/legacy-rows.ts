import type { ByteReader } from '../../../../core/reader.ts';
import type { FillingSource } from '../../../../files/scratch.ts';
import type { NameDecoder } from '../../../names.ts';
import { type EntryRecord, RecordDecoder, type RecordFormat } from '../../entries/entry-record.ts';
import { endOfFString, hashFString, readFString, skipFString } from '../fstring.ts';
import { NameBudget } from '../index-rows.ts';
import { hashStart, noHash } from './name-hash.ts';
import { type LegacyData, sharedIndex, sharedNumbers } from './shared-rows.ts';
import { StoredRows } from './stored-rows.ts';
import { changedIndex, type IndexWindows, RowWindows, scanIndex, windowsOf } from './windows.ts';

/** Names the bytes of an index in errors. */
export const legacyWhat = 'Unreal PAK index';

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
  let row = 0;
  scanIndex(windows, { at: start, what: legacyWhat }, (reader) => {
    const decoder = new RecordDecoder(reader.bytes, format, { what: legacyWhat, origin: reader.offset - reader.pos });
    return () => {
      if (row === count) return false;
      const length = skipFString(reader);
      reader.seek(decoder.endOf(reader.pos));
      budget.spend(length);
      places[++row] = reader.offset;
      return true;
    };
  });
  return places;
}

/** The rows of an index of versions 1 to 9: a name and a record each. */
export class LegacyRows extends StoredRows {
  readonly count: number;
  readonly #data: LegacyData;
  readonly #rows: RowWindows;
  readonly #format: RecordFormat;
  readonly #decodeName: NameDecoder;
  /** Of the bytes that were read last. */
  #decoder: RecordDecoder | undefined;
  #decoded: Uint8Array | undefined;

  /** @param source in which the index lies, where it is not in memory */
  constructor(
    data: LegacyData,
    source: FillingSource,
    { format, decodeName }: { format: RecordFormat; decodeName: NameDecoder },
  ) {
    super();
    this.count = data.places.length - 1;
    this.#data = data;
    this.#rows = new RowWindows(windowsOf(data.index, source), data.places, legacyWhat);
    this.#format = format;
    this.#decodeName = decodeName;
  }

  storedNameAt(row: number): string {
    const reader = this.#rows.at(row);
    const name = readFString(reader, this.#decodeName);
    this.#demandEnd(row, this.#decoderOf(reader).endOf(reader.pos));
    return name;
  }

  share(): LegacyData {
    return { ...this.#data, index: sharedIndex(this.#data.index) };
  }

  protected decodeAt(row: number): EntryRecord {
    const reader = this.#rows.at(row);
    const start = endOfFString(reader.bytes, reader.pos);
    const decoder = this.#decoderOf(reader);
    this.#demandEnd(row, decoder.endOf(start));
    return decoder.at(start);
  }

  protected hashBytesAt(row: number): number {
    if (this.#decodeName.keepsAscii !== true) return noHash;
    const { bytes, pos } = this.#rows.at(row);
    if (endOfFString(bytes, pos) >= this.#rows.endOf(row)) throw changedIndex(legacyWhat);
    return hashFString(bytes, pos, hashStart);
  }

  #demandEnd(row: number, end: number): void {
    if (end !== this.#rows.endOf(row)) throw changedIndex(legacyWhat);
  }

  #decoderOf({ bytes }: ByteReader): RecordDecoder {
    if (this.#decoder === undefined || this.#decoded !== bytes) {
      this.#decoder = new RecordDecoder(bytes, this.#format, { what: legacyWhat });
      this.#decoded = bytes;
    }
    return this.#decoder;
  }
}
