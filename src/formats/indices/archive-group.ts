// The archive group: all archive indices of a CDN config merged into one index, so that a key is looked up once.
//
// It is not on the CDN. The CDN config gives the name that the result must have, so we make it and compare. Its records
// carry a 6-byte offset: the archive's place in the config (u16), then the offset (u32). No record is left out, also when
// archives share a key: the official name counts them all.
//
// Five million records are common, so none of them becomes an object, and the indices need not be in memory together: of
// each its records are taken as they are (group-records.ts). Those that begin with one byte are sorted (keys are hashes,
// so that is even), and their pages go out before the next is looked at. Knowledge: wowdev.wiki (TACT); the result has
// the official name.

import { digestSize } from '../../codecs/md5-lanes/index.ts';
import { concatBytes, viewOf } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { ArchiveIndex } from './archive-index.ts';
import { GroupRecords, indexRecordSize, type SortedRecords, SortingMemory } from './group-records.ts';
import { type IndexGeometry, indexGeometry, type NamedIndex } from './index-layout.ts';
import { pageHashes } from './page-hashes.ts';
import { indexTail } from './seal-index.ts';

const what = 'archive group';
const keySize = 16;
/** A record of the group has the number of the archive before the offset. */
const recordSize = 26;
const archiveAt = 20;
const maxArchives = 0x1_0000;
const mostRecords = 0xffff_ffff;

/**
 * Merges indices into a group. The place of an index in the list becomes its archive number.
 * @throws E_UNSUPPORTED for an index that is not a plain archive index, or more of them than can be numbered
 */
export function encodeArchiveGroup(indices: readonly ArchiveIndex[]): NamedIndex {
  const group = new ArchiveGroupEncoder();
  for (const index of indices) group.add(index);
  const bytes = new ByteWriter(group.geometry.fileSize);
  const pieces = group.encode();
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return { bytes: bytes.bytes(), name: piece.value };
    bytes.raw(piece.value);
  }
}

/** The same piece by piece, for groups that are larger than memory should be: 24 bytes of each record are in it, and hardly anything else of the indices or the group. */
export class ArchiveGroupEncoder {
  #archives = 0;
  readonly #records = new GroupRecords();

  /** Takes the records of the index of the next archive. @throws as {@link encodeArchiveGroup} */
  add({ name, bytes, layout }: ArchiveIndex): void {
    if (this.#archives === maxArchives) {
      throw new PakratError('E_UNSUPPORTED', `${what}: more than ${maxArchives} archives cannot be numbered`);
    }
    if (layout.keyBytes !== keySize || layout.sizeBytes !== 4 || layout.offsetBytes !== 4) {
      throw new PakratError('E_UNSUPPORTED', `${what}: ${name} is not the index of an archive`, {
        data: { key: name },
      });
    }
    const { count, entriesPerPage, entrySize, pageSize } = layout;
    if (this.#records.count + count > mostRecords)
      throw formatError('E_FORMAT_RANGE', what, 'its records are more than 32 bits can count');
    for (let first = 0, pageAt = 0; first < count; first += entriesPerPage, pageAt += pageSize) {
      const size = Math.min(entriesPerPage, count - first) * entrySize;
      this.#records.add(bytes.subarray(pageAt, pageAt + size), this.#archives);
    }
    this.#archives += 1;
  }

  /** The places of everything in the group of what was taken so far. */
  get geometry(): IndexGeometry {
    return indexGeometry(this.#records.count, { offsetBytes: 6 });
  }

  /** The bytes of the group from the first to the last, and at the end its name. Each piece holds until the next is asked for. Lets go of the records meanwhile. */
  *encode(): Generator<Uint8Array, string> {
    const { geometry } = this;
    const pages = new Pages(geometry);
    const memory = new SortingMemory();
    for (let byte = 0; byte < 0x100; byte++) yield pages.add(this.#records.takeSorted(byte, memory));
    this.#records.giveBack();
    yield pages.end();
    const { bytes, name } = indexTail(pages.toc(), geometry);
    yield bytes;
    return name;
  }
}

/** Lays records out in pages, and keeps what the table says of each. */
class Pages {
  readonly #pageSize: number;
  readonly #hashBytes: number;
  /** Bytes of the records of a full page. */
  readonly #full: number;
  readonly #lastKeys = new ByteWriter();
  readonly #hashes = new ByteWriter();
  /** Pages, of which the last is not full: what is used of that, and where it is. */
  #pages: Uint8Array = new Uint8Array();
  #pageAt = 0;
  #used = 0;

  constructor({ pageSize, entriesPerPage, hashBytes }: IndexGeometry) {
    this.#pageSize = pageSize;
    this.#hashBytes = hashBytes;
    this.#full = entriesPerPage * recordSize;
  }

  /** Takes records behind those that came before. @returns the pages that are full now */
  add({ records, archives, order }: SortedRecords): Uint8Array {
    this.#reserve(order.length);
    const pages = viewOf(this.#pages);
    let [pageAt, used] = [0, this.#used];
    for (let i = 0; i < order.length; i++) {
      const place = order[i]!;
      const [from, to] = [place * indexRecordSize, pageAt + used];
      // Key and size, the number of the archive, the offset.
      for (let at = 0; at < archiveAt; at += 4) pages.setUint32(to + at, records.getUint32(from + at, true), true);
      pages.setUint16(to + archiveAt, archives[place]!);
      pages.setUint32(to + archiveAt + 2, records.getUint32(from + archiveAt, true), true);
      used += recordSize;
      if (used < this.#full) continue;
      this.#pages.fill(0, pageAt + used, pageAt + this.#pageSize);
      pageAt += this.#pageSize;
      used = 0;
    }
    [this.#pageAt, this.#used] = [pageAt, used];
    return this.#note(this.#pages.subarray(0, pageAt), this.#full);
  }

  /** Makes room for so many records behind those of the page that is not full, which comes first. */
  #reserve(records: number): void {
    const size = (Math.floor((this.#used + records * recordSize) / this.#full) + 1) * this.#pageSize;
    const rest = this.#pages.subarray(this.#pageAt, this.#pageAt + this.#used);
    if (size <= this.#pages.length) {
      this.#pages.set(rest);
      return;
    }
    const pages = new Uint8Array(size + (size >>> 2));
    pages.set(rest);
    this.#pages = pages;
  }

  /** @returns the last page, where one is not full */
  end(): Uint8Array {
    const page = new Uint8Array(this.#used === 0 ? 0 : this.#pageSize);
    page.set(this.#pages.subarray(this.#pageAt, this.#pageAt + this.#used));
    return this.#note(page, this.#used);
  }

  /** @param used bytes of the records of each page */
  #note(pages: Uint8Array, used: number): Uint8Array {
    const hashes = pageHashes(pages, this.#pageSize);
    for (let end = used, at = 0; end <= pages.length; end += this.#pageSize, at += digestSize) {
      this.#lastKeys.raw(pages.subarray(end - recordSize, end - recordSize + keySize));
      this.#hashes.raw(hashes.subarray(at, at + this.#hashBytes));
    }
    return pages;
  }

  /** The table: the last key of each page, then the hash of each. */
  toc(): Uint8Array {
    return concatBytes([this.#lastKeys.bytes(), this.#hashes.bytes()]);
  }
}
