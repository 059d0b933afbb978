import { compareParts, u32At } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { orderOf } from '../../../core/sorting/merge-sort.ts';
import { Numbered } from '../../../core/tables/numbered.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { type TvfsFile, TvfsFlags, type TvfsHeader, type TvfsSpan } from './layout.ts';
import { ckeySize, deletedCount, maxNameSize, maxPathSize, maxSpans, tvfsWhat } from './limits.ts';
import type { PlacedPaths } from './path-tree.ts';

/** An entry to encode; `kind` and `count` are needed only for one that is no file. */
export type TvfsFileContent = Pick<TvfsFile, 'path' | 'spans'> & Partial<Pick<TvfsFile, 'kind' | 'count'>>;

/** What entries have, and how large their keys are. */
export type EntryShape = Pick<TvfsHeader, 'flags' | 'ekeySize' | 'patchKeySize'>;

const slash = 0x2f;
/** Bytes of the offset and the size of a span. */
const placeSize = 8;
/** Bytes of the number of an espec, which is 0 where there is none. */
const especSize = 4;
/** Keys are looked up by so many bytes. */
const lookedUp = 16;

/** Entries to encode, as bytes: of millions, objects would take ten times as much. Entries and spans have numbers, in the order in which they come. */
export class EntryRows {
  readonly #shape: EntryShape;
  readonly #paths = new ByteWriter();
  /** Where each path begins, and the end. */
  readonly #pathStarts = [0];
  readonly #counts: number[] = [];
  /** The first span of each entry, and the number of all. */
  readonly #spanStarts = [0];
  readonly #places = new ByteWriter();
  /** The container entry of each span, with the number of its espec, of one size, behind its encoded size; and where each begins. */
  readonly #containers = new ByteWriter();
  readonly #containerStarts = [0];
  readonly #especs = new Numbered<string>();

  constructor(shape: EntryShape) {
    this.#shape = shape;
  }

  get spanCount(): number {
    return this.#containerStarts.length - 1;
  }

  /** @throws E_FORMAT_RANGE for what a manifest cannot hold */
  add(entry: TvfsFileContent): void {
    this.#addPath(entry.path);
    this.#counts.push(countOf(entry));
    for (const span of entry.spans) this.#addSpan(span);
    this.#spanStarts.push(this.spanCount);
  }

  #addPath(path: string): void {
    const start = this.#paths.size;
    this.#paths.text(path);
    this.#pathStarts.push(this.#paths.size);
    const size = this.#paths.size - start;
    if (size > maxPathSize) refuse(`path longer than ${maxPathSize} bytes: ${path.slice(0, 80)}`);
    const bytes = this.#paths.written;
    let part = start;
    for (let at = start; at <= bytes.length; at++) {
      if (at < bytes.length && bytes[at] !== slash) continue;
      if (at === part) refuse(`path with an empty part: ${JSON.stringify(path)}`);
      if (at - part > maxNameSize) refuse(`part of a path longer than ${maxNameSize} bytes: ${path.slice(0, 80)}`);
      part = at + 1;
    }
  }

  #addSpan(span: TvfsSpan): void {
    const { flags, ekeySize, patchKeySize } = this.#shape;
    this.#places.u32(span.offset).u32(span.size);
    const writer = this.#containers.raw(fixed(span.ekey, ekeySize, 'ekey')).u32(span.encodedSize);
    if ((flags & TvfsFlags.especs) !== 0)
      writer.u32(span.espec === undefined ? 0 : this.#especs.numberOf(span.espec) + 1);
    writer.u32(span.contentSize);
    if ((flags & TvfsFlags.ckeys) !== 0) writer.raw(fixed(span.ckey, ckeySize, 'ckey'));
    if ((flags & TvfsFlags.patches) !== 0) {
      const patches = span.patches ?? [];
      if (patches.length > 255) refuse('more than 255 patches of one entry');
      writer.u8(patches.length);
      for (const patch of patches) {
        writer.raw(fixed(patch.sourceEkey, ekeySize, 'source ekey')).u32(patch.sourceSize);
        writer.raw(fixed(patch.patchKey, patchKeySize, 'patch key')).u32(patch.patchSize);
        writer.u8(patch.order);
      }
    }
    this.#containerStarts.push(writer.size);
  }

  /** The entries in the order of their paths' bytes. @throws E_FORMAT_RANGE for a path that is there twice */
  inOrder(): Uint32Array {
    const bytes = this.#paths.written;
    const compare = (a: number, b: number): number => compareParts(bytes, this.#pathOf(a), bytes, this.#pathOf(b));
    const order = orderOf(this.#counts.length, compare);
    for (let i = 1; i < order.length; i++) {
      if (compare(order[i - 1]!, order[i]!) !== 0) continue;
      const { start, end } = this.#pathOf(order[i]!);
      refuse(`path twice: ${new TextDecoder().decode(bytes.subarray(start, end))}`);
    }
    return order;
  }

  #pathOf(entry: number): { start: number; end: number } {
    return { start: this.#pathStarts[entry]!, end: this.#pathStarts[entry + 1]! };
  }

  /** The paths of entries. */
  pathsIn(order: Uint32Array): Omit<PlacedPaths, 'vfsOffsets'> {
    const starts = order.map((entry) => this.#pathStarts[entry]!);
    const ends = order.map((entry) => this.#pathStarts[entry + 1]!);
    return { count: order.length, bytes: this.#paths.written, starts, ends };
  }

  /** The count byte of an entry. */
  countOf(entry: number): number {
    return this.#counts[entry]!;
  }

  /** The spans of an entry: [first, behind). */
  spansOf(entry: number): { first: number; behind: number } {
    return { first: this.#spanStarts[entry]!, behind: this.#spanStarts[entry + 1]! };
  }

  /** What the VFS table has of a span, but for its container. */
  placeOf(span: number): Uint8Array {
    return this.#places.written.subarray(span * placeSize, (span + 1) * placeSize);
  }

  /** The espec of a span; undefined where it has none, or the manifest has no especs. */
  especOf(span: number): string | undefined {
    const at = this.#containerStarts[span]! + this.#shape.ekeySize + 4;
    if ((this.#shape.flags & TvfsFlags.especs) === 0) return undefined;
    return this.#especs.values[u32At(this.#containers.written, at) - 1];
  }

  /** The ekey of a span, as long as a key of a table. */
  ekeyOf(span: number): Uint8Array {
    const start = this.#containerStarts[span]!;
    const key = new Uint8Array(lookedUp);
    key.set(this.#containers.written.subarray(start, start + Math.min(this.#shape.ekeySize, lookedUp)));
    return key;
  }

  /** The container entry of a span. @param especAt the offset of its espec, and the bytes that offsets have */
  containerEntry(span: number, especAt: { offset: number; width: number }): Uint8Array {
    const [start, end] = [this.#containerStarts[span]!, this.#containerStarts[span + 1]!];
    const bytes = this.#containers.written;
    if ((this.#shape.flags & TvfsFlags.especs) === 0) return bytes.subarray(start, end);
    const especStart = start + this.#shape.ekeySize + 4;
    const tail = bytes.subarray(especStart + especSize, end);
    const head = new ByteWriter(end - start).raw(bytes.subarray(start, especStart));
    return head.uint(especAt.offset, especAt.width).raw(tail).written;
  }
}

function countOf({ path, spans, kind = 'file', count }: TvfsFileContent): number {
  if (kind === 'file') {
    return spans.length > 0 && spans.length <= maxSpans ? spans.length : refuse(`${spans.length} spans: ${path}`);
  }
  if (spans.length > 0) refuse(`spans of an entry that is no file: ${path}`);
  if (kind === 'deleted') return deletedCount;
  if (count === 0 || (count !== undefined && count > maxSpans && count < deletedCount)) return count;
  return refuse(`count ${count} of an entry that is no file: ${path}`);
}

function fixed(bytes: Uint8Array | undefined, size: number, name: string): Uint8Array {
  if (bytes?.length === size) return bytes;
  return refuse(`${name} of ${bytes?.length ?? 'no'} bytes instead of ${size}`);
}

/** @throws E_FORMAT_RANGE */
export function refuse(problem: string): never {
  throw formatError('E_FORMAT_RANGE', tvfsWhat, problem);
}
