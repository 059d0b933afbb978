import { viewOf } from '../../../../core/bytes.ts';
import { codeOf, formatError } from '../../../../core/errors.ts';
import type { ByteReader } from '../../../../core/reader.ts';
import type { FillingSource } from '../../../../files/scratch.ts';
import { type EntryRecord, emptyRecord, RecordDecoder } from '../../entries/entry-record.ts';
import { deletedLocation } from '../directory-index.ts';
import { decodeEncodedEntry, type EncodedFormat, fitsEncodedEntry, maxEncodedSize } from '../encoded-entry.ts';
import { inSharedBytes, type LocatedData, sharedIndex, sharedNumbers } from './shared-rows.ts';
import { type IndexWindows, windowsOf } from './windows.ts';

const what = 'Unreal PAK index';
const ivSize = 12;
/** Bytes of most encoded entries. */
const mostSize = 64;
/** So many bytes of encoded entries are read at once where they are not in memory: mostly they are asked for one behind the other. */
const windowBytes = 64 << 10;

/**
 * Finds the plain entries of a primary index.
 * @param reader stands at the first of `count`
 * @throws E_FORMAT… for damage
 */
export function findPlainRecords(
  reader: ByteReader,
  count: number,
  format: EncodedFormat,
): Pick<LocatedData, 'plain' | 'plainPlaces' | 'ivs'> {
  const decoder = new RecordDecoder(reader.bytes, format, { what: reader.what });
  const plainPlaces = sharedNumbers(count);
  for (let i = 0; i < count; i++) {
    plainPlaces[i] = reader.pos;
    reader.seek(decoder.endOf(reader.pos));
  }
  const ivs = format.hasIvs ? reader.pos : -1;
  if (format.hasIvs) for (let i = 0; i < count; i++) reader.skip(ivSize);
  return { plain: reader.bytes, plainPlaces, ivs };
}

/** The records of an index of version 10 and above, which its rows name by a location (primary-index.ts). */
export class LocatedRecords {
  readonly data: LocatedData;
  readonly #format: EncodedFormat;
  readonly #windows: IndexWindows;
  readonly #plain: RecordDecoder;
  /** The encoded entries that were read last, and the position of the first. */
  #view = new DataView(new ArrayBuffer(0));
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;

  /** @param data whose plain records are there, all of them @param source in which the index lies, where it is not in memory */
  constructor(data: LocatedData, source: FillingSource, format: EncodedFormat) {
    this.data = data;
    this.#format = format;
    this.#windows = windowsOf(data.index, source);
    this.#plain = new RecordDecoder(data.plain, format, { what });
  }

  /** The record at a location. Throws E_FORMAT_RANGE, E_FORMAT_TRUNCATED where there is none, and as the source does. */
  at(location: number): EntryRecord {
    if (location === deletedLocation) return { ...emptyRecord, deleted: true };
    if (location >= 0) return this.#decode(location);
    const { plainPlaces, ivs } = this.data;
    const number = -location - 1;
    const place = plainPlaces[number];
    if (place === undefined) throw formatError('E_FORMAT_RANGE', what, `there is no plain entry ${number}`);
    const record = this.#plain.at(place);
    // The IV of a plain entry does not stand in its record, but lies in the same bytes.
    return ivs < 0 ? record : { ...record, ivOffset: ivs + number * ivSize };
  }

  /** Throws E_FORMAT_RANGE where {@link at} throws E_FORMAT…, in a fraction of its time. */
  check(location: number): void {
    const fits = location >= 0 && fitsEncodedEntry(this.#view, this.#reach(location, mostSize), this.#format);
    if (fits) return;
    try {
      this.at(location);
    } catch (error) {
      // Whoever goes through an index takes what is cut off for the end of a window.
      if (codeOf(error) !== 'E_FORMAT_TRUNCATED') throw error;
      throw formatError('E_FORMAT_RANGE', what, `there is no entry at ${location}`);
    }
  }

  share(): LocatedData {
    const { index, plain, ...rest } = this.data;
    const shared = inSharedBytes(plain);
    // In memory they are the same bytes.
    return { ...rest, index: index === plain ? shared : sharedIndex(index), plain: shared };
  }

  #decode(position: number): EntryRecord {
    try {
      const at = this.#reach(position, mostSize);
      return decodeEncodedEntry(this.#bytes, at, this.#format);
    } catch (error) {
      if (codeOf(error) !== 'E_FORMAT_TRUNCATED') throw error;
      // Those of many blocks are larger than most.
      const at = this.#reach(position, maxEncodedSize);
      return decodeEncodedEntry(this.#bytes, at, this.#format);
    }
  }

  /** Sees to it that so many bytes from a position on are there, or those that the index has. @returns where in the bytes it is */
  #reach(position: number, size: number): number {
    const { start, end } = this.data;
    const wanted = Math.min(position + size, end - start);
    if (position < this.#start || wanted > this.#start + this.#bytes.length) this.#read(position, size);
    return position - this.#start;
  }

  #read(position: number, size: number): void {
    const { start, end } = this.data;
    const place = Math.min(start + position, end);
    const window = this.#windows.read(place, Math.max(size, windowBytes));
    const first = Math.max(start, window.start);
    this.#bytes = window.bytes.subarray(first - window.start, end - window.start);
    this.#view = viewOf(this.#bytes);
    this.#start = first - start;
  }
}
