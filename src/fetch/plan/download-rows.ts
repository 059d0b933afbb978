import type { DownloadFile, DownloadPart } from '../../builds/manifests/download-file.ts';
import { breathe } from '../../core/breathe.ts';
import { compareKeys, copyRecord, u32At, viewOf } from '../../core/bytes.ts';
import { giveBack, largeBytes } from '../../core/tables/large-bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { downloadPriority, downloadSize } from '../../formats/manifests/download.ts';
import { hasTag, maskSize, type Tag } from '../../formats/manifests/tags.ts';
import type { Amount } from '../../store/ledger/rows.ts';
import { manifestPriority, setWantedPriority, type WantedList, wantedPriority } from './wanted.ts';

/** Wanted entries and bytes of a tag. */
export interface TagAmount {
  tag: Tag;
  amount: Amount;
}

const ekeySize = 16;
/** The number of an entry, behind its row. */
const numberSize = 4;
/** More than a part has: a word and a place below this are one number of fewer than 53 bits. */
const placesInWord = 2 ** 20;

/** A manifest part by part, with turns for others between. */
async function* partsOf(download: DownloadFile, signal: AbortSignal | undefined): AsyncGenerator<DownloadPart> {
  for (const part of download.parts()) {
    await breathe(signal);
    yield part;
  }
}

/** Called for an entry with the row that has its ekey, -1 where none has, the entries that were dealt, and its place among them. */
type OnMatch = (row: number, entries: RecordTable, place: number) => void;

/**
 * Calls back for every entry, with its row in a sorted table. Entries come in any order, those of one ekey in theirs. To sort them a part at a time
 * and go through the table beside is faster than to look up each: neither leaves the caches.
 */
async function eachEntry(
  download: DownloadFile,
  table: RecordTable,
  { visit, signal }: { visit: OnMatch; signal: AbortSignal | undefined },
): Promise<void> {
  const dealt = new DealtEntries(download);
  for await (const part of partsOf(download, signal)) dealt.match(part, table, visit);
  dealt.giveBack();
}

/** Entries of a part by the first bytes of their ekeys: copied, for each is looked at several times, and from one end of the part to the other is far. */
class DealtEntries {
  readonly #entries: RecordTable;
  readonly #words: Float64Array;

  constructor({ entrySize, mostInPart }: DownloadFile) {
    const stride = entrySize + numberSize;
    this.#entries = new RecordTable(largeBytes(mostInPart * stride), stride, mostInPart);
    this.#words = new Float64Array(mostInPart);
  }

  /** Gives the memory back: nothing is matched any more. */
  giveBack(): void {
    giveBack(this.#entries.bytes, this.#words);
  }

  match(part: DownloadPart, table: RecordTable, visit: OnMatch): void {
    const entries = this.#entries;
    const starts = this.#deal(part);
    let row = 0;
    for (let byte = 0; byte < 0x100; byte++) {
      const start = starts[byte]!;
      for (const number of this.#sortedWords(start, starts[byte + 1]!)) {
        const word = Math.floor(number / placesInWord);
        const place = start + (number - word * placesInWord);
        while (row < table.count && wordOf(table, row) < word) row++;
        if (row === table.count || wordOf(table, row) !== word) visit(-1, entries, place);
        // Rows that begin alike and are others somebody means to have: then it is looked up.
        else if (compareKeys(table.bytes, row * table.stride, entries.bytes, place * entries.stride) === 0)
          visit(row, entries, place);
        else visit(rowOf(table, entries, place), entries, place);
      }
    }
  }

  /** @returns where the entries of each first byte begin, and the end */
  #deal({ first, rows: { bytes, stride, count } }: DownloadPart): Uint32Array {
    const starts = new Uint32Array(0x102);
    // Two places on: each is moved to the end of its entries below, where the next begin.
    for (let at = 0; at < count * stride; at += stride) starts[bytes[at]! + 2]! += 1;
    for (let byte = 2; byte <= 0x100; byte++) starts[byte + 1]! += starts[byte]!;
    const { bytes: dealt, stride: dealtStride } = this.#entries;
    const [source, target] = [viewOf(bytes), viewOf(dealt)];
    for (let entry = first, from = 0; from < count * stride; entry++, from += stride) {
      const to = starts[bytes[from]! + 1]!++ * dealtStride;
      copyRecord(source, from, { target, to, size: stride });
      target.setUint32(to + stride, entry);
    }
    return starts;
  }

  /**
   * Entries that were dealt in the order of the first bytes of their ekeys, and those that have the same in theirs: each is a number of these bytes and of its
   * place, which runtimes sort without calling back.
   */
  #sortedWords(start: number, end: number): Float64Array {
    const words = this.#words.subarray(0, end - start);
    for (let i = 0; i < words.length; i++) words[i] = wordOf(this.#entries, start + i) * placesInWord + i;
    return words.sort();
  }
}

/** The first four bytes of a row. */
function wordOf({ bytes, stride }: RecordTable, row: number): number {
  return u32At(bytes, row * stride);
}

/** The row with the ekey of an entry, -1 where there is none. */
function rowOf(table: RecordTable, { bytes, stride }: RecordTable, entry: number): number {
  return table.indexOf(bytes, entry * stride, ekeySize);
}

/** The number of an entry that was dealt. */
function numberOf({ bytes, stride }: RecordTable, place: number): number {
  return u32At(bytes, (place + 1) * stride - numberSize);
}

/**
 * Adds the entries of a download manifest that a list does not have, and gives priorities to those that it has.
 * @returns the rows of the entries that were not found among those of the list that came in order: their priorities are to be given once it is sorted
 */
export async function addDownload(
  list: WantedList,
  download: DownloadFile,
  signal: AbortSignal | undefined,
): Promise<RecordTable> {
  const { basePriority, entrySize } = download;
  const table = list.inOrder();
  const added = new ByteWriter();
  const visit = (row: number, rows: RecordTable, place: number): void => {
    if (row === -1) added.raw(rows.at(place).subarray(0, entrySize));
    else setWantedPriority(table, row, downloadPriority({ rows, basePriority }, place));
  };
  await eachEntry(download, table, { visit, signal });
  // Not before: the table lies in the memory of the list, which may move when it grows.
  const rows = new RecordTable(added.bytes(), entrySize);
  for (let i = 0; i < rows.count; i++) list.addAt(rows.bytes, i * entrySize, downloadSize(rows, i));
  return rows;
}

/**
 * Gives wanted rows the priorities that a download manifest has for them; manifests keep theirs.
 * @param options.entries rows of the entries that are looked at; undefined: all
 */
export async function rankWanted(
  wanted: RecordTable,
  download: DownloadFile,
  { entries, signal }: { entries: RecordTable | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const { basePriority } = download;
  const rank = (row: number, rows: RecordTable, place: number): void => {
    if (row === -1 || wantedPriority(wanted, row) === manifestPriority) return;
    setWantedPriority(wanted, row, downloadPriority({ rows, basePriority }, place));
  };
  if (entries === undefined) return eachEntry(download, wanted, { visit: rank, signal });
  for (let i = 0; i < entries.count; i++) rank(rowOf(wanted, entries, i), entries, i);
}

/**
 * Wanted entries and bytes of each tag of a download manifest.
 * @param wanted rows of a WantedList, sorted by ekey; undefined: every entry is wanted
 */
export async function amountsByTag(
  wanted: RecordTable | undefined,
  download: DownloadFile,
  signal?: AbortSignal | undefined,
): Promise<TagAmount[]> {
  const amounts = download.tags.map((tag) => ({ tag, amount: { entries: 0, bytes: 0 } }));
  const sizes = new PartSizes(download.mostInPart);
  const dealt = wanted && new DealtEntries(download);
  for await (const part of partsOf(download, signal)) {
    const { first, rows } = part;
    sizes.clear();
    if (dealt === undefined || wanted === undefined)
      for (let place = 0; place < rows.count; place++) sizes.set(place, downloadSize(rows, place));
    else
      dealt.match(part, wanted, (row, entries, place) => {
        if (row !== -1) sizes.set(numberOf(entries, place) - first, downloadSize(entries, place));
      });
    sizes.addUp();
    for (const { tag, amount } of amounts) sizes.addTo(amount, tag.mask, first);
  }
  dealt?.giveBack();
  return amounts;
}

const notWanted = -1;

/** The sizes of the entries of a part that are wanted, and what each eight of them have together: a byte of a mask mostly takes all of them or none. */
class PartSizes {
  readonly #sizes: Float64Array;
  readonly #eights: { entries: Uint8Array; bytes: Float64Array };

  constructor(most: number) {
    const eights = maskSize(most);
    this.#sizes = new Float64Array(eights * 8);
    this.#eights = { entries: new Uint8Array(eights), bytes: new Float64Array(eights) };
  }

  clear(): void {
    this.#sizes.fill(notWanted);
  }

  set(place: number, size: number): void {
    this.#sizes[place] = size;
  }

  addUp(): void {
    const { entries, bytes } = this.#eights;
    entries.fill(0);
    bytes.fill(0);
    for (const [place, size] of this.#sizes.entries()) {
      if (size === notWanted) continue;
      entries[place >>> 3]! += 1;
      bytes[place >>> 3]! += size;
    }
  }

  /** @param first the entry that the part begins with, a multiple of 8 */
  addTo(amount: Amount, mask: Uint8Array, first: number): void {
    const { entries, bytes } = this.#eights;
    for (let eight = 0; eight < entries.length; eight++) {
      const bits = mask[(first >>> 3) + eight] ?? 0;
      if (bits === 0) continue;
      if (bits === 0xff) {
        amount.entries += entries[eight]!;
        amount.bytes += bytes[eight]!;
        continue;
      }
      for (let place = eight * 8; place < eight * 8 + 8; place++) {
        const size = this.#sizes[place]!;
        if (size === notWanted || !hasTag(mask, first + place)) continue;
        amount.entries += 1;
        amount.bytes += size;
      }
    }
  }
}
