import { compareBytes } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { ByteWriter } from '../../../core/writer.ts';
import type { MndxFile, MndxHeader } from './decode.ts';
import { lowerCase } from './level.ts';
import { decodeMar, type NameTrie, type TrieKey } from './trie.ts';

/*
 * Writes the plainest tries there are: a node a byte, one level, no links. The layouts are in level.ts and decode.ts.
 * Ranks and places of bits are written too: other readers take them as they are.
 */

const encoder = new TextEncoder();
const marInfoSize = 20;
const entrySize = 24;
const lastOfGroup = 0x80000000;
/** Text tail, children in the order of their bytes, one level: what the library says of such a trie. */
const config = 0x11001;

/** A root to write. */
export interface MndxContent {
  /** Default: both versions 2, builds 0. */
  header?: MndxHeader;
  /** Packages beside those of the files. */
  packages?: readonly string[];
  files: Iterable<MndxFile>;
}

/**
 * Writes a root: byte for byte as it was when this encoder wrote it. Of another writer's root the files are the same, but its tries have
 * more levels, which the library cuts in a way of its own.
 * @throws E_FORMAT_RANGE when a package has a name twice, upper and lower case being the same, or a name does not start with its package
 */
export function encodeMndx({ header = usualHeader, packages = [], files }: MndxContent): Uint8Array {
  const named = Array.from(files, (file) => ({ ...file, inner: nameInPackage(file) }));
  const mars = {
    packages: marOf([...packages, ...named.map((file) => file.package)]),
    names: marOf(named.map(({ inner }) => inner)),
    fullNames: marOf(named.map(({ name }) => name)),
  };
  const all = Object.values(mars);
  const { headerVersion, version, builds } = header;
  const headerSize = headerVersion === 2 ? 48 : 40;
  const marEnd = all.reduce((sum, mar) => sum + mar.length, headerSize + all.length * marInfoSize);
  const writer = new ByteWriter().text('MNDX').u32le(headerVersion).u32le(version);
  if (headerVersion === 2) for (const build of builds ?? [0, 0]) writer.u32le(build);
  writer.u32le(headerSize).u32le(all.length).u32le(marInfoSize);
  writer.u32le(marEnd).u32le(named.length).u32le(decodeMar(mars.names).count).u32le(entrySize);
  let offset = headerSize + all.length * marInfoSize;
  for (const [i, mar] of all.entries()) {
    writer.u32le(i).u64le(mar.length).u64le(offset);
    offset += mar.length;
  }
  for (const mar of all) writer.raw(mar);
  writeEntries(writer, named, mars);
  return writer.bytes();
}

const usualHeader: MndxHeader = { headerVersion: 2, version: 2 };

function nameInPackage({ package: owner, name }: MndxFile): string {
  const start = `${lowerCase(owner)}/`;
  const whole = lowerCase(name);
  if (whole.startsWith(start)) return whole.slice(start.length);
  throw formatError('E_FORMAT_RANGE', 'MNDX root', `${name} does not start with its package ${owner}`);
}

function marOf(names: readonly string[]): Uint8Array {
  return encodeMar({ keys: names.map((name) => ({ name: encoder.encode(name) })) });
}

function writeEntries(
  writer: ByteWriter,
  files: readonly (MndxFile & { inner: string })[],
  mars: { packages: Uint8Array; names: Uint8Array },
): void {
  const [packages, names] = [decodeMar(mars.packages), decodeMar(mars.names)];
  const entries = files
    .map((file) => ({ ...file, owner: idOf(packages, file.package), group: idOf(names, file.inner) }))
    .sort((a, b) => a.group - b.group || a.owner - b.owner);
  entries.forEach(({ owner, group, name, ckey, size }, i) => {
    const next = entries[i + 1];
    if (next?.group === group && next.owner === owner) {
      throw formatError('E_FORMAT_RANGE', 'MNDX root', `${name} is twice in its package`);
    }
    const flags = owner + (next?.group === group ? 0 : lastOfGroup);
    writer.u32le(flags).key(ckey).u32le(size);
  });
}

function idOf(trie: NameTrie, name: string): number {
  const id = trie.find(encoder.encode(name));
  if (id !== undefined) return id;
  throw formatError('E_FORMAT_RANGE', 'MNDX root', `no trie holds ${name}`);
}

/**
 * Writes a trie of names, in any order; one that comes twice counts once. Its ids are those that {@link decodeMar} finds. A trie of this
 * encoder comes out as it was; of the library's the names are the same.
 */
export function encodeMar({ keys }: { keys: Iterable<Pick<TrieKey, 'name'>> }): Uint8Array {
  const { louds, terminals, bases, level1Count } = buildTree(Array.from(keys, ({ name }) => name));
  const writer = new ByteWriter().text('MAR\0');
  writeBits(writer, louds, { zeros: true, ones: true });
  writeBits(writer, terminals, { zeros: false, ones: true });
  writeBits(writer, new Array<boolean>(bases.length).fill(false), { zeros: false, ones: false });
  writeArray(writer, Uint8Array.from(bases));
  // No extras (24 bytes), no tail (8) and no ends in it (40).
  writer.zeros(24 + 8 + 40);
  writeArray(writer, new ByteWriter().u32le(0xffffffff).u32le(0xffffffff).u32le(0x800000).bytes());
  return writer.u32le(level1Count).u32le(config).bytes();
}

interface Tree {
  louds: boolean[];
  terminals: boolean[];
  bases: number[];
  level1Count: number;
}

/** Nodes breadth-first: each stands for the sorted names [first, end) that share their first `depth` bytes. */
function buildTree(names: Uint8Array[]): Tree {
  const ordered = names.sort(compareBytes);
  const sorted = ordered.filter((name, i) => i === 0 || compareBytes(name, ordered[i - 1]!) !== 0);
  const tree: Tree = { louds: [true, false], terminals: [], bases: [0], level1Count: 0 };
  const queue = [{ first: 0, end: sorted.length, depth: 0 }];
  for (const { first, end, depth } of queue) {
    const ends = first < end && sorted[first]!.length === depth;
    tree.terminals.push(ends);
    for (let at = ends ? first + 1 : first; at < end; ) {
      const byte = sorted[at]![depth]!;
      const start = at;
      while (at < end && sorted[at]![depth] === byte) at++;
      tree.louds.push(true);
      tree.bases.push(byte);
      queue.push({ first: start, end: at, depth: depth + 1 });
      if (depth === 0) tree.level1Count++;
    }
    tree.louds.push(false);
  }
  tree.louds.push(false);
  tree.terminals.push(false);
  return tree;
}

function writeArray(writer: ByteWriter, bytes: Uint8Array): void {
  writer.u64le(bytes.length).raw(bytes);
  writer.zeros((8 - (bytes.length % 8)) % 8);
}

function writeBits(writer: ByteWriter, bits: readonly boolean[], index: { zeros: boolean; ones: boolean }): void {
  const bytes = new Uint8Array(Math.ceil(bits.length / 64) * 8);
  bits.forEach((bit, i) => {
    if (bit) bytes[i >>> 3]! |= 1 << (i & 7);
  });
  writeArray(writer, bytes);
  writer.u32le(bits.length).u32le(bits.filter(Boolean).length);
  writeArray(writer, ranksOf(bits));
  writeArray(writer, index.zeros ? placesOf(bits, false) : new Uint8Array(0));
  writeArray(writer, index.ones ? placesOf(bits, true) : new Uint8Array(0));
}

/** For each 512 bits: u32 ones before, then ones in the first 64, 128, … 448 of them, in 7, 8, 8, 9 and 9, 9, 9 bits. One more at the end. */
function ranksOf(bits: readonly boolean[]): Uint8Array {
  const writer = new ByteWriter();
  let ones = 0;
  for (let block = 0; block < bits.length; block += 512) {
    writer.u32le(ones);
    const before = ones;
    const inFirst: number[] = [];
    for (let i = block; i < block + 512; i++) {
      if (i > block && i % 64 === 0) inFirst.push(ones - before);
      if (bits[i] === true) ones++;
    }
    const [a, b, c, d, e, f, g] = inFirst as [number, number, number, number, number, number, number];
    writer.u32le((a | (b << 7) | (c << 15) | (d << 23)) >>> 0).u32le((e | (f << 9) | (g << 18)) >>> 0);
  }
  return writer.u32le(ones).zeros(8).bytes();
}

/** The place of each 512th bit of a value, and the number of bits. */
function placesOf(bits: readonly boolean[], value: boolean): Uint8Array {
  const writer = new ByteWriter();
  let count = 0;
  bits.forEach((bit, i) => {
    if (bit === value && count++ % 512 === 0) writer.u32le(i);
  });
  return writer.u32le(bits.length).bytes();
}
