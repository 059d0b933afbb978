import { ByteReader } from '../../../../core/reader.ts';
import type { NameDecoder } from '../../../names.ts';
import { type EntryRecord, RecordDecoder, type RecordFormat } from '../../entries/entry-record.ts';
import { endOfFString, hashFString, readFString, skipFString } from '../fstring.ts';
import { NameBudget } from '../index-rows.ts';
import { hashStart, noHash } from './name-hash.ts';
import { inSharedBytes, type LegacyData, sharedNumbers } from './shared-rows.ts';
import { StoredRows } from './stored-rows.ts';

/** Names the bytes of an index in errors. */
export const legacyWhat = 'Unreal PAK index';

/**
 * Finds the rows of an index of versions 1 to 9, and looks at all that can be wrong with them.
 * @param reader stands where they start
 * @throws E_FORMAT… for damage
 */
export function findLegacyRows(reader: ByteReader, count: number, format: RecordFormat): LegacyData {
  const budget = new NameBudget();
  const decoder = new RecordDecoder(reader.bytes, format, reader.what);
  const places = sharedNumbers(count);
  for (let row = 0; row < count; row++) {
    places[row] = reader.pos;
    budget.spend(skipFString(reader));
    reader.seek(decoder.endOf(reader.pos));
  }
  return { form: 'legacy', bytes: reader.bytes, places };
}

/** The rows of an index of versions 1 to 9: a name and a record each. */
export class LegacyRows extends StoredRows {
  readonly count: number;
  readonly #data: LegacyData;
  readonly #reader: ByteReader;
  readonly #decodeName: NameDecoder;
  readonly #decoder: RecordDecoder;

  constructor(data: LegacyData, format: RecordFormat, decodeName: NameDecoder) {
    super();
    this.count = data.places.length;
    this.#data = data;
    this.#reader = new ByteReader(data.bytes, legacyWhat);
    this.#decodeName = decodeName;
    this.#decoder = new RecordDecoder(data.bytes, format, legacyWhat);
  }

  storedNameAt(row: number): string {
    this.#reader.seek(this.#data.places[row]!);
    return readFString(this.#reader, this.#decodeName);
  }

  share(): LegacyData {
    return { ...this.#data, bytes: inSharedBytes(this.#data.bytes) };
  }

  protected decodeAt(row: number): EntryRecord {
    return this.#decoder.at(endOfFString(this.#data.bytes, this.#data.places[row]!));
  }

  protected hashBytesAt(row: number): number {
    if (this.#decodeName.keepsAscii !== true) return noHash;
    return hashFString(this.#data.bytes, this.#data.places[row]!, hashStart);
  }
}
