import { deflateExact } from '../../codecs/compression/deflate-exact.ts';
import { inflate } from '../../codecs/compression/inflate.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import { type Format, startsWith } from '../format.ts';

/*
 * ZBSDIFF1: a patch from one decoded file to another, bsdiff's format with zlib in place of bzip2. A patch object is
 * raw, not BLTE; its key is the MD5 of the file.
 *
 *   0   "ZBSDIFF1"
 *   8   i64  size of the control stream
 *   16  i64  size of the diff stream
 *   24  i64  size of the new file
 *   32  control, diff and extra stream, each zlib; extra takes the rest
 *
 *   control: triples of i64 { add, copy, seek }
 *     add bytes are old byte + diff byte, modulo 256; then copy bytes come from extra; then the old file's
 *     position moves by seek. Old bytes outside the old file count as zero.
 *
 * The i64 are little-endian with a sign bit, not two's complement: 0x8000000000000000 is a zero, and is seen.
 * Source: bsdiff 4.3 by Colin Percival; checked on real patches of WoW.
 */

const what = 'ZBSDIFF1 patch';

/** Told by its magic. */
export const zbsdiffFormat: Format = { name: what, matches: startsWith('ZBSDIFF1') };

const headerSize = 32;
const tripleSize = 24;
const signBit = 1n << 63n;

/** A 64-bit number with a sign bit. */
function readOffset(reader: ByteReader): number {
  const bits = reader.u64leBig();
  const magnitude = bits & ~signBit;
  if (magnitude > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw formatError('E_FORMAT_RANGE', reader.what, `number ${magnitude} is too large`, { offset: reader.pos - 8 });
  }
  return bits < signBit || magnitude === 0n ? Number(magnitude) : -Number(magnitude);
}

function readSize(reader: ByteReader, name: string): number {
  const size = readOffset(reader);
  if (size >= 0) return size;
  throw formatError('E_FORMAT_RANGE', reader.what, `${name} is negative`, { offset: reader.pos - 8, found: size });
}

function readStreams(patch: Uint8Array, maxSize: number) {
  const reader = new ByteReader(patch, what);
  reader.magic('ZBSDIFF1');
  const controlSize = readSize(reader, 'size of the control stream');
  const diffSize = readSize(reader, 'size of the diff stream');
  const newSize = readSize(reader, 'size of the new file');
  if (newSize > maxSize) {
    throw formatError('E_FORMAT_RANGE', what, `new file of ${newSize} bytes, more than the ${maxSize} allowed`);
  }
  const control = reader.take(controlSize);
  return { newSize, control, diff: reader.take(diffSize), extra: reader.take(reader.remaining) };
}

/** One step of the control stream. */
interface Step {
  add: number;
  copy: number;
  seek: number;
}

function* controlSteps(control: Uint8Array): Generator<Step> {
  const reader = new ByteReader(control, `${what} control`);
  while (reader.remaining > 0) {
    yield { add: readSize(reader, 'count to add'), copy: readSize(reader, 'count to copy'), seek: readOffset(reader) };
  }
}

/** Output of both streams; it must be the new file's size, which is checked before anything is made. */
function countBytes(control: Uint8Array, newSize: number): { added: number; copied: number } {
  let added = 0;
  let copied = 0;
  for (const { add, copy } of controlSteps(control)) {
    added += add;
    copied += copy;
    if (added + copied > newSize) break;
  }
  if (added + copied === newSize) return { added, copied };
  const facts = { expected: newSize, found: added + copied };
  throw formatError('E_FORMAT_RANGE', what, 'control stream does not make the new size', facts);
}

function inflateStream(stream: Uint8Array, size: number, name: string): Uint8Array {
  return inflate(stream, { size, maxSize: size, what: `${what} ${name}` });
}

/** Bounds for the new file. */
export interface ApplyOptions {
  /** Most bytes that the new file may have. */
  maxSize: number;
}

/**
 * Makes the new file out of the old one and a patch.
 * @throws E_FORMAT_MAGIC; E_FORMAT_RANGE for a new file over `maxSize` and for steps that do not make it;
 *   E_FORMAT_TRUNCATED, E_FORMAT_CHECKSUM or E_FORMAT for streams that are damaged
 */
export function applyZbsdiff(old: Uint8Array, patch: Uint8Array, options: ApplyOptions): Uint8Array {
  const streams = readStreams(patch, options.maxSize);
  const { newSize } = streams;
  // A sane step makes at least a byte, so this bounds the control stream.
  const maxSize = Math.min((newSize + 1) * tripleSize, 0x7fffffff);
  const control = inflate(streams.control, { maxSize, what: `${what} control` });
  const { added, copied } = countBytes(control, newSize);
  const diff = inflateStream(streams.diff, added, 'diff');
  const extra = inflateStream(streams.extra, copied, 'extra');
  const made = new Uint8Array(newSize);
  let [position, oldPosition, diffPosition, extraPosition] = [0, 0, 0, 0];
  for (const { add, copy, seek } of controlSteps(control)) {
    made.set(diff.subarray(diffPosition, diffPosition + add), position);
    addBytes(made.subarray(position, position + add), old, oldPosition);
    made.set(extra.subarray(extraPosition, extraPosition + copy), position + add);
    position += add + copy;
    diffPosition += add;
    extraPosition += copy;
    oldPosition += add + seek;
  }
  return made;
}

/** Adds the old bytes from `from` on to those of `target`, as far as there are any. */
function addBytes(target: Uint8Array, old: Uint8Array, from: number): void {
  const start = Math.max(0, -from);
  const end = Math.min(target.length, old.length - from);
  for (let i = start; i < end; i++) target[i] = target[i]! + old[from + i]!;
}

function sharedStart(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let size = 0;
  while (size < most && a[size] === b[size]) size++;
  return size;
}

/** Bytes that both have in common at their ends, behind the first `from`. */
function sharedEnd(a: Uint8Array, b: Uint8Array, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let size = 0;
  while (size < most && a[a.length - 1 - size] === b[b.length - 1 - size]) size++;
  return size;
}

/**
 * Makes a patch that {@link applyZbsdiff} takes. It finds what both files share at their start and their end, and takes
 * all between for changed: small for one edit, valid for any. The same files give the same patch on every machine.
 */
export function makeZbsdiff(old: Uint8Array, made: Uint8Array): Uint8Array {
  const start = sharedStart(old, made);
  const end = sharedEnd(old, made, start);
  // Of the middle, as much as both have is a difference; what the new file has beyond that is put in.
  const add = Math.min(old.length, made.length) - end;
  const inserted = made.subarray(add, made.length - end);
  const diff = new Uint8Array(add + end);
  for (let i = start; i < add; i++) diff[i] = made[i]! - old[i]!;

  // The old file never has to be sought backwards here, so no number needs the sign bit.
  const control = new ByteWriter(2 * tripleSize).u64le(add).u64le(inserted.length);
  control.u64le(old.length - end - add);
  if (end > 0) control.u64le(end).u64le(0).u64le(0);
  const streams = [control.bytes(), diff, inserted].map((bytes) => deflateExact(bytes, { level: 6 }));
  const [controlStream, diffStream] = streams as [Uint8Array, Uint8Array, Uint8Array];
  const writer = new ByteWriter(headerSize + streams.reduce((sum, stream) => sum + stream.length, 0));
  writer.text('ZBSDIFF1').u64le(controlStream.length).u64le(diffStream.length).u64le(made.length);
  for (const stream of streams) writer.raw(stream);
  return writer.bytes();
}
