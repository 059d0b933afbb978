/*
 * Reads GBX files, whose bytes decide how the bytes behind them are decrypted. Where the scanner's first guess does
 * not give a file that holds together, its alternatives are tried, one or two changes at a time, as long as that
 * leads further into the file.
 */

import type { ByteSource } from '../../../core/byte-source.ts';
import { equalBytes } from '../../../core/bytes.ts';
import { formatError, isDamage, PakratError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';
import type { EntryStatus } from '../../pak.ts';
import { pageSize } from '../entries/cipher-stream.ts';
import { Lz4Blocks } from '../entries/lz4-blocks.ts';
import { PlainRegion, type RegionPlace } from '../entries/plain-region.ts';
import { SteppedInflate } from '../entries/stepped-inflate.ts';
import type { FeedbackPlace } from './gbx-feedback.ts';

/** The compression of a file. */
export type EntryMethod = 'none' | 'zlib' | 'lz4';

/** Finds places of feedback in a file from the bytes decoded so far. */
export interface PlaceFinder {
  next(bytes: Uint8Array): FeedbackPlace[];
}

/** One file to be followed. */
export interface FollowedEntry {
  source: ByteSource;
  region: RegionPlace;
  method: EntryMethod;
  /** Bytes after decoding. */
  size: number;
  dictionary: Uint8Array | undefined;
  packVersion: number;
  /** Version 14 and above: 16 bytes that may be the MD5 of the content. */
  checksum: Uint8Array | undefined;
  /** Give what decodes to the right size even if a checksum is wrong. */
  ignoreHashes: boolean;
  /** A finder for each new attempt. */
  finder: () => PlaceFinder;
}

/** Larger files cannot be followed: all of one is held in memory. */
const maxFollowedSize = 64 << 20;
/** Bytes that may be decoded in vain before a file is given up: eight times its size, within these bounds. */
const minVainBytes = 4 << 20;
const maxVainBytes = 64 << 20;
const vainFactor = 8;
const maxAttempts = 400;
const firstVersionOfLastingDamage = 12;
const endOfNode = Uint8Array.of(0x01, 0xde, 0xca, 0xfa);

/** Failed, complete but suspect, complete, complete and checked. */
type Grade = 0 | 1 | 2 | 3;

interface Attempt {
  grade: Grade;
  bytes: Uint8Array;
  places: FeedbackPlace[];
  /** The alternatives that were taken, by the offset of the place; the first where nothing is said. */
  taken: ReadonlyMap<number, number>;
  /** True when a page was decrypted after the first place. */
  hasFeedback: boolean;
  error?: PakratError;
}

/**
 * Decodes a whole file and says how sure it is.
 * @throws E_INTEGRITY when no way of following it gives what the pack promises, E_UNSUPPORTED for files too large or
 *   without the LZ4 dictionary
 */
export async function followEntry(entry: FollowedEntry): Promise<{ bytes: Uint8Array; status: EntryStatus }> {
  if (entry.size > maxFollowedSize) {
    throw new PakratError('E_UNSUPPORTED', `a GBX file of ${entry.size} bytes is too large to be followed`, {
      hint: 'Its stored bytes can be taken out raw.',
    });
  }
  const found = await search(entry);
  if (found.grade === 0 && !(entry.ignoreHashes && found.bytes.length === entry.size)) {
    const problem = 'the file is damaged, or what it mixes into its encryption could not be followed';
    throw new PakratError('E_INTEGRITY', problem, {
      hint: 'Its stored bytes can be taken out raw.',
      cause: found.error,
    });
  }
  return { bytes: found.bytes, status: statusOf(found) };
}

function statusOf({ grade, hasFeedback }: Attempt): EntryStatus {
  if (!hasFeedback) return 'exact';
  return grade === 3 ? 'exact by checksum' : 'feedback unverified';
}

async function search(entry: FollowedEntry): Promise<Attempt> {
  let best = await attempt(entry, new Map());
  const budget = Math.max(minVainBytes, Math.min(maxVainBytes, vainFactor * entry.size));
  const spent = { bytes: best.bytes.length, attempts: 1 };
  while (best.grade < 2) {
    const better = await improve(entry, best, { spent, budget });
    if (better === undefined) break;
    best = better;
  }
  return best;
}

/** The first attempt that gets further than `base` with one place decided otherwise, or with two. */
async function improve(
  entry: FollowedEntry,
  base: Attempt,
  { spent, budget }: { spent: { bytes: number; attempts: number }; budget: number },
): Promise<Attempt | undefined> {
  for (const taken of changesOf(base)) {
    if (spent.bytes > budget || spent.attempts >= maxAttempts) return undefined;
    const next = await attempt(entry, taken);
    spent.bytes += next.bytes.length + pageSize;
    spent.attempts++;
    if (isBetter(next, base)) return next;
  }
  return undefined;
}

/** Every other decision at one place, the last places first because they are the likeliest; then at two. */
function* changesOf({ places, taken }: Attempt): Generator<ReadonlyMap<number, number>> {
  const changes = places
    .toReversed()
    .flatMap(({ offset, choices }) =>
      [...choices.keys()].filter((choice) => choice !== (taken.get(offset) ?? 0)).map((choice) => ({ offset, choice })),
    );
  for (const { offset, choice } of changes) yield new Map(taken).set(offset, choice);
  for (const [i, first] of changes.entries()) {
    for (const second of changes.slice(0, i)) {
      if (second.offset === first.offset) continue;
      yield new Map(taken).set(first.offset, first.choice).set(second.offset, second.choice);
    }
  }
}

/** Further is better; of two that came as far, the one with more nodes: there are none in garbage. */
function isBetter(a: Attempt, b: Attempt): boolean {
  if (a.grade !== b.grade) return a.grade > b.grade;
  if (a.bytes.length !== b.bytes.length) return a.bytes.length > b.bytes.length;
  return a.places.length > b.places.length;
}

async function attempt(entry: FollowedEntry, taken: ReadonlyMap<number, number>): Promise<Attempt> {
  const region = new PlainRegion(entry.source, entry.region);
  const finder = entry.finder();
  const output = new GrowingBytes(entry.size);
  const places: FeedbackPlace[] = [];
  let pagesAtFirst: number | undefined;
  let isChecked = false;
  const result = (grade: Grade): Attempt => {
    const hasFeedback = pagesAtFirst !== undefined && region.pageCount > pagesAtFirst;
    return { grade, bytes: output.bytes, places, taken, hasFeedback };
  };
  try {
    const pieces = steppedPieces(region, entry, () => {
      isChecked = true;
    });
    for await (const piece of pieces) {
      output.append(piece);
      for (const place of finder.next(output.bytes)) {
        pagesAtFirst ??= region.pageCount;
        places.push(place);
        const mix = place.choices[taken.get(place.offset) ?? 0];
        if (mix !== undefined) region.mix(mix);
      }
    }
    output.checkFull();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { ...result(0), error };
  }
  const whole = result(2);
  return { ...whole, grade: gradeOf(entry, whole, isChecked) };
}

/** Stored bytes that a file is decoded from, such as a {@link PlainRegion}. */
export interface StepRegion {
  /** Bytes not yet taken. */
  readonly remaining: number;
  /** The next bytes, fewer than asked at the end. */
  take(size: number): Promise<Uint8Array> | Uint8Array;
}

/**
 * A file in the steps in which the game decodes it: nothing is taken from the region before what was given is used up.
 * @param onChecked called when a checksum at the end of the stream was right
 */
export async function* steppedPieces(
  region: StepRegion,
  { method, size, dictionary }: Pick<FollowedEntry, 'method' | 'size' | 'dictionary'>,
  onChecked?: () => void,
): AsyncGenerator<Uint8Array> {
  const take = (count: number) => region.take(count);
  if (method === 'none') {
    while (region.remaining > 0) yield await take(pageSize);
  } else if (method === 'lz4') {
    const blocks = new Lz4Blocks(size, dictionary);
    while (blocks.remaining > 0) yield await blocks.next(take);
  } else {
    const inflate = new SteppedInflate();
    for (let piece = await inflate.fill(take); piece.length > 0; piece = await inflate.fill(take)) yield piece;
    if (!inflate.ended) throw formatError('E_FORMAT_TRUNCATED', 'zlib stream', 'ends early');
    onChecked?.();
  }
}

function gradeOf({ packVersion, checksum }: FollowedEntry, { bytes, hasFeedback }: Attempt, isChecked: boolean): Grade {
  if (isChecked || (checksum !== undefined && equalBytes(md5(bytes), checksum))) return 3;
  // From version 12 on a wrong feedback spoils all that follows, so the end mark of the main node speaks for the rest.
  const endsWell = equalBytes(bytes.subarray(-endOfNode.length), endOfNode);
  const isSuspect = packVersion >= firstVersionOfLastingDamage && hasFeedback && !endsWell;
  return isSuspect ? 1 : 2;
}

/** Bytes that grow up to a promised size, without memory for a promise that is not kept. */
class GrowingBytes {
  readonly #limit: number;
  #buffer = new Uint8Array(0x1000);
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  append(piece: Uint8Array): void {
    const end = this.#size + piece.length;
    if (end > this.#limit) throw this.#wrongSize(end);
    if (end > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(end, Math.min(this.#limit, 2 * this.#buffer.length)));
      grown.set(this.bytes);
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#size);
    this.#size = end;
  }

  checkFull(): void {
    if (this.#size !== this.#limit) throw this.#wrongSize(this.#size);
  }

  #wrongSize(found: number): PakratError {
    return formatError('E_FORMAT_RANGE', 'packed file', 'wrong size after decoding', { expected: this.#limit, found });
  }
}
