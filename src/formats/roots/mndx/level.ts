// One trie of a MAR. The outer one spells names; where a label is longer than a byte, it points into the tail or into an inner trie.
// A MAR is a serialized marisa-trie whose 16-byte magic gave way to "MAR\0". Little-endian; arrays and bit vectors as in bit-vector.ts.
//
//   louds        bit vector   1 0, then for each node, breadth-first, a 1 per child and a 0
//   terminals    bit vector   nodes that end a name; none in inner tries
//   linkFlags    bit vector   nodes whose label is a link, not a byte
//   bases        array of u8  the byte, or the low byte of the link
//   extras       array of u32, u32 bits of a value, u32 mask, u64 count: the higher bits of the links
//   tail         array of u8  labels, each up to a NUL, or, in binary form, up to the byte that a bit of
//   tailEnds     bit vector   marks
//   inner trie   the same again, only if there are links and no tail
//   cache        array of 12-byte records: skipped, it only makes look-ups faster
//   level1Count  u32: skipped, the number of children of the root
//   config       u32: skipped, how it was built
//
// Inner tries hold labels backwards: a link names a node, and the label is read on the way up to the root.
// Known from the marisa-trie library, and checked on what it writes: one and several levels, text and binary tail.

import { viewOf } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';
import { type BitVector, readArray, readBitVector } from './bit-vector.ts';

const format = 'MAR';
const maxName = 1024;
/** Siblings differ in their first byte. */
const maxChildren = 256;
/** The library builds 3 levels unless told otherwise. */
const maxDepth = 16;

/** A name while it is spelt. */
export class NameBuffer {
  size: number;
  readonly #bytes = new Uint8Array(maxName);

  /** @param size bytes of the name that are kept elsewhere */
  constructor(size = 0) {
    this.size = size;
  }

  push(byte: number): void {
    if (this.size === maxName) throw formatError('E_FORMAT_RANGE', format, `a name is longer than ${maxName} bytes`);
    this.#bytes[this.size++] = byte;
  }

  /** A copy from byte `start`. */
  bytes(start = 0): Uint8Array {
    return this.#bytes.slice(start, this.size);
  }
}

/** One trie with the tries inside it. Nodes are numbers, 0 the root; a child's is greater than its parent's. */
export class Level {
  readonly terminals: BitVector;
  readonly nodeCount: number;
  readonly #parts: LevelParts;

  constructor(parts: LevelParts) {
    this.terminals = parts.terminals;
    this.nodeCount = parts.bases.length;
    this.#parts = parts;
  }

  parent(node: number): number {
    return this.#parts.shape.parents[node]!;
  }

  firstChild(node: number): number {
    return this.#parts.shape.firstChildren[node]!;
  }

  /** One past the last child. */
  childEnd(node: number): number {
    return this.#parts.shape.firstChildren[node + 1]!;
  }

  /** Appends the label of a node. @throws E_FORMAT… for a link to nowhere, or a label that makes the name too long */
  append(node: number, name: NameBuffer): void {
    const { linkFlags, bases, inner } = this.#parts;
    if (!linkFlags.has(node)) name.push(bases[node]!);
    else if (inner === undefined) for (const byte of this.#tailLabel(this.#link(node))) name.push(byte);
    else for (const above of inner.#climb(this.#link(node))) inner.append(above, name);
  }

  /** The offset in a name behind the label of a node that it has at `at`; -1 when it has another there. @throws as {@link append} */
  match(node: number, name: Uint8Array, at: number): number {
    const { linkFlags, bases, inner } = this.#parts;
    if (!linkFlags.has(node)) return name[at] === bases[node] ? at + 1 : -1;
    let next = at;
    if (inner === undefined) {
      for (const byte of this.#tailLabel(this.#link(node))) if (name[next++] !== byte) return -1;
      return next;
    }
    for (const above of inner.#climb(this.#link(node))) {
      next = inner.match(above, name, next);
      if (next < 0) return -1;
    }
    return next;
  }

  #link(node: number): number {
    const { linkFlags, bases, extra } = this.#parts;
    return bases[node]! + 0x100 * extra(linkFlags.rank(node));
  }

  #tailLabel(offset: number): Uint8Array {
    const { tail, tailEnds } = this.#parts;
    const binary = tailEnds.size > 0;
    const number = binary ? tailEnds.rank(offset) : 0;
    const marked = binary && number < tailEnds.ones ? tailEnds.select(number) + 1 : -1;
    const end = binary ? marked : tail.indexOf(0, offset);
    if (offset >= tail.length || end <= offset || end > tail.length) {
      throw formatError('E_FORMAT_RANGE', format, `no label at ${offset} of the ${tail.length} bytes of the tail`);
    }
    return tail.subarray(offset, end);
  }

  /** A node and those above it, without the root. */
  *#climb(node: number): Generator<number> {
    if (node === 0 || node >= this.nodeCount) {
      throw formatError('E_FORMAT_RANGE', format, `a link to node ${node} of ${this.nodeCount}`);
    }
    for (let at = node; at > 0; at = this.parent(at)) yield at;
  }
}

interface LevelParts {
  shape: Shape;
  terminals: BitVector;
  linkFlags: BitVector;
  bases: Uint8Array;
  extra: (index: number) => number;
  tail: Uint8Array;
  tailEnds: BitVector;
  inner: Level | undefined;
}

/** Reads a trie and those inside it. @throws E_FORMAT… when the parts do not belong together */
export function readLevel(reader: ByteReader, depth = 0): Level {
  const offset = reader.pos;
  if (depth === maxDepth)
    throw formatError('E_FORMAT_RANGE', format, `more than ${maxDepth} tries inside each other`, { offset });
  const louds = readBitVector(reader);
  const terminals = readBitVector(reader);
  const linkFlags = readBitVector(reader);
  const bases = readArray(reader, 1);
  const { count, extra } = readExtras(reader);
  const tail = readArray(reader, 1);
  const tailEnds = readBitVector(reader);
  if (linkFlags.size < bases.length || linkFlags.rank(bases.length) !== linkFlags.ones || count < linkFlags.ones) {
    throw formatError('E_FORMAT_RANGE', format, 'links do not belong to the nodes', { offset });
  }
  const shape = readShape(louds, bases.length, offset);
  const inner = linkFlags.ones > 0 && tail.length === 0 ? readLevel(reader, depth + 1) : undefined;
  readArray(reader, 12);
  reader.skip(8);
  return new Level({ shape, terminals, linkFlags, bases, extra, tail, tailEnds, inner });
}

interface Shape {
  parents: Uint32Array;
  /** The first child of each node; where there is none, that of the next node that has. One more at the end. */
  firstChildren: Uint32Array;
}

function readShape(louds: BitVector, nodeCount: number, offset: number): Shape {
  const parents = new Uint32Array(nodeCount);
  const firstChildren = new Uint32Array(nodeCount + 1);
  const wrong = () => formatError('E_FORMAT', format, `its bits are no tree of ${nodeCount} nodes`, { offset });
  if (louds.ones !== nodeCount || nodeCount === 0 || !louds.has(0) || louds.has(1)) throw wrong();
  let at = 2;
  let next = 1;
  for (let node = 0; node < nodeCount; node++) {
    // A node that no parent has named yet would be its own ancestor.
    if (node >= next) throw wrong();
    firstChildren[node] = next;
    for (; louds.has(at); at++) {
      if (next === nodeCount) throw wrong();
      parents[next++] = node;
    }
    if (next - firstChildren[node]! > maxChildren || at >= louds.size) throw wrong();
    at++;
  }
  firstChildren[nodeCount] = next;
  return { parents, firstChildren };
}

function readExtras(reader: ByteReader): { count: number; extra: (index: number) => number } {
  const units = readArray(reader, 4);
  const offset = reader.pos;
  const bits = reader.u32le();
  reader.skip(4);
  const count = reader.u64le();
  if (bits > 32 || count * bits > units.length * 8) {
    throw formatError('E_FORMAT_RANGE', format, `${count} values of ${bits} bits in ${units.length} bytes`, { offset });
  }
  const view = viewOf(units);
  const extra = (index: number): number => {
    let value = 0;
    for (let bit = 0; bit < bits; ) {
      const at = index * bits + bit;
      const taken = Math.min(bits - bit, 32 - (at % 32));
      const unit = view.getUint32(Math.floor(at / 32) * 4, true) >>> (at % 32);
      value += (taken === 32 ? unit : unit & ((1 << taken) - 1)) * 2 ** bit;
      bit += taken;
    }
    return value;
  };
  return { count, extra };
}

/** A name in lower case, as tries and look-ups compare it: ASCII alone. */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
