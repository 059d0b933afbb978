import { viewOf } from '../../../../core/bytes.ts';
import { formatError } from '../../../../core/errors.ts';
import type { ByteReader } from '../../../../core/reader.ts';
import { type EntryRecord, emptyRecord, RecordDecoder } from '../../entries/entry-record.ts';
import { deletedLocation } from '../directory-index.ts';
import { decodeEncodedEntry, type EncodedFormat, fitsEncodedEntry } from '../encoded-entry.ts';
import { inSharedBytes, type LocatedData, sharedNumbers } from './shared-rows.ts';

const what = 'Unreal PAK index';
const ivSize = 12;

/**
 * Finds the plain entries of a primary index.
 * @param reader stands at the first of `count`
 * @throws E_FORMAT… for damage
 */
export function findPlainRecords(
  reader: ByteReader,
  count: number,
  { encoded, format }: { encoded: Uint8Array; format: EncodedFormat },
): LocatedData {
  const decoder = new RecordDecoder(reader.bytes, format, { what: reader.what });
  const plainPlaces = sharedNumbers(count);
  for (let i = 0; i < count; i++) {
    plainPlaces[i] = reader.pos;
    reader.seek(decoder.endOf(reader.pos));
  }
  const ivs = format.hasIvs ? reader.pos : -1;
  if (format.hasIvs) for (let i = 0; i < count; i++) reader.skip(ivSize);
  return { encoded, plain: reader.bytes, plainPlaces, ivs };
}

/** The records of an index of version 10 and above, which its rows name by a location (primary-index.ts). */
export class LocatedRecords {
  readonly data: LocatedData;
  readonly #format: EncodedFormat;
  readonly #encoded: DataView;
  readonly #plain: RecordDecoder;

  /** @param data whose plain records are there, all of them */
  constructor(data: LocatedData, format: EncodedFormat) {
    const { encoded, plain } = data;
    this.data = data;
    this.#format = format;
    this.#encoded = viewOf(encoded);
    this.#plain = new RecordDecoder(plain, format, { what });
  }

  /** The record at a location. Throws E_FORMAT_RANGE, E_FORMAT_TRUNCATED where there is none. */
  at(location: number): EntryRecord {
    if (location === deletedLocation) return { ...emptyRecord, deleted: true };
    if (location >= 0) return decodeEncodedEntry(this.data.encoded, location, this.#format);
    const { plainPlaces, ivs } = this.data;
    const number = -location - 1;
    const place = plainPlaces[number];
    if (place === undefined) throw formatError('E_FORMAT_RANGE', what, `there is no plain entry ${number}`);
    const record = this.#plain.at(place);
    // The IV of a plain entry does not stand in its record, but lies in the same bytes.
    return ivs < 0 ? record : { ...record, ivOffset: ivs + number * ivSize };
  }

  /** Throws as {@link at}, in a fraction of its time. */
  check(location: number): void {
    if (location < 0 || !fitsEncodedEntry(this.#encoded, location, this.#format)) this.at(location);
  }

  share(): LocatedData {
    const { encoded, plain, ...rest } = this.data;
    return { ...rest, encoded: inSharedBytes(encoded), plain: inSharedBytes(plain) };
  }
}
