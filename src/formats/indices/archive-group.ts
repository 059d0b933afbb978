// The archive group: all archive indices of a CDN config merged into one index, so that a key is looked up once.
//
// It is not on the CDN. The CDN config gives the name that the result must have, so we make it and compare. Its records
// carry a 6-byte offset: the archive's place in the config (u16), then the offset (u32). No record is left out, also when
// archives share a key: the official name counts them all.
//
// Five million records are common, so none of them becomes an object. The records are dealt straight to their place among
// the output's pages by the leading bits of their keys (keys are hashes, so these are even), and the few that share those
// bits are then sorted in place. Knowledge: wowdev.wiki (TACT); the result has the official name.

import { breathe } from '../../core/breathe.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import type { ArchiveIndex } from './archive-index.ts';
import { type IndexGeometry, indexGeometry, type NamedIndex } from './index-layout.ts';
import { sealIndex } from './seal-index.ts';

const what = 'archive group';
const recordSize = 26;
const maxArchives = 0x1_0000;
/** Leading bits that deal the records, at most: about five records of five million share them. */
const mostDealBits = 20;
/** Above this many records with the same leading bits, which hashes never have, sorting by insertion would crawl. */
const crowd = 64;

/**
 * Merges indices into a group. The place of an index in the list becomes its archive number.
 * @throws E_UNSUPPORTED for an index that is not a plain archive index, or more of them than can be numbered
 */
export function encodeArchiveGroup(indices: readonly ArchiveIndex[]): NamedIndex {
  const steps = groupSteps(indices);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same while the event loop turns: five million records take seconds. @throws as {@link encodeArchiveGroup} */
export async function encodeArchiveGroupInSteps(indices: readonly ArchiveIndex[]): Promise<NamedIndex> {
  const steps = groupSteps(indices);
  for (;;) {
    await breathe();
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Values of the leading bits whose records are sorted in one step. */
const sortedAtOnce = 1 << 12;

function* groupSteps(indices: readonly ArchiveIndex[]): Generator<void, NamedIndex> {
  checkIndices(indices);
  const dealBits = dealBitsFor(indices.reduce((sum, { layout }) => sum + layout.count, 0));
  const ends = countByLeadingBits(indices, dealBits);
  const geometry = indexGeometry(ends.at(-1)!, { offsetBytes: 6 });
  const slots = new Slots(geometry);
  const starts = yield* dealRecords(indices, { ends, dealBits, slots });
  for (let i = 0; i < ends.length; i++) {
    const size = ends[i]! - starts[i]!;
    if (size > crowd) sortCrowd(slots, starts[i]!, ends[i]!);
    else if (size > 1) sortByInsertion(slots, starts[i]!, ends[i]!);
    if (i % sortedAtOnce === 0) yield;
  }
  return sealIndex(slots.bytes, geometry);
}

function checkIndices(indices: readonly ArchiveIndex[]): void {
  if (indices.length > maxArchives) {
    throw new PakratError('E_UNSUPPORTED', `${what}: ${indices.length} archives are more than ${maxArchives}`);
  }
  let count = 0;
  for (const { name, layout } of indices) {
    if (layout.keyBytes !== 16 || layout.sizeBytes !== 4 || layout.offsetBytes !== 4) {
      throw new PakratError('E_UNSUPPORTED', `${what}: ${name} is not the index of an archive`, {
        data: { key: name },
      });
    }
    count += layout.count;
  }
  if (count > 0xffff_ffff)
    throw formatError('E_FORMAT_RANGE', what, `${count} records are more than 32 bits can count`);
}

/** The leading bits that leave a few records to share them: a small group is not to pay for a large table. */
function dealBitsFor(count: number): number {
  return Math.min(mostDealBits, Math.max(1, 31 - Math.clz32(count >>> 2)));
}

function leadingBits(bytes: Uint8Array, at: number, dealBits: number): number {
  return ((bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!) >>> (24 - dealBits);
}

/** For each value of the leading bits, the number of records with it or a lower one: the end of its slots. */
function countByLeadingBits(indices: readonly ArchiveIndex[], dealBits: number): Uint32Array {
  const ends = new Uint32Array(1 << dealBits);
  for (const index of indices) forEachRecord(index, (at) => ends[leadingBits(index.bytes, at, dealBits)]!++);
  for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!;
  return ends;
}

function forEachRecord({ layout }: ArchiveIndex, visit: (at: number) => void): void {
  const { count, entriesPerPage, entrySize, pageSize } = layout;
  for (let first = 0, pageAt = 0; first < count; first += entriesPerPage, pageAt += pageSize) {
    const end = pageAt + Math.min(entriesPerPage, count - first) * entrySize;
    for (let at = pageAt; at < end; at += entrySize) visit(at);
  }
}

/** Copies every record to the next free slot of its leading bits. Gives back the first slot of each value. */
function* dealRecords(
  indices: readonly ArchiveIndex[],
  { ends, dealBits, slots }: { ends: Uint32Array; dealBits: number; slots: Slots },
): Generator<void, Uint32Array> {
  const starts = new Uint32Array(ends.length);
  starts.set(ends.subarray(0, -1), 1);
  const next = starts.slice();
  for (const [archive, index] of indices.entries()) {
    const from = viewOf(index.bytes);
    const to = slots.view;
    forEachRecord(index, (at) => {
      const place = slots.offsetOf(next[leadingBits(index.bytes, at, dealBits)]!++);
      for (let i = 0; i < 20; i += 4) to.setUint32(place + i, from.getUint32(at + i));
      to.setUint16(place + 20, archive);
      to.setUint32(place + 22, from.getUint32(at + 20));
    });
    yield;
  }
  return starts;
}

/** The places for records in the pages of a group, numbered without regard to pages. */
class Slots {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #perPage: number;
  readonly #pageSize: number;

  constructor({ fileSize, entriesPerPage, pageSize }: IndexGeometry) {
    this.bytes = new Uint8Array(fileSize);
    this.view = viewOf(this.bytes);
    this.#perPage = entriesPerPage;
    this.#pageSize = pageSize;
  }

  offsetOf(slot: number): number {
    const page = Math.floor(slot / this.#perPage);
    return page * this.#pageSize + (slot - page * this.#perPage) * recordSize;
  }
  copy(from: number, to: number): void {
    this.bytes.copyWithin(to, from, from + recordSize);
  }
  /** Compares the keys of the records at two offsets. */
  compare(a: number, b: number): number {
    for (let i = 0; i < 16; i += 4) {
      const difference = this.view.getUint32(a + i) - this.view.getUint32(b + i);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Equal keys keep their order: by archive, then as in its index. */
function sortByInsertion(slots: Slots, start: number, end: number): void {
  for (let slot = start + 1; slot < end; slot++) {
    let place = slot;
    const at = slots.offsetOf(slot);
    while (place > start && slots.compare(slots.offsetOf(place - 1), at) > 0) place--;
    if (place === slot) continue;
    const record = slots.bytes.slice(at, at + recordSize);
    for (let i = slot; i > place; i--) slots.copy(slots.offsetOf(i - 1), slots.offsetOf(i));
    slots.bytes.set(record, slots.offsetOf(place));
  }
}

function sortCrowd(slots: Slots, start: number, end: number): void {
  const order = Uint32Array.from({ length: end - start }, (_, i) => start + i);
  order.sort((a, b) => slots.compare(slots.offsetOf(a), slots.offsetOf(b)) || a - b);
  const sorted = new Uint8Array(order.length * recordSize);
  for (const [i, slot] of order.entries()) {
    const at = slots.offsetOf(slot);
    sorted.set(slots.bytes.subarray(at, at + recordSize), i * recordSize);
  }
  for (let i = 0; i < order.length; i++) {
    slots.bytes.set(sorted.subarray(i * recordSize, (i + 1) * recordSize), slots.offsetOf(start + i));
  }
}
