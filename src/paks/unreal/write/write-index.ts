import { aesBlockSize, aesEcbEncrypt, alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { breathe } from '../../../core/breathe.ts';
import { sha1Hasher } from '../../../core/hash.ts';
import { orderOf } from '../../../core/sorting/merge-sort.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { Spool } from '../../../files/spool.ts';
import type { PositionedSink } from '../../packing.ts';
import { type EntryRecord, writeEntryRecord } from '../entries/entry-record.ts';
import { encodeFooter } from '../footer.ts';
import { deletedLocation } from '../index/directory-index.ts';
import { isEncodable, writeEncodedEntry } from '../index/encoded-entry.ts';
import { writeFString } from '../index/fstring.ts';
import type { IndexRow } from '../index/index-rows.ts';
import { writeLegacyRow, writeLegacyStart } from '../index/legacy-index.ts';
import { pathHash, writePathHashRow } from '../index/path-hash.ts';
import { type Directories, directoriesOf, writeDirectories } from './directories.ts';
import type { PackPlan } from './pack-plan.ts';

const pathHashVersion = 10;

/** Writes the index of rows that are all there behind the entries, and the footer. */
export async function writeIndex(out: PositionedSink, rows: readonly IndexRow[], plan: PackPlan): Promise<void> {
  const index = new IndexWriter(plan, { count: rows.length });
  try {
    const locations = new Int32Array(rows.length);
    const order = plan.format.version >= pathHashVersion ? inPlace(rows) : rows.keys();
    for (const row of order) locations[row] = index.add(rows[row]!) ?? 0;
    const listed = rows.flatMap(({ name, isListed = true }, row) =>
      isListed ? { name, location: locations[row]! } : [],
    );
    const isListing = plan.parts !== 'hashes' || listed.length > 0;
    await index.write(out, isListing ? directoriesOf(listed, plan.directories) : directoriesOf([]));
  } finally {
    index.close();
  }
}

/** The numbers of rows in the order of their data: as the tools of others have them. */
function inPlace(rows: readonly IndexRow[]): Uint32Array {
  return orderOf(rows.length, (a, b) => rows[a]!.record.offset - rows[b]!.record.offset);
}

/** An index that is made a row at a time; what there may be much of lies on disk. Needs `close`. */
export class IndexWriter {
  readonly #plan: PackPlan;
  readonly #temporary: string | undefined;
  readonly #count: number;
  readonly #spools: Spool[] = [];
  /** Up to version 9 the whole index, from 10 on the short forms of records. */
  readonly #entries: Spool;
  readonly #hashes: Spool;
  /** Those that have no short form. */
  readonly #plain: EntryRecord[] = [];
  #isCompressed = false;

  /** @param of.count rows that will be added, @param of.temporary a folder for what memory should not hold */
  constructor(plan: PackPlan, { count, temporary }: { count: number; temporary?: string | undefined }) {
    this.#plan = plan;
    this.#count = count;
    this.#temporary = temporary;
    this.#entries = this.#spool();
    this.#hashes = this.#spool();
    if (this.#isLong) this.#hashes.writer.u32le(count);
    else writeLegacyStart(this.#entries.writer, plan.mountPoint, count);
  }

  /** Forgets everything. */
  close(): void {
    for (const spool of this.#spools) spool.close();
  }

  /**
   * Adds a row: from version 10 on in the order of their data.
   * @returns where a directory index finds it; undefined where there is none, up to version 9
   */
  add(row: IndexRow): number | undefined {
    const { format, pathHashSeed } = this.#plan;
    const { name, record, hash } = row;
    if (record.method !== 0) this.#isCompressed = true;
    if (!this.#isLong) {
      writeLegacyRow(this.#entries.writer, row, format);
      return undefined;
    }
    const location = this.#addEntry(record);
    writePathHashRow(this.#hashes.writer, { hash: hash ?? pathHash(name, pathHashSeed, format.version), location });
    return location;
  }

  /** Writes the index, when all rows are there, and the footer. @throws E_ABORTED, and as the sink does */
  async write(out: PositionedSink, directories: Directories, signal?: AbortSignal): Promise<void> {
    const { format, label, layout, keyGuid, indexKey, methodNames } = this.#plan;
    const indexOffset = out.position;
    const [primary, ...parts] = this.#isLong
      ? await this.#longParts(indexOffset, directories, signal)
      : [await sealPart(this.#entries, indexKey)];
    for (const { spool } of [primary, ...parts]) {
      for (const piece of spool.pieces()) {
        await out.write(indexKey === undefined ? piece : aesEcbEncrypt(piece, indexKey));
        await breathe(signal);
      }
    }
    const footer = encodeFooter(
      {
        version: format.version,
        label,
        size: layout.size,
        keyGuid,
        encryptedIndex: indexKey !== undefined,
        indexOffset,
        indexSize: primary.spool.size,
        indexHash: primary.hash,
        isFrozen: false,
        hasMagic: true,
        ivs: [],
        methodNames: methodNames ?? (this.#isCompressed ? ['Zlib'] : []),
        pakchunkIndex: undefined,
        encryption: 'AES-256-ECB',
      },
      layout,
    );
    await out.write(footer);
  }

  get #isLong(): boolean {
    return this.#plan.format.version >= pathHashVersion;
  }

  #spool(): Spool {
    const spool = new Spool(this.#temporary, '.pakrat-');
    this.#spools.push(spool);
    return spool;
  }

  #addEntry(record: EntryRecord): number {
    // A record that an older PAK has in full stays so.
    if (record.deleted) return deletedLocation;
    if (record.recordOffset >= 0 || !isEncodable(record)) return -this.#plain.push(record);
    const location = this.#entries.size;
    writeEncodedEntry(this.#entries.writer, record, this.#plan.format);
    return location;
  }

  /** The primary index of version 10 and above, and those that lie behind it: the path-hash index and the directory index. */
  async #longParts(
    offset: number,
    directories: Directories,
    signal?: AbortSignal,
  ): Promise<[IndexPart, ...IndexPart[]]> {
    const { indexKey, format, parts: kept } = this.#plan;
    const directory = this.#spool();
    await writeDirectories(directory, directories, { version: format.version, signal });
    // Names that only the path-hash index lists stand in it.
    if (kept === 'hashes') append(this.#hashes, directory);
    else this.#hashes.writer.u32le(0);
    const hashes = kept === 'directory' ? undefined : await sealPart(this.#hashes, indexKey, signal);
    const listing = kept === 'hashes' ? undefined : await sealPart(directory, indexKey, signal);
    const tail = new ByteWriter().u32le(this.#plain.length);
    for (const record of this.#plain) writeEntryRecord(tail, record, format);
    // The primary index says where the others are, which depends on its size alone.
    const size = this.#primaryStart([hashes, listing], 0).length + this.#entries.size + tail.size;
    const start = offset + (indexKey === undefined ? size : alignToBlock(size));
    const primary = this.#spool();
    primary.writer.raw(this.#primaryStart([hashes, listing], start));
    append(primary, this.#entries);
    primary.writer.raw(tail.written);
    return [await sealPart(primary, indexKey, signal), ...[hashes, listing].flatMap((part) => part ?? [])];
  }

  /** The primary index up to its entries. @param start offset of the first of the other parts */
  #primaryStart(parts: readonly (IndexPart | undefined)[], start: number): Uint8Array {
    const { mountPoint, pathHashSeed } = this.#plan;
    const writer = new ByteWriter();
    writeFString(writer, mountPoint);
    writer.u32le(this.#count).u64le(pathHashSeed);
    let offset = start;
    for (const part of parts) {
      writer.u32le(part === undefined ? 0 : 1);
      if (part === undefined) continue;
      writer.u64le(offset).u64le(part.spool.size).raw(part.hash);
      offset += part.spool.size;
    }
    return writer.u32le(this.#entries.size).bytes();
  }
}

function append(target: Spool, source: Spool): void {
  for (const piece of source.pieces()) target.writer.raw(piece);
}

interface IndexPart {
  /** Before encryption, with padding where there is a key. */
  spool: Spool;
  /** SHA-1 of that. */
  hash: Uint8Array;
}

async function sealPart(spool: Spool, key: Uint8Array | undefined, signal?: AbortSignal): Promise<IndexPart> {
  if (key !== undefined) {
    const [first = new Uint8Array(1)] = spool.pieces();
    // As UnrealPak does: up to a whole block with its own first bytes, over and over.
    for (let i = 0; spool.size % aesBlockSize !== 0; i++) spool.writer.u8(first[i % first.length]!);
  }
  const hasher = sha1Hasher();
  for (const piece of spool.pieces()) {
    hasher.update(piece);
    await breathe(signal);
  }
  return { spool, hash: hasher.digest() };
}
