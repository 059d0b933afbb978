/*
 * Finds in a GBX file what it mixes into the feedback of the pack that it is read from (see cipher-stream.ts).
 *
 * The game mixes whenever the body of a node starts: the main node where the header ends, every other one where it is
 * first referred to, as
 *
 *   node index   u32   the next number that no external has
 *   class id     u32   and behind it, the body
 *
 * The game knows these places because it can read every class. This scanner knows none: it takes every such pair of
 * the expected index and a known class for a node. That can be wrong in both directions, so each place has
 * alternatives, and the reader tries them against the checksum of the file (see gbx-entry.ts). Two chunks mix
 * something of their own:
 *
 *   0x0900F004   id · box: centre and half size, 3 f32 each   mixes f32(centre.x - half.x)
 *   0x090EB000   id (name) · node reference · f32             mixes the first 4 letters of the name, from version 6 on
 *
 * (Mania Tech Wiki for the nodes; the chunks as two readers and one reader have them. That nodes inside skippable
 * chunks mix nothing is told of version 18 only.)
 */
import { viewOf } from '../../../core/bytes.ts';
import { isPakratError } from '../../../core/errors.ts';
import { decodeGbxHeader, type GbxHeader, looksLikeGbx } from './gbx-header.ts';
import type { NodeClasses } from './node-classes.ts';

const magicSize = 6;
const pairSize = 8;
const skippableMark = 0x534b4950;
const noNode = 0xffffffff;
const endOfNode = [0x01, 0xde, 0xca, 0xfa] as const;
/** The chunks with a mix of their own, in the forms in which files have their ids. */
const boxChunks = new Set([0x0900f004, 0x0900d004]);
const nameChunks = new Set([0x090eb000, 0x0a02e000]);
const idsVersion = 3;
const idIsText = 0xc0000000;
const maxNameBytes = 256;
const maxInlineBytes = 0x1000;
const maxWaiting = 16;
/** No file has as many nodes; a hostile one must not fill the memory with them. */
const maxPlaces = 0x8000;

/** Bytes that may be mixed at a place; undefined for none. */
type FeedbackChoice = Uint8Array | undefined;

/** A place where something may be mixed: when all bytes in front of `offset` were read, and not the next one. */
export interface FeedbackPlace {
  offset: number;
  /** Likeliest first. */
  choices: readonly FeedbackChoice[];
}

interface ScannerOptions {
  classes: NodeClasses;
  packVersion: number;
  /** Size of the whole file. */
  size: number;
}

/** The four bytes that an id mixes. */
export function mixOfId(id: number): Uint8Array {
  return Uint8Array.of(id & 0xff, (id >>> 8) & 0xff, (id >>> 16) & 0xff, id >>> 24);
}

/** Follows a GBX file as it is decoded. The bytes stay with the caller, who shows all of them each time. */
export class GbxScanner {
  readonly #options: ScannerOptions;
  #state: 'header' | 'body' | 'quiet' = 'header';
  #headerNeeds = magicSize;
  #scanned = 0;
  #nextIndex = 1;
  #nodeCount = 0;
  #externals = new Set<number>();
  #skippableEnd = 0;
  /** Chunks with a mix of their own whose bytes are not all there yet. */
  #waiting: { isBox: boolean; offset: number }[] = [];

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  /** The places that came with the bytes decoded since the last call, in order. @param bytes the file from its start */
  next(bytes: Uint8Array): FeedbackPlace[] {
    const places: FeedbackPlace[] = [];
    if (this.#state === 'header') this.#readHeader(bytes, places);
    if (this.#state === 'body') {
      this.#scanBody(bytes, places);
      this.#waiting = this.#waiting.filter((chunk) => this.#readChunk(bytes, chunk, places));
    }
    return places.sort((a, b) => a.offset - b.offset);
  }

  #readHeader(bytes: Uint8Array, places: FeedbackPlace[]): void {
    if (bytes.length < this.#headerNeeds) return;
    const header = looksLikeGbx(bytes) ? headerIfWhole(bytes) : 'none';
    if (typeof header === 'number') {
      this.#headerNeeds = header;
      return;
    }
    // A compressed body is read from memory, where mixing has no effect.
    if (header === 'none' || header.format[0] !== 'B' || header.format[2] === 'C') {
      this.#state = 'quiet';
      return;
    }
    this.#state = 'body';
    this.#scanned = header.bodyOffset;
    this.#nodeCount = header.nodeCount;
    this.#externals = new Set(header.externals.map(({ nodeIndex }) => nodeIndex));
    const { classes } = this.#options;
    const classId = classes.wrap(header.classId);
    const ids = classes.mixesOf(classId);
    if (!classes.isKnown(classId)) ids.push(...classes.allMixes.filter((id) => !ids.includes(id)));
    places.push({ offset: header.bodyOffset, choices: ids.map(choiceOf) });
    this.#nextIndex = 0;
    this.#advanceIndex();
  }

  #scanBody(bytes: Uint8Array, places: FeedbackPlace[]): void {
    const view = viewOf(bytes);
    let at = this.#scanned;
    for (; at + pairSize <= bytes.length; at++) {
      const word = view.getUint32(at, true);
      if (word === this.#nextIndex && this.#isNode(view.getUint32(at + 4, true))) {
        places.push(this.#nodePlace(view.getUint32(at + 4, true), at + pairSize));
        this.#advanceIndex();
        at += pairSize - 1;
      } else if (word === skippableMark) {
        const end = at + pairSize + view.getUint32(at + 4, true);
        if (end <= this.#options.size) this.#skippableEnd = Math.max(this.#skippableEnd, end);
      } else if (boxChunks.has(word) || (nameChunks.has(word) && this.#options.packVersion >= 6)) {
        if (this.#waiting.length < maxWaiting) this.#waiting.push({ isBox: boxChunks.has(word), offset: at + 4 });
      }
    }
    this.#scanned = at;
  }

  #isNode(classId: number): boolean {
    return (classId & 0xfff) === 0 && this.#options.classes.isKnown(this.#options.classes.wrap(classId));
  }

  #nodePlace(classId: number, offset: number): FeedbackPlace {
    const { classes, packVersion } = this.#options;
    const choices = classes.mixesOf(classes.wrap(classId)).map(choiceOf);
    const isQuiet = packVersion >= 18 && offset <= this.#skippableEnd;
    if (!isQuiet) return { offset, choices };
    return { offset, choices: [undefined, ...choices.filter((choice) => choice !== undefined)] };
  }

  #advanceIndex(): void {
    do this.#nextIndex++;
    while (this.#externals.has(this.#nextIndex));
    // Past the last node nothing may be taken for one.
    if (this.#nextIndex > Math.min(this.#nodeCount, maxPlaces)) this.#nextIndex = Number.NaN;
  }

  /** True while the chunk has to be waited for. */
  #readChunk(bytes: Uint8Array, chunk: { isBox: boolean; offset: number }, places: FeedbackPlace[]): boolean {
    const cursor = new ChunkCursor(bytes, chunk.offset);
    const mix = chunk.isBox ? boxMix(cursor) : this.#nameMix(cursor);
    if (cursor.isShort) return true;
    if (mix !== undefined) places.push({ offset: cursor.pos, choices: [mix, undefined] });
    return false;
  }

  #nameMix(cursor: ChunkCursor): Uint8Array | undefined {
    const name = cursor.id();
    const index = cursor.u32();
    const isInline = index !== noNode && !this.#externals.has(index);
    if (isInline && !cursor.skipNode()) return undefined;
    cursor.u32();
    return name !== undefined && name.length >= 4 ? name.slice(0, 4) : undefined;
  }
}

function boxMix(cursor: ChunkCursor): Uint8Array | undefined {
  cursor.id();
  const [centerX, centerY, centerZ] = [cursor.f32(), cursor.f32(), cursor.f32()];
  const [halfX, halfY, halfZ] = [cursor.f32(), cursor.f32(), cursor.f32()];
  if (![centerX, centerY, centerZ, halfX, halfY, halfZ].every(Number.isFinite)) return undefined;
  const mix = new Uint8Array(4);
  new DataView(mix.buffer).setFloat32(0, centerX - halfX, true);
  return mix;
}

/** Reads bytes that may not be there yet: then it says so afterwards, and gives zeros. */
class ChunkCursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  pos: number;
  isShort = false;

  constructor(bytes: Uint8Array, pos: number) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.pos = pos;
  }

  u32(): number {
    return this.#step(4) ? this.#view.getUint32(this.pos - 4, true) : 0;
  }

  f32(): number {
    return this.#step(4) ? this.#view.getFloat32(this.pos - 4, true) : 0;
  }

  /** An id; its text when it stands here (and is no reference to an earlier one). */
  id(): Uint8Array | undefined {
    let value = this.u32();
    // The first id of a file is preceded by the version of ids.
    if (value === idsVersion) value = this.u32();
    if (value === noNode || (value & idIsText) === 0 || (value & ~idIsText) !== 0) return undefined;
    const size = this.u32();
    if (size > maxNameBytes) return undefined;
    return this.#step(size) ? this.#bytes.subarray(this.pos - size, this.pos) : undefined;
  }

  /** Goes behind the end mark of an inline node; false when there is none where one should be. */
  skipNode(): boolean {
    const limit = Math.min(this.pos + maxInlineBytes, this.#bytes.length - 3);
    for (let at = this.pos; at < limit; at++) {
      if (endOfNode.every((byte, i) => this.#bytes[at + i] === byte)) {
        this.pos = at + 4;
        return true;
      }
    }
    this.isShort = limit < this.pos + maxInlineBytes;
    return false;
  }

  #step(size: number): boolean {
    if (this.pos + size > this.#bytes.length) this.isShort = true;
    if (this.isShort) return false;
    this.pos += size;
    return true;
  }
}

function choiceOf(id: number | undefined): FeedbackChoice {
  return id === undefined ? undefined : mixOfId(id);
}

/** The header, or the least number of bytes that may hold it, or that none will. */
function headerIfWhole(bytes: Uint8Array): GbxHeader | number | 'none' {
  try {
    return decodeGbxHeader(bytes);
  } catch (error) {
    if (!isPakratError(error)) throw error;
    if (error.code !== 'E_FORMAT_TRUNCATED') return 'none';
    return typeof error.data.expected === 'number' ? error.data.expected : bytes.length + 1;
  }
}
