import { putNameHash, type ViewPart } from '../../../core/jenkins.ts';
import { orderOfWords } from '../../../core/sorting/sort-words.ts';
import { lookupRowsPerPage } from '../../../store/derived/lookup-file.ts';
import { listfileRows } from '../listfile-paths.ts';

const { idStride, hashStride, noId } = listfileRows;

/** Rows of a look-up file that are handed on at a time: those of sixteen pages. */
const rowsOfPiece = 16 * lookupRowsPerPage(idStride);

/**
 * Names, a row of words each: where the name starts in the memory of the lines (where it is in one); its bytes, none where the row is left out, and above them the upper
 * bits of its offset in the text; its id, or `noId`; its offset in the text, and before that is known the number of its folder. All that is asked for at once lies in one
 * place: rows are gone through in orders in which no two are neighbours, and the memory is what takes the time.
 */
export interface ListedRows {
  words: Uint32Array;
  /** The hash of each name: two words, the high one first. */
  hashes: Uint32Array;
}

/** Words of a row, and what each is; words of a hash. */
export const rowWords = 4;
export const hashWords = 2;
export const [startAt, sizeAt, idAt, offsetAt] = [0, 1, 2, 3];
/** Where an offset goes on in the word of the size. */
export const sizeBits = 16;

/** Makes room for some rows. @param isShared in memory that threads may share */
export function listedRows(count: number, isShared = false): ListedRows {
  return {
    words: new Uint32Array(memoryOf(4 * rowWords * count, isShared)),
    hashes: new Uint32Array(memoryOf(4 * hashWords * count, isShared)),
  };
}

/** Zeros, in memory that threads may share or not. */
export function memoryOf(bytes: number, isShared: boolean): ArrayBufferLike {
  return isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
}

/** Puts rows where there is room for more. */
export function copyRows(from: ListedRows, to: ListedRows): void {
  to.words.set(from.words);
  to.hashes.set(from.hashes);
}

/** Hashes the names of rows [from, to), which lie in a memory. */
export function hashNames({ words, hashes }: ListedRows, view: DataView, [from, to]: readonly [number, number]): void {
  const name: ViewPart = { view, start: 0, end: 0 };
  for (let row = from; row < to; row++) {
    name.start = words[row * rowWords + startAt]!;
    name.end = name.start + words[row * rowWords + sizeAt]!;
    putNameHash(hashes, row * hashWords, name);
  }
}

/** Buckets that rows are dealt into by the leading bits of a key, so that those of each fit the caches: memory that is read here and there is slow. */
const bucketBits = 8;
/** Words of a row that was dealt: its hash, and what else the look-up files say of it. {@link idPieces} and {@link hashPieces} need so many for each. */
export const dealtWords = 5;
const [highIn, lowIn, sizeIn, idIn, offsetIn] = [0, 1, 2, 3, 4];

/** Rows that are to be dealt: by their hashes, or by their ids, those that have one. */
interface Hand {
  rows: ListedRows;
  count: number;
  by: typeof highIn | typeof idIn;
}

/** The buckets of a hand: where each ends, and the bits of a key below those that its bucket is known by. */
interface Buckets {
  ends: Uint32Array;
  shift: number;
}

function bucketsOf({ rows, count, by }: Hand): Buckets {
  const [keys, stride, at] = keysOf(rows, by);
  const end = count * stride;
  let most = 0;
  for (let i = at; i < end; i += stride) if (keys[i]! > most && isDealt(keys[i]!, by)) most = keys[i]!;
  const shift = Math.max(0, 32 - Math.clz32(most) - bucketBits);
  const ends = new Uint32Array(1 << bucketBits);
  for (let i = at; i < end; i += stride) if (isDealt(keys[i]!, by)) ends[keys[i]! >>> shift]! += 1;
  for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!;
  return { ends, shift };
}

/** The words that have the keys, how many there are from one to the next, and where the first is. */
function keysOf({ words, hashes }: ListedRows, by: Hand['by']): [Uint32Array, number, number] {
  return by === idIn ? [words, rowWords, idAt] : [hashes, hashWords, 0];
}

function isDealt(key: number, by: Hand['by']): boolean {
  return by !== idIn || key !== noId;
}

/** Deals rows, those of each bucket as they come. @param stride words of each: all, or the key alone */
function deal({ rows, count, by }: Hand, { ends, shift }: Buckets, dealt: Uint32Array, stride = dealtWords): void {
  const [keys, keyStride, at] = keysOf(rows, by);
  const next = new Uint32Array(ends.length);
  next.set(ends.subarray(0, -1), 1);
  for (let row = 0; row < count; row++) {
    const key = keys[row * keyStride + at]!;
    if (!isDealt(key, by)) continue;
    const place = next[key >>> shift]!;
    next[key >>> shift] = place + 1;
    const [from, to] = [row * rowWords, place * stride];
    dealt[to] = stride === 1 ? key : rows.hashes[row * hashWords]!;
    if (stride === 1) continue;
    dealt[to + lowIn] = rows.hashes[row * hashWords + 1]!;
    dealt[to + sizeIn] = rows.words[from + sizeAt]!;
    dealt[to + idIn] = rows.words[from + idAt]!;
    dealt[to + offsetIn] = rows.words[from + offsetAt]!;
  }
}

/** The places of dealt rows in the order of their keys, equal ones as they come: bucket by bucket, each until the next is asked for. @param at where in a row the key is */
function* placesInOrder(
  dealt: Uint32Array,
  { ends, shift }: Buckets,
  stride: number,
  at: number,
): Generator<Uint32Array> {
  const largest = ends.reduce((most, end, i) => Math.max(most, end - (ends[i - 1] ?? 0)), 0);
  const [keys, places] = [new Uint32Array(largest), new Uint32Array(largest)];
  for (let bucket = 0, first = 0; bucket < ends.length; first = ends[bucket]!, bucket++) {
    const count = ends[bucket]! - first;
    const [key, place] = [keys.subarray(0, count), places.subarray(0, count)];
    // What all have in common is left out.
    for (let i = 0; i < count; i++) key[i] = dealt[(first + i) * stride + at]! << (32 - shift);
    orderOfWords(key, place, () => 0);
    for (let i = 0; i < count; i++) place[i]! += first;
    yield place;
  }
}

/**
 * The first `count` rows of BASE.ids, by their ids: of an id the last row. In pieces, each of which holds until the next is asked for.
 * @param memory for {@link dealtWords} a row, where there is some
 */
export function* idPieces(rows: ListedRows, count: number, memory?: Uint32Array): Generator<Uint8Array> {
  const { words, hashes } = rows;
  const piece = new Piece(idStride);
  if (isAscending(words, count)) {
    for (let row = 0; row < count; row++) {
      const { view, at } = piece;
      const from = row * rowWords;
      view.setUint32(at, words[from + idAt]!);
      putPlace(view, at + 4, words[from + offsetAt]!, words[from + sizeAt]!);
      view.setUint32(at + 11, hashes[row * hashWords]!);
      view.setUint32(at + 15, hashes[row * hashWords + 1]!);
      if (piece.next()) yield piece.take();
    }
    return yield piece.take();
  }
  const hand: Hand = { rows, count, by: idIn };
  const buckets = bucketsOf(hand);
  const dealt = memory ?? new Uint32Array(dealtWords * count);
  deal(hand, buckets, dealt);
  for (const places of placesInOrder(dealt, buckets, dealtWords, idIn)) {
    for (let i = 0; i < places.length; i++) {
      const from = places[i]! * dealtWords;
      const id = dealt[from + idIn]!;
      if (i + 1 < places.length && dealt[places[i + 1]! * dealtWords + idIn] === id) continue;
      const { view, at } = piece;
      view.setUint32(at, id);
      putPlace(view, at + 4, dealt[from + offsetIn]!, dealt[from + sizeIn]!);
      view.setUint32(at + 11, dealt[from + highIn]!);
      view.setUint32(at + 15, dealt[from + lowIn]!);
      if (piece.next()) yield piece.take();
    }
  }
  yield piece.take();
}

/** Whether all rows have an id, each above the one before: so lists mostly come. */
function isAscending(words: Uint32Array, count: number): boolean {
  let before = -1;
  for (let at = idAt; at < count * rowWords; at += rowWords) {
    if (words[at]! <= before || words[at] === noId) return false;
    before = words[at]!;
  }
  return true;
}

/** Rows in the order of the high words of their hashes: the places that they have when they are dealt. */
export interface HashOrder {
  hand: Hand;
  buckets: Buckets;
  order: Uint32Array;
  /** Where in the order those begin and end that have one high word: hardly any. */
  alike: { start: number; end: number }[];
}

/** Brings the first `count` rows in the order of their hashes, for {@link hashPieces}: nothing else of them needs to be there. */
export function orderOfHashes(rows: ListedRows, count: number): HashOrder {
  const hand: Hand = { rows, count, by: highIn };
  const buckets = bucketsOf(hand);
  const highs = new Uint32Array(count);
  deal(hand, buckets, highs, 1);
  const order = new Uint32Array(count);
  let filled = 0;
  for (const places of placesInOrder(highs, buckets, 1, 0)) {
    order.set(places, filled);
    filled += places.length;
  }
  const alike: HashOrder['alike'] = [];
  for (let i = 1, start = 0; i <= count; i++) {
    if (i < count && highs[order[i]!] === highs[order[start]!]) continue;
    if (i - start > 1) alike.push({ start, end: i });
    start = i;
  }
  return { hand, buckets, order, alike };
}

/** The rows of BASE.hashes, of one hash by their offsets. In pieces, and with memory, as those of {@link idPieces}. */
export function* hashPieces({ hand, buckets, order, alike }: HashOrder, memory?: Uint32Array): Generator<Uint8Array> {
  const dealt = memory ?? new Uint32Array(dealtWords * hand.count);
  deal(hand, buckets, dealt);
  const low = (place: number): number => dealt[place * dealtWords + lowIn]!;
  const offset = (place: number): number =>
    (dealt[place * dealtWords + sizeIn]! >>> sizeBits) * 2 ** 32 + dealt[place * dealtWords + offsetIn]!;
  for (const { start, end } of alike)
    order.subarray(start, end).sort((a, b) => low(a) - low(b) || offset(a) - offset(b));
  const piece = new Piece(hashStride);
  for (let i = 0; i < order.length; i++) {
    const from = order[i]! * dealtWords;
    if (dealt[from + sizeIn] === 0) continue;
    const { view, at } = piece;
    view.setUint32(at, dealt[from + highIn]!);
    view.setUint32(at + 4, dealt[from + lowIn]!);
    putPlace(view, at + 8, dealt[from + offsetIn]!, dealt[from + sizeIn]!);
    view.setUint32(at + 15, dealt[from + idIn]!);
    if (piece.next()) yield piece.take();
  }
  yield piece.take();
}

/** Rows of a look-up file that are handed on together. */
class Piece {
  /** Where the next row goes. */
  at = 0;
  readonly view: DataView;
  readonly #stride: number;
  readonly #bytes: Uint8Array;

  constructor(stride: number) {
    this.#stride = stride;
    this.#bytes = new Uint8Array(rowsOfPiece * stride);
    this.view = new DataView(this.#bytes.buffer);
  }

  /** Goes on behind a row. @returns whether the piece is full */
  next(): boolean {
    this.at += this.#stride;
    return this.at === this.#bytes.length;
  }

  /** The rows so far, which hold until there is another. */
  take(): Uint8Array {
    const rows = this.#bytes.subarray(0, this.at);
    this.at = 0;
    return rows;
  }
}

/** An offset u40 and a size u16. @param size with the upper bits of the offset, as in a row */
function putPlace(view: DataView, at: number, offset: number, size: number): void {
  view.setUint8(at, size >>> sizeBits);
  view.setUint32(at + 1, offset);
  view.setUint16(at + 5, size);
}
