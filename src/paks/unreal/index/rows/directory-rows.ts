import { viewOf } from '../../../../core/bytes.ts';
import { formatError } from '../../../../core/errors.ts';
import { ByteReader } from '../../../../core/reader.ts';
import { firstNot } from '../../../../core/sorting/first-not.ts';
import type { FillingSource } from '../../../../files/scratch.ts';
import type { EntryRecord } from '../../entries/entry-record.ts';
import { type DirectoryFormat, readFileName, utf8NamesVersion, withoutRoot } from '../directory-index.ts';
import { endOfFString, hashFString, readFString } from '../fstring.ts';
import { NameBudget } from '../index-rows.ts';
import type { LocatedRecords } from './located-records.ts';
import { hashAscii, hashStart, noHash } from './name-hash.ts';
import { type DirectoryData, GrowingNumbers, sharedIndex } from './shared-rows.ts';
import { StoredRows } from './stored-rows.ts';
import { changedIndex, type IndexWindows, RowWindows, scanIndex, windowsOf } from './windows.ts';

/** Names the bytes of a directory index in errors. */
export const directoryWhat = 'directory index of an Unreal PAK';

/** The least that a file or a directory takes: a length, and a location or a number of files. */
const minItemSize = 8;

/** Is told what a directory index has, in its order: a directory, then its files. */
interface DirectoryVisitor {
  /** @param place of its name, which is as stored */
  onDirectory(name: string, place: number, files: number): void;
  /** @param place of its name, which has so many characters */
  onFile(place: number, nameLength: number, location: number): void;
}

/**
 * Goes through a directory index in its nested form (directory-index.ts).
 * @returns where the last file ends
 * @throws E_FORMAT… for damage, and as the source does
 */
export function scanDirectories(windows: IndexWindows, format: DirectoryFormat, visitor: DirectoryVisitor): number {
  const countIn = (reader: ByteReader): number => {
    const count = reader.u32le();
    const left = windows.size - reader.offset;
    if (count * minItemSize <= left) return count;
    throw formatError('E_FORMAT_RANGE', directoryWhat, `${count} items do not fit into ${left} bytes`, {
      offset: reader.offset - 4,
    });
  };
  let directories = countIn(new ByteReader(windows.read(0, 4).bytes, directoryWhat));
  let files = 0;
  return scanIndex(windows, { at: 4, what: directoryWhat }, (reader) => () => {
    const place = reader.offset;
    if (files > 0) {
      const nameLength = skipFileName(reader, format);
      visitor.onFile(place, nameLength, reader.i32le());
      files -= 1;
    } else if (directories > 0) {
      const name = readFString(reader, format.decodeName);
      files = countIn(reader);
      visitor.onDirectory(name, place, files);
      directories -= 1;
    } else return false;
    return true;
  });
}

/** The rows of a directory index in its nested form, with all that can be wrong with them looked at. Throws as {@link scanDirectories}. */
export function findDirectoryRows(
  windows: IndexWindows,
  format: DirectoryFormat,
  records: LocatedRecords,
): Pick<DirectoryData, 'filePlaces' | 'directoryPlaces' | 'firstRows'> {
  const budget = new NameBudget();
  const [filePlaces, directoryPlaces, firstRows] = [new GrowingNumbers(), new GrowingNumbers(), new GrowingNumbers()];
  let directoryLength = 0;
  const end = scanDirectories(windows, format, {
    onDirectory(name, place, files) {
      directoryLength = withoutRoot(name).length;
      if (files === 0) return;
      directoryPlaces.add(place);
      firstRows.add(filePlaces.count);
    },
    onFile(place, nameLength, location) {
      records.check(location);
      budget.spend(directoryLength + nameLength);
      filePlaces.add(place);
    },
  });
  filePlaces.add(end);
  return { filePlaces: filePlaces.done(), directoryPlaces: directoryPlaces.done(), firstRows: firstRows.done() };
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
  /** The bytes in which it lies, and where in them. */
  bytes: Uint8Array;
  at: number;
  /** Of its name, as a name goes on from it. */
  hash: number;
  /** Decoded when a name in it is asked for. */
  name: string | undefined;
}

const noDirectory: KnownDirectory = {
  firstRow: 0,
  endRow: 0,
  bytes: new Uint8Array(0),
  at: 0,
  hash: noHash,
  name: undefined,
};

/** The rows of a directory index in its nested form. */
export class DirectoryRows extends StoredRows {
  readonly count: number;
  readonly #data: DirectoryData;
  readonly #records: LocatedRecords;
  readonly #windows: IndexWindows;
  readonly #rows: RowWindows;
  readonly #format: DirectoryFormat;
  #directory = noDirectory;

  /** @param source in which the index lies, where it is not in memory */
  constructor(
    data: DirectoryData,
    source: FillingSource,
    { records, format }: { records: LocatedRecords; format: DirectoryFormat },
  ) {
    super();
    this.count = data.filePlaces.length - 1;
    this.#data = data;
    this.#records = records;
    this.#windows = windowsOf(data.index, source);
    this.#rows = new RowWindows(this.#windows, data.filePlaces, directoryWhat);
    this.#format = format;
  }

  storedNameAt(row: number): string {
    const directory = this.#directoryOf(row);
    directory.name ??= this.#nameOf(directory);
    const reader = this.#rows.at(row);
    this.#demandName(row, reader);
    return directory.name + readFileName(reader, this.#format);
  }

  share(): DirectoryData {
    return { ...this.#data, index: sharedIndex(this.#data.index), records: this.#records.share() };
  }

  protected decodeAt(row: number): EntryRecord {
    const reader = this.#rows.at(row);
    reader.seek(this.#demandName(row, reader));
    return this.#records.at(reader.i32le());
  }

  protected hashBytesAt(row: number): number {
    const { hash } = this.#directoryOf(row);
    if (hash === noHash) return noHash;
    const reader = this.#rows.at(row);
    this.#demandName(row, reader);
    return hashFString(reader.bytes, reader.pos, hash);
  }

  /** The end of the name of a row, at which the reader stands. Throws E_INTEGRITY where it lies not before the next one. */
  #demandName(row: number, { bytes, pos }: ByteReader): number {
    const end = endOfFString(bytes, pos);
    if (end + 4 > this.#rows.endOf(row)) throw changedIndex(directoryWhat);
    return end;
  }

  #directoryOf(row: number): KnownDirectory {
    const { firstRow, endRow } = this.#directory;
    if (row < firstRow || row >= endRow) this.#directory = this.#findDirectory(row);
    return this.#directory;
  }

  #findDirectory(row: number): KnownDirectory {
    const { firstRows, directoryPlaces, filePlaces } = this.#data;
    const number = firstNot(0, firstRows.length, (one) => firstRows[one]! <= row) - 1;
    const firstRow = firstRows[number]!;
    const [place, end] = [directoryPlaces[number]!, filePlaces[firstRow]!];
    const { bytes, start } = this.#windows.read(place, end - place);
    const at = place - start;
    if (endOfFString(bytes, at) + 4 !== end - start) throw changedIndex(directoryWhat);
    const endRow = firstRows[number + 1] ?? this.count;
    return { firstRow, endRow, bytes, at, hash: this.#hashOf(bytes, at), name: undefined };
  }

  #nameOf({ bytes, at }: KnownDirectory): string {
    return withoutRoot(readFString(new ByteReader(bytes, directoryWhat, at), this.#format.decodeName));
  }

  #hashOf(bytes: Uint8Array, at: number): number {
    const length = viewOf(bytes).getInt32(at, true);
    if (length < 0 || this.#format.decodeName.keepsAscii !== true) return noHash;
    const start = at + 4;
    const hasRoot = length > 0 && bytes[start] === 0x2f;
    return hashAscii(bytes, hasRoot ? start + 1 : start, start + Math.max(length - 1, 0), hashStart);
  }
}
