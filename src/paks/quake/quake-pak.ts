import { getHeapStatistics } from 'node:v8';
import type { ByteSource } from '../../core/byte-source.ts';
import { formatError, type PakratError, withHint } from '../../core/errors.ts';
import { checkPart, readPieces, slicePieces } from '../../files/pieces.ts';
import { cleanName, foldName, nameDecoder } from '../names.ts';
import type { PackResult, PackSink, RewriteOptions, RewriteRow } from '../packing.ts';
import { getRow, type Pak, type PakEntry, type PakProblem, problemOf } from '../pak.ts';
import { unusedSpace } from '../unused-space.ts';
import { decodeDaikatana, isDaikatanaRatio } from './daikatana.ts';
import {
  checkDirectoryRange,
  choosePackLayout,
  decodeQuakeDirectory,
  decodeQuakeHeader,
  isSensible,
  packLayout,
  type QuakeHeader,
  type QuakeLayout,
  type QuakeRecord,
  quakeCrc16,
  quakeHeaderSize,
  quakeRelease,
  recordProblem,
  registeredProof,
  spakLayout,
} from './directory.ts';
import type { QuakeOptions } from './options.ts';

/** Memory that a record comes to when it is open, about: two look-ups by name, an entry, a record. */
const memoryPerRecord = 1024;
/** The engines read offsets as signed numbers. */
const engineReach = 0x7fffffff;
const quakeMaxEntries = 2048;
const quake2MaxEntries = 4096;
const zipEndSize = 22;

/** Opens a PAK of Quake and its kin, SiN or Daikatana: reads its header and directory. @throws E_FORMAT… for damage */
export async function openQuakePak(source: ByteSource, options: QuakeOptions = {}): Promise<Pak> {
  const header = decodeQuakeHeader(await source.read(0, Math.min(quakeHeaderSize, source.size)));
  const hasMagic = isMagic(header.magic);
  if (!hasMagic && options.ignoreMagic !== true) throw wrongMagic(header);
  checkDirectoryRange(header, source.size);
  checkMemory(header);
  const bytes = await source.read(header.directoryOffset, header.directorySize);
  const layout = header.magic === 'SPAK' ? spakLayout : choosePackLayout(bytes, source.size);
  const records = decodeQuakeDirectory(bytes, layout, nameDecoder(options.encoding));
  if (!hasMagic && (records.length === 0 || !isSensible(bytes, layout, source.size))) throw wrongMagic(header);
  const isZip = await endsAsZip(source);
  return new QuakePak({ source, header, layout, records, directory: bytes, isZip });
}

/** A hostile directory may be as large as the file, and its records take more than their bytes. Throws E_FORMAT_RANGE. */
function checkMemory({ directorySize }: QuakeHeader): void {
  const room = Math.floor(getHeapStatistics().heap_size_limit / memoryPerRecord) * packLayout.recordSize;
  if (directorySize <= room) return;
  const problem = `a directory of ${directorySize} bytes; the memory of this process is enough for ${room}`;
  const error = formatError('E_FORMAT_RANGE', 'Quake PAK header', problem, { offset: 8 });
  const hint = 'Where that many files are in it: NODE_OPTIONS=--max-old-space-size=MEGABYTES gives it more.';
  throw withHint(error, hint);
}

function isMagic(magic: string): boolean {
  return magic === 'PACK' || magic === 'SPAK';
}

function wrongMagic({ magic }: QuakeHeader): PakratError {
  const facts = { offset: 0, expected: 'PACK or SPAK', found: JSON.stringify(magic) };
  return formatError('E_FORMAT_MAGIC', 'Quake PAK header', 'wrong magic', facts);
}

/** A ZIP without a comment has its end record as the last 22 bytes. */
async function endsAsZip(source: ByteSource): Promise<boolean> {
  if (source.size < quakeHeaderSize + zipEndSize) return false;
  const end = await source.read(source.size - zipEndSize, zipEndSize);
  return end[0] === 0x50 && end[1] === 0x4b && end[2] === 5 && end[3] === 6;
}

interface OpenedQuakePak {
  source: ByteSource;
  header: QuakeHeader;
  layout: QuakeLayout;
  records: readonly QuakeRecord[];
  directory: Uint8Array;
  isZip: boolean;
}

/** An open PAK: its records, and look-up as the engine does it. */
class QuakePak implements Pak {
  readonly family = 'quake';
  readonly version: string;
  readonly entries: readonly PakEntry[];
  readonly notes: readonly string[];
  readonly #opened: OpenedQuakePak;
  readonly #source: ByteSource;
  readonly #records: readonly QuakeRecord[];
  readonly #exact = new Map<string, PakEntry>();
  readonly #folded = new Map<string, PakEntry>();

  constructor(opened: OpenedQuakePak) {
    this.#opened = opened;
    this.#source = opened.source;
    this.#records = opened.records;
    this.version = opened.layout.variant;
    this.entries = opened.records.map((record, index) => this.#register(record, index));
    this.notes = quakeNotes(opened);
  }

  /** The first row of a name is the one that the engine finds. */
  #register(record: QuakeRecord, index: number): PakEntry {
    const first = this.#exact.get(record.name);
    const problem = recordProblem(record, this.#source.size);
    const entry: PakEntry = {
      index,
      name: record.name,
      size: record.size,
      storedSize: record.storedSize,
      offset: record.offset,
      method: record.isCompressed ? 'daikatana' : 'none',
      encrypted: false,
      hidden: first === undefined ? undefined : 'shadowed',
      note:
        problem !== undefined
          ? `cannot be read: ${problem}`
          : first && `shadowed: entry ${first.index} has the same name and comes first`,
    };
    if (first === undefined) this.#exact.set(record.name, entry);
    const folded = foldName(record.name);
    if (!this.#folded.has(folded)) this.#folded.set(folded, entry);
    return entry;
  }

  get facts(): Record<string, unknown> {
    return quakeFacts(this.#opened, this.#exact);
  }

  find(name: string): PakEntry | undefined {
    const exact = this.#exact.get(cleanName(name));
    if (exact !== undefined) return exact;
    const other = this.#folded.get(foldName(name));
    return other && { ...other, note: `found by ignoring case: it is stored as ${other.name}` };
  }

  async *read(entry: PakEntry): AsyncGenerator<Uint8Array> {
    const record = this.#recordOf(entry);
    const { offset, size, storedSize } = record;
    const stored = readPieces(this.#source, offset, storedSize);
    yield* record.isCompressed ? decodeDaikatana(stored, size) : stored;
  }

  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    const record = this.#recordOf(entry);
    checkPart(record, offset, size);
    if (!record.isCompressed) yield* readPieces(this.#source, record.offset + offset, size);
    else yield* slicePieces(this.read(entry), offset, size);
  }

  /** The format has no hashes: what can be checked is that the bytes are there, and decode. */
  async verify(entry: PakEntry): Promise<PakProblem | undefined> {
    try {
      if (this.#recordOf(entry).isCompressed) for await (const _ of this.read(entry));
      return undefined;
    } catch (error) {
      return problemOf(error);
    }
  }

  async hasProof({ size, method }: PakEntry): Promise<boolean> {
    return size === 0 || method !== 'none';
  }

  async verifyDirectory(): Promise<PakProblem | undefined> {
    return undefined;
  }

  async rewrite(rows: readonly RewriteRow[], sink: PackSink, options?: RewriteOptions): Promise<PackResult> {
    const { rewriteQuakePak } = await import('./rewrite.ts');
    const result = await rewriteQuakePak(this.#opened, rows, sink, options);
    if (this.#opened.isZip) result.notes.push('what the old one was as a ZIP archive is not in it');
    return result;
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  #recordOf(entry: PakEntry): QuakeRecord {
    const record = getRow(this.#records, entry);
    const problem = recordProblem(record, this.#source.size);
    if (problem !== undefined) throw formatError('E_FORMAT_RANGE', record.name, problem);
    if (record.isCompressed && !isDaikatanaRatio(record.storedSize, record.size)) {
      const promise = `${record.storedSize} bytes cannot hold the promised ${record.size}`;
      throw formatError('E_FORMAT_RANGE', record.name, promise);
    }
    return record;
  }
}

/** Oddities that engines and people trip over. */
function quakeNotes({ header, layout, records, directory, isZip, source }: OpenedQuakePak): string[] {
  const notes: string[] = [];
  if (!isMagic(header.magic)) notes.push(`the magic is wrong (${JSON.stringify(header.magic)})`);
  const rest = directory.length % layout.recordSize;
  if (rest !== 0) notes.push(`the directory ends in ${rest} bytes that are no whole record; engines ignore them`);
  if (records.length === 0) {
    notes.push('it is empty: Quake loads it and calls the game modified, QuakeSpasm ignores it, Quake II stops');
  } else if (records.length > quake2MaxEntries) {
    notes.push(
      `it has ${records.length} entries: Quake loads at most ${quakeMaxEntries}, Quake II at most ${quake2MaxEntries}`,
    );
  } else if (records.length > quakeMaxEntries) {
    notes.push(`it has ${records.length} entries: Quake loads at most ${quakeMaxEntries}`);
  }
  const unreadable = records.filter((record) => recordProblem(record, source.size) !== undefined).length;
  if (unreadable > 0) notes.push(`entries that lie past the end of the file and cannot be read: ${unreadable}`);
  const far = records.filter(({ offset, storedSize }) => offset + storedSize > engineReach).length;
  if (far > 0) notes.push(`entries that end past 2 GiB, where no engine reads: ${far}`);
  if (isZip) notes.push('it is a ZIP archive too, which may hold other files');
  return notes;
}

function quakeFacts(
  { source, header, layout, records, directory }: OpenedQuakePak,
  byName: ReadonlyMap<string, PakEntry>,
): Record<string, unknown> {
  const crc = quakeCrc16(directory);
  const { directoryOffset } = header;
  const used = records.map(({ offset, storedSize }): [number, number] => [offset, offset + storedSize]);
  used.push([0, quakeHeaderSize], [directoryOffset, directoryOffset + directory.length]);
  const isCompressed = records.some((record) => record.isCompressed);
  return {
    game: layout.game,
    encryption: 'none',
    methods: isCompressed ? ['none', 'daikatana'] : ['none'],
    directoryOffset,
    directoryCrc16: crc,
    ...unusedSpace(used, source.size),
    release: quakeRelease(records.length, crc) ?? null,
    registered: byName.get(registeredProof.name)?.size === registeredProof.size,
  };
}
