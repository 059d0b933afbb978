/*
 * Finds in a GBX file what it mixes into the feedback of the pack that it is read from.
 *
 * The game mixes whenever the body of a node starts: the main node where the header ends, every other one where it is first
 * referred to, as
 *
 *   node index   u32   the next number that no external has
 *   class id     u32   and behind it, the body
 *
 * The game knows these places because it can read every class. This scanner knows none: it takes every such pair of the
 * expected index and a known class for a node. That can be wrong in both directions, so each find has alternatives, and
 * the reader tries them against the checksum of the file (see gbx-entry.ts). Two chunks mix something of their own:
 *
 *   0x0900F004   id · box centre and half size, 3 f32 each   mixes f32(centre.x - half.x)
 *   0x090EB000   id (name) · node reference · f32            mixes the first 4 letters of the name
 *
 * (Mania Tech Wiki for the nodes; the two chunks as two and one other readers have them.)
 */
import { isPakratError } from '../../core/errors.ts';
import { decodeGbxHeader, type GbxHeader, looksLikeGbx } from './gbx-header.ts';
import type { NodeClasses } from './node-classes.ts';

const skippableMark = 0x534b4950;
const nodeEnd = 0xfacade01;
const noNode = 0xffffffff;
const pairSize = 8;
const surfaceGeomClass = 0x0900f000;
const surfaceGeomChunk = 0x004;
const phyTuningClass = 0x090eb000;
const phyTuningChunk = 0x000;
const idVersion = 3;
const idHasTextMask = 0xc0000000;
const maxNameBytes = 256;

/** A place where something may be mixed: when all bytes in front of `offset` have been read. */
export interface FeedbackPlace {
  offset: number;
  /** What may be mixed, likeliest first; undefined for nothing. */
  choices: readonly (Uint8Array | undefined)[];
}

export interface ScannerOptions {
  classes: NodeClasses;
  /** Size of the whole file. */
  size: number;
  /** Whether nodes inside skippable chunks are thought to mix nothing. */
  quietSkippables: boolean;
}

/** The four bytes that an id mixes. */
export function mixOfId(id: number): Uint8Array {
  return Uint8Array.of(id & 0xff, (id >>> 8) & 0xff, (id >>> 16) & 0xff, id >>> 24);
}

/** Follows a GBX file as it is decoded. The bytes stay with the caller, who shows them all each time. */
export class GbxScanner {
  readonly #options: ScannerOptions;
  #state: 'header' | 'body' | 'quiet' = 'header';
  #scanned = 0;
  #nextIndex = 1;
  #nodeCount = 0;
  #externalIndices = new Set<number>();
  #skippableEnd = 0;
  #bodyOffset: number | undefined;
  #waiting: ChunkMix[] = [];

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  /** Where the body starts, once that is known. */
  get bodyOffset(): number | undefined {
    return this.#bodyOffset;
  }

  /** The places that the bytes decoded since the last call brought, in order. @param bytes the file from its start on */
  next(bytes: Uint8Array): FeedbackPlace[] {
    if (this.#state === 'header') this.#readHeader(bytes);
    if (this.#state !== 'body') return [];
    const places: FeedbackPlace[] = [];
    if (this.#scanned === this.#bodyOffset! - pairSize) this.#scanned = this.#bodyOffset!;
    this.#scanBody(bytes, places);
    return places.sort((a, b) => a.offset - b.offset);
  }
}
