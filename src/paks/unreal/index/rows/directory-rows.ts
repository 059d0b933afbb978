import { viewOf } from '../../../../core/bytes.ts';
import { ByteReader } from '../../../../core/reader.ts';
import type { NameDecoder } from '../../../names.ts';
import type { EntryRecord } from '../../entries/entry-record.ts';
import { type DirectoryFormat, readDirectoryName, readFileName, utf8NamesVersion } from '../directory-index.ts';
import { endOfFString, hashFString } from '../fstring.ts';
import { NameBudget } from '../index-rows.ts';
import type { LocatedRecords } from './located-records.ts';
import { hashAscii, hashStart, noHash } from './name-hash.ts';
import { type DirectoryData, GrowingNumbers, inSharedBytes } from './shared-rows.ts';
import { StoredRows } from './stored-rows.ts';

/** Names the bytes of a directory index in errors. */
export const directoryWhat = 'directory index of an Unreal PAK';

/**
 * Finds the rows of a directory index in its nested form (directory-index.ts), and looks at all that can be wrong with them.
 * @param reader stands where it starts
 * @throws E_FORMAT… for damage
 */
export function findDirectoryRows(reader: ByteReader, format: DirectoryFormat, records: LocatedRecords): DirectoryData {
  const budget = new NameBudget();
  const [filePlaces, directoryPlaces, firstRows] = [new GrowingNumbers(), new GrowingNumbers(), new GrowingNumbers()];
  const directories = reader.count(reader.u32le(), 8);
  for (let i = 0; i < directories; i++) {
    const place = reader.pos;
    const { length } = readDirectoryName(reader, format);
    const files = reader.count(reader.u32le(), 8);
    if (files > 0) {
      directoryPlaces.add(place);
      firstRows.add(filePlaces.count);
    }
    for (let k = 0; k < files; k++) {
      filePlaces.add(reader.pos);
      const nameLength = skipFileName(reader, format);
      records.check(reader.i32le());
      budget.spend(length + nameLength);
    }
  }
  return {
    form: 'directory',
    bytes: reader.bytes,
    filePlaces: filePlaces.done(),
    directoryPlaces: directoryPlaces.done(),
    firstRows: firstRows.done(),
    records: records.data,
  };
}

/** Moves behind the name of a file. Returns its length in characters. Throws as reading it does. */
function skipFileName(reader: ByteReader, format: DirectoryFormat): number {
  const { bytes, pos: place } = reader;
  if (format.decodeName.keepsAscii === true && reader.remaining >= 4) {
    const length = reader.i32le();
    const start = reader.pos;
    const isClosed = length > 0 && bytes[start + length - 1] === 0;
    const end = isClosed ? start + length - 1 : start + length;
    if (
      length > 0 &&
      length <= reader.remaining &&
      (isClosed || format.version >= utf8NamesVersion) &&
      isAscii(bytes, start, end)
    ) {
      reader.seek(start + length);
      return end - start;
    }
    reader.seek(place);
  }
  return readFileName(reader, format).length;
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! >= 0x80) return false;
  return true;
}

/** The directory that was asked for last. */
interface KnownDirectory {
  firstRow: number;
  endRow: number;
  place: number;
  /** Of its name, as a name goes on from it. */
  hash: number;
  /** Decoded when a name in it is asked for. */
  name: string | undefined;
}

/** The rows of a directory index in its nested form. */
export class DirectoryRows extends StoredRows {
  readonly count: number;
  readonly #data: DirectoryData;
  readonly #records: LocatedRecords;
  readonly #reader: ByteReader;
  readonly #view: DataView;
  readonly #format: DirectoryFormat;
  #directory: KnownDirectory = { firstRow: 0, endRow: 0, place: 0, hash: noHash, name: undefined };

  constructor(data: DirectoryData, records: LocatedRecords, format: { version: number; decodeName: NameDecoder }) {
    super();
    const { bytes, filePlaces } = data;
    this.count = filePlaces.length;
    this.#data = data;
    this.#records = records;
    this.#reader = new ByteReader(bytes, directoryWhat);
    this.#view = viewOf(bytes);
    this.#format = format;
  }

  storedNameAt(row: number): string {
    const directory = this.#directoryOf(row);
    directory.name ??= this.#nameOf(directory);
    this.#reader.seek(this.#data.filePlaces[row]!);
    return directory.name + readFileName(this.#reader, this.#format);
  }

  share(): DirectoryData {
    return { ...this.#data, bytes: inSharedBytes(this.#data.bytes), records: this.#records.share() };
  }

  protected decodeAt(row: number): EntryRecord {
    const place = endOfFString(this.#data.bytes, this.#data.filePlaces[row]!);
    return this.#records.at(this.#view.getInt32(place, true));
  }

  protected hashBytesAt(row: number): number {
    const { hash } = this.#directoryOf(row);
    return hash === noHash ? noHash : hashFString(this.#data.bytes, this.#data.filePlaces[row]!, hash);
  }

  #directoryOf(row: number): KnownDirectory {
    const { firstRow, endRow } = this.#directory;
    if (row < firstRow || row >= endRow) this.#directory = this.#findDirectory(row);
    return this.#directory;
  }

  #findDirectory(row: number): KnownDirectory {
    const { firstRows, directoryPlaces } = this.#data;
    let [low, high] = [0, firstRows.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (firstRows[middle]! <= row) low = middle;
      else high = middle - 1;
    }
    const place = directoryPlaces[low]!;
    const endRow = firstRows[low + 1] ?? this.count;
    return { firstRow: firstRows[low]!, endRow, place, hash: this.#hashOf(place), name: undefined };
  }

  #nameOf({ place }: KnownDirectory): string {
    this.#reader.seek(place);
    return readDirectoryName(this.#reader, this.#format);
  }

  #hashOf(place: number): number {
    const { bytes } = this.#data;
    const length = this.#view.getInt32(place, true);
    if (length < 0 || this.#format.decodeName.keepsAscii !== true) return noHash;
    const start = place + 4;
    const hasRoot = length > 0 && bytes[start] === 0x2f;
    return hashAscii(bytes, hasRoot ? start + 1 : start, start + Math.max(length - 1, 0), hashStart);
  }
}
