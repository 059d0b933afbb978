import { createCipheriv } from 'node:crypto';
import * as fs from 'node:fs';
import { md5Hex } from '../../src/core/hash.ts';
import type { RangeJob, RangeResult, RangeTarget } from '../../src/fetch/transfer/range-job.ts';
import type { PackedJob } from '../../src/fetch/transfer/range-targets.ts';
import { encodeBlte } from '../../src/formats/blte/encode.ts';
import { mergeSpans, type Span } from '../../src/store/spans.ts';

/** An encoded entry of a test. */
export interface TestEntry {
  ekey: string;
  bytes: Uint8Array;
}

/** Bytes that do not deflate, the same for the same seed. */
export function randomBytes(size: number, seed: number): Uint8Array {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(seed);
  return new Uint8Array(createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size)));
}

/** An entry with a chunk table: chunks of `chunkSize` plain bytes each. */
export function chunkedEntry(size: number, chunkSize: number, seed: number): TestEntry {
  return encodeBlte(randomBytes(size, seed), `b:{${chunkSize}*=n}`);
}

/** An entry without a chunk table. */
export function wholeEntry(size: number, seed: number): TestEntry {
  return encodeBlte(randomBytes(size, seed), 'n');
}

/** A patch: no BLTE, its key is the MD5 of its bytes. */
export function rawEntry(size: number, seed: number): TestEntry {
  const bytes = randomBytes(size, seed);
  return { ekey: md5Hex(bytes), bytes };
}

/** An archive of a test: its bytes, and where its entries lie. */
export interface TestArchive {
  bytes: Uint8Array;
  places: { ekey: string; offset: number; size: number }[];
}

/** Entries one after the other, with `gaps[i]` bytes that belong to nobody before entry i. */
export function archiveOf(entries: readonly TestEntry[], gaps: readonly number[] = []): TestArchive {
  const parts: Uint8Array[] = [];
  let offset = 0;
  const places = entries.map(({ ekey, bytes }, i) => {
    parts.push(randomBytes(gaps[i] ?? 0, 1000 + i), bytes);
    offset += gaps[i] ?? 0;
    const place = { ekey, offset, size: bytes.length };
    offset += bytes.length;
    return place;
  });
  return { bytes: new Uint8Array(Buffer.concat(parts)), places };
}

/** A job with a list of its entries, for all of an archive. */
export function jobFor(archive: TestArchive, more: Pick<RangeJob, 'path' | 'file'> & Partial<RangeJob>): ListedJob {
  const targets: RangeTarget[] = archive.places.map((place) => ({ ...place, held: 0 }));
  const last = targets.at(-1)!;
  return { start: targets[0]!.offset, end: last.offset + last.size, ...more, targets };
}

/** A job that can be looked at and changed. */
export interface ListedJob extends RangeJob {
  targets: RangeTarget[];
}

/** A job whose entries are a list again. */
export function listed(job: PackedJob): ListedJob {
  return { ...job, targets: [...job.targets] };
}

/** A result that can be looked at. */
export type ListedResult = RangeResult & { verified: number[] };

/** A result whose numbers are a list. */
export function listedResult(result: RangeResult): ListedResult {
  return { ...result, verified: Array.from(result.verified) };
}

/** Demands that the bytes of every span are on disk and are those of the archive. */
export function expectRight(file: string, spans: readonly Span[], truth: Uint8Array): void {
  const found = fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0);
  for (const { start, end } of mergeSpans(spans)) {
    if (Buffer.compare(found.subarray(start, end), truth.subarray(start, end)) !== 0) {
      throw new Error(`the bytes of span ${start}-${end} are not right on disk`);
    }
  }
}
