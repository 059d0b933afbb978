// The archive group: all archive indices of a CDN config merged into one index, so that a key is looked up once.
//
// It is not on the CDN. The CDN config gives the name that the result must have, so we make it and compare. Its records
// carry a 6-byte offset: the archive's place in the config (u16), then the offset (u32). No record is left out, also when
// archives share a key: the official name counts them all.
//
// Five million records are common, so none of them becomes an object, and the indices need not be in memory together: of
// each its records are taken, and dealt by the first byte of their keys (keys are hashes, so that is even). What begins
// with one byte is dealt by the next bits, the few that share those are sorted in place, and its pages go out before the
// next is looked at. Knowledge: wowdev.wiki (TACT); the result has the official name.

import { concatBytes } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { ArchiveIndex } from './archive-index.ts';
import { type IndexGeometry, indexGeometry, type NamedIndex } from './index-layout.ts';
import { indexTail } from './seal-index.ts';

const what = 'archive group';
const keySize = 16;
const recordSize = 26;
const maxArchives = 0x1_0000;
const mostRecords = 0xffff_ffff;
/** Bits behind the first byte that deal the records, at most: a few of ten million share them. */
const mostDealBits = 16;
/** Above this many records with the same leading bits, which hashes never have, sorting by insertion would crawl. */
const crowd = 64;
/** Records that a piece of a bucket has room for. */
const fewestInPiece = 16;
const mostInPiece = 1024;
/** Bytes of memory that are taken at once. What is larger than 32 MiB the C library always gives back, and is not misled by. */
const firstSlab = 1 << 16;
const slabBytes = 33 * (1 << 20);

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

/** The same piece by piece, for groups that are larger than memory should be: 26 bytes of each record are in it, and nothing else of the indices or the group. */
export class ArchiveGroupEncoder {
  #archives = 0;
  #count = 0;
  readonly #buckets: Bucket[];

  constructor() {
    const slabs = new Slabs();
    this.#buckets = Array.from({ length: 0x100 }, () => new Bucket(slabs));
  }

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
    this.#count += layout.count;
    if (this.#count > mostRecords)
      throw formatError('E_FORMAT_RANGE', what, `${this.#count} records are more than 32 bits can count`);
    const { count, entriesPerPage, entrySize, pageSize } = layout;
    const view = viewOf(bytes);
    for (let first = 0, pageAt = 0; first < count; first += entriesPerPage, pageAt += pageSize) {
      const end = pageAt + Math.min(entriesPerPage, count - first) * entrySize;
      for (let at = pageAt; at < end; at += entrySize) this.#buckets[bytes[at]!]!.add(view, at, this.#archives);
    }
    this.#archives += 1;
  }

  /** The places of everything in the group of what was taken so far. */
  get geometry(): IndexGeometry {
    return indexGeometry(this.#count, { offsetBytes: 6 });
  }

  /** The bytes of the group from the first to the last, and at the end its name. Lets go of the records meanwhile, so it is for once. */
  *encode(): Generator<Uint8Array, string> {
    const { geometry } = this;
    const pages = new Pages(geometry);
    for (const bucket of this.#buckets) if (bucket.count > 0) yield pages.add(bucket.takeSorted());
    yield pages.end();
    const { bytes, name } = indexTail(pages.toc(), geometry);
    yield bytes;
    return name;
  }
}

/** Memory for records, cut from few large pieces: many small ones would leave holes that the system does not get back. */
class Slabs {
  #slab: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;

  take(bytes: number): DataView {
    if (this.#at + bytes > this.#slab.byteLength) {
      this.#slab = new DataView(new ArrayBuffer(this.#slab.byteLength === 0 ? firstSlab : slabBytes));
      this.#at = 0;
    }
    const part = new DataView(this.#slab.buffer, this.#at, bytes);
    this.#at += bytes;
    return part;
  }
}

/** The records whose keys begin with the same byte. */
class Bucket {
  count = 0;
  readonly #slabs: Slabs;
  #pieces: DataView[] = [];
  #piece: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;

  constructor(slabs: Slabs) {
    this.#slabs = slabs;
  }

  /** Takes a record of an index. */
  add(from: DataView, at: number, archive: number): void {
    if (this.#at === this.#piece.byteLength) this.#grow();
    const place = this.#at;
    for (let i = 0; i < 20; i += 4) this.#piece.setUint32(place + i, from.getUint32(at + i));
    this.#piece.setUint16(place + 20, archive);
    this.#piece.setUint32(place + 22, from.getUint32(at + 20));
    this.#at += recordSize;
    this.count += 1;
  }

  #grow(): void {
    const records = Math.min(mostInPiece, Math.max(fewestInPiece, this.count));
    this.#piece = this.#slabs.take(records * recordSize);
    this.#pieces.push(this.#piece);
    this.#at = 0;
  }

  /** All records in the order of their keys; equal keys as they came. Afterwards there are none. */
  takeSorted(): Uint8Array {
    const pieces = this.#pieces.map(bytesOf);
    pieces.push(pieces.pop()!.subarray(0, this.#at));
    const dealBits = Math.min(mostDealBits, Math.max(1, 31 - Math.clz32(this.count >>> 2)));
    const ends = endsOf(pieces, dealBits);
    const sorted = new Uint8Array(this.count * recordSize);
    deal(pieces, dealBits, ends, sorted);
    for (let i = 0, start = 0; i < ends.length; start = ends[i]!, i++) {
      if (ends[i]! - start > crowd * recordSize) sortCrowd(sorted.subarray(start, ends[i]!));
      else sortByInsertion(sorted, start, ends[i]!);
    }
    this.count = 0;
    this.#pieces = [];
    return sorted;
  }
}

/** For each value of the bits behind the first byte, where the records with it or a lower one end. */
function endsOf(pieces: readonly Uint8Array[], dealBits: number): Uint32Array {
  const ends = new Uint32Array(1 << dealBits);
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += recordSize) ends[dealtBits(piece, at, dealBits)]! += recordSize;
  }
  for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!;
  return ends;
}

/** Copies every record to the next free place of its bits. */
function deal(pieces: readonly Uint8Array[], dealBits: number, ends: Uint32Array, to: Uint8Array): void {
  const next = new Uint32Array(ends.length);
  next.set(ends.subarray(0, -1), 1);
  const target = viewOf(to);
  for (const piece of pieces) {
    const from = viewOf(piece);
    for (let at = 0; at < piece.length; at += recordSize) {
      const bits = dealtBits(piece, at, dealBits);
      const place = next[bits]!;
      for (let i = 0; i < 24; i += 4) target.setUint32(place + i, from.getUint32(at + i));
      target.setUint16(place + 24, from.getUint16(at + 24));
      next[bits] = place + recordSize;
    }
  }
}

/** The bits behind the first byte of a key. */
function dealtBits(bytes: Uint8Array, at: number, dealBits: number): number {
  return ((bytes[at + 1]! << 8) | bytes[at + 2]!) >>> (16 - dealBits);
}

function copyRecord(from: Uint8Array, at: number, to: Uint8Array, place: number): void {
  for (let i = 0; i < recordSize; i++) to[place + i] = from[at + i]!;
}

/** The record that is on its way to its place. */
const moving = new Uint8Array(recordSize);

/** Equal keys keep their order: by archive, then as in its index. */
function sortByInsertion(records: Uint8Array, start: number, end: number): void {
  for (let at = start + recordSize; at < end; at += recordSize) {
    let place = at;
    while (place > start && compareRecords(records, place - recordSize, at) > 0) place -= recordSize;
    if (place === at) continue;
    copyRecord(records, at, moving, 0);
    records.copyWithin(place + recordSize, place, at);
    copyRecord(moving, 0, records, place);
  }
}

/** The same for many. */
function sortCrowd(records: Uint8Array): void {
  const order = Uint32Array.from({ length: records.length / recordSize }, (_, i) => i * recordSize);
  order.sort((a, b) => compareRecords(records, a, b) || a - b);
  const unsorted = records.slice();
  for (const [i, at] of order.entries()) copyRecord(unsorted, at, records, i * recordSize);
}

function compareRecords(records: Uint8Array, a: number, b: number): number {
  for (let i = 0; i < keySize; i++) {
    const difference = records[a + i]! - records[b + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Lays records out in pages, and keeps what the table says of each. */
class Pages {
  readonly #pageSize: number;
  readonly #hashBytes: number;
  /** Bytes of the records of a full page. */
  readonly #full: number;
  readonly #lastKeys = new ByteWriter();
  readonly #hashes = new ByteWriter();
  /** What does not fill a page yet. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor({ pageSize, entriesPerPage, hashBytes }: IndexGeometry) {
    this.#pageSize = pageSize;
    this.#hashBytes = hashBytes;
    this.#full = entriesPerPage * recordSize;
  }

  /** Takes records behind those that came before. @returns the pages that are full now */
  add(records: Uint8Array): Uint8Array {
    const count = Math.floor((this.#rest.length + records.length) / this.#full);
    const pages = new Uint8Array(count * this.#pageSize);
    let taken = 0;
    for (let pageAt = 0; pageAt < pages.length; pageAt += this.#pageSize) {
      const page = pages.subarray(pageAt, pageAt + this.#pageSize);
      const next = records.subarray(taken, taken + this.#full - this.#rest.length);
      page.set(this.#rest);
      page.set(next, this.#rest.length);
      taken += next.length;
      this.#rest = new Uint8Array(0);
      this.#note(page, this.#full);
    }
    this.#rest = concatBytes([this.#rest, records.subarray(taken)]);
    return pages;
  }

  /** @returns the last page, where one is not full */
  end(): Uint8Array {
    const page = new Uint8Array(this.#rest.length === 0 ? 0 : this.#pageSize);
    page.set(this.#rest);
    if (page.length > 0) this.#note(page, this.#rest.length);
    return page;
  }

  #note(page: Uint8Array, used: number): void {
    this.#lastKeys.raw(page.subarray(used - recordSize, used - recordSize + keySize));
    this.#hashes.raw(md5(page).subarray(0, this.#hashBytes));
  }

  /** The table: the last key of each page, then the hash of each. */
  toc(): Uint8Array {
    return concatBytes([this.#lastKeys.bytes(), this.#hashes.bytes()]);
  }
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
