import { PakratError } from '../../core/errors.ts';
import { countEntries, eachEntry, entryAt } from '../../paks/many-entries.ts';
import { isUnsure, momentBytes, noEntry, type Pak, type PakEntry } from '../../paks/pak.ts';
import type { Source, SourceEntry } from '../source.ts';
import { pakMissingKeys } from './pak-missing-keys.ts';
import type { PakPool, ThreadedPak } from './pak-pool.ts';

/** A row of a PAK, as listed. */
export interface PakSourceEntry extends SourceEntry {
  readonly index: number;
  readonly size: number;
  readonly row: PakEntry;
}

/** A PAK as a source. Closing it closes the PAK. */
export interface PakSource extends Source<PakSourceEntry> {
  readonly kind: 'pak';
  readonly pak: Pak;
  /** The path from which threads open it again; undefined for a PAK that has none, and where there shall be no threads. */
  readonly from: ThreadedPak | undefined;
  /** Threads that were started before, for a job with most of it. */
  readonly pool: PakPool | undefined;
}

/** Rows that are looked at between two waits of a listing. */
const rowsOfBatch = 4096;

/** Makes a source of an open PAK. */
export function pakSource(
  pak: Pak,
  label: string,
  { from, pool }: Partial<Pick<PakSource, 'from' | 'pool'>> = {},
): PakSource {
  const source: PakSource = {
    kind: 'pak',
    label,
    pak,
    from,
    pool,
    *list(matches) {
      for (const row of eachEntry(pak)) {
        const { name } = row;
        if (matches(name)) yield new Row(row, name);
      }
    },
    async *listBatches(matches) {
      let batch: Row[] = [];
      for (const row of eachEntry(pak)) {
        const { name } = row;
        if (matches(name)) batch.push(new Row(row, name));
        // A batch may be empty: whoever takes it can hear a signal then.
        if (row.index % rowsOfBatch !== rowsOfBatch - 1) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    },
    rowAt(index) {
      const row = entryAt(pak, index);
      if (row === undefined) throw noEntry(index);
      return new Row(row, row.name);
    },
    async get(name) {
      const row = pak.find(name) ?? rowByIndex(pak, name);
      if (row !== undefined) return new Row(row, row.name);
      throw new PakratError('E_NOT_FOUND', `${label} has no file ${name}`, {
        hint: '`pakrat ls` lists its files; index:N names one by its number, hidden ones too.',
        data: { name },
      });
    },
    async prepare() {},
    read: ({ row }) => pak.read(row),
    isUnsure: ({ row }) => isUnsure(pak, row),
    missingKeys: () => pakMissingKeys(pak, label),
    info: async () => pakInfo(pak, label),
    close: () => pak.close(),
  };
  // Without it a part would cost all that lies in front of it, each time: callers then go along the file themselves.
  const readRange = pak.readRange?.bind(pak);
  if (readRange !== undefined) source.readRange = ({ row }, offset, size) => readRange(row, offset, size);
  const readerAtOnce = pak.readerAtOnce?.bind(pak);
  if (readerAtOnce !== undefined) {
    source.readerAtOnce = async () => {
      const read = await readerAtOnce();
      return {
        *read({ row, size }) {
          return size <= momentBytes && (yield* read(row));
        },
      };
    };
  }
  const readRaw = pak.readRaw?.bind(pak);
  if (readRaw !== undefined) source.readRaw = ({ row }) => readRaw(row);
  return source;
}

/** True for a source that is a PAK. */
export function isPakSource(source: Source): source is PakSource {
  return source.kind === 'pak';
}

function rowByIndex(pak: Pak, name: string): PakEntry | undefined {
  const number = /^index:(\d{1,10})$/.exec(name)?.[1];
  return number === undefined ? undefined : entryAt(pak, Number(number));
}

/** A row of a listing. Its facts are made when `ls --json` asks for them. */
class Row implements PakSourceEntry {
  // Declared only: thousands are made, and fields cost less so.
  declare readonly row: PakEntry;
  /** Kept: rows are sorted by it, and a PAK may have to decode it each time. */
  declare readonly name: string;

  constructor(row: PakEntry, name: string) {
    this.row = row;
    this.name = name;
  }
  get index(): number {
    return this.row.index;
  }
  get size(): number {
    return this.row.size;
  }
  get mtime(): Date | undefined {
    return this.row.mtime;
  }
  get hidden(): string | undefined {
    return this.row.hidden;
  }
  get origin(): string | undefined {
    return this.row.origin;
  }
  get note(): string | undefined {
    return this.row.note;
  }
  get facts(): Readonly<Record<string, unknown>> {
    const { index, storedSize, offset, method, encrypted, mtime, sha1, hidden, origin, note } = this.row;
    return { index, storedSize, offset, method, encrypted, mtime: mtime?.toISOString(), sha1, hidden, origin, note };
  }
}

/** Sums over the rows; undefined when the directory is locked. */
function pakAmounts(pak: Pak): Record<string, number> | undefined {
  let entries: number;
  try {
    entries = countEntries(pak);
  } catch (error) {
    if (pak.locked === undefined) throw error;
    return undefined;
  }
  const sums = { entries, hidden: 0, encrypted: 0, bytes: 0, storedBytes: 0 };
  for (const { size, storedSize, hidden, encrypted } of eachEntry(pak)) {
    sums.bytes += size;
    sums.storedBytes += storedSize;
    if (hidden !== undefined) sums.hidden += 1;
    if (encrypted) sums.encrypted += 1;
  }
  return sums;
}

function pakInfo(pak: Pak, label: string): Record<string, unknown> {
  const { family, version, facts, notes } = pak;
  return { kind: 'pak', path: label, family, version, ...pakAmounts(pak), ...facts, notes };
}
