import { compareBytes, writeU32 } from '../../../core/bytes.ts';
import { giveBack, largeBytes } from '../../../core/tables/large-bytes.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { folderBit, maxPathSize, refuse } from './limits.ts';

const slash = 0x2f;
const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];

/** A path to write, with the offset of its file in the VFS table. */
export interface PlacedPath {
  path: string;
  bytes: Uint8Array;
  vfsOffset: number;
}

/** A finished path table and the greatest depth of its folders. */
export interface PathTable {
  bytes: Uint8Array;
  maxDepth: number;
}

/** Writes the node value of a folder, which counts its own four bytes, and its entries. @returns what writing the entries does */
function writeFolder(writer: ByteWriter, writeEntries: () => number): number {
  const at = writer.size;
  writer.u32(0);
  const maxDepth = writeEntries();
  writer.setU32(at, folderBit + writer.size - at);
  return maxDepth;
}

/** A table with its outermost, nameless folder. @param writeEntries gives the greatest depth */
function pathTable(writeEntries: (writer: ByteWriter) => number): PathTable {
  const writer = new ByteWriter().u8(0xff);
  const maxDepth = writeFolder(writer, () => writeEntries(writer));
  return { bytes: writer.written, maxDepth };
}

interface Folder {
  files: Map<string, number>;
  folders: Map<string, Folder>;
}

function emptyFolder(): Folder {
  return { files: new Map(), folders: new Map() };
}

function growTree(paths: readonly PlacedPath[]): Folder {
  const root = emptyFolder();
  for (const { path, vfsOffset } of paths) {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    let folder = root;
    for (const part of parts) {
      const next = folder.folders.get(part) ?? emptyFolder();
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.set(name, vfsOffset);
  }
  return root;
}

function writeTree(writer: ByteWriter, folder: Folder, depth: number): number {
  let maxDepth = depth;
  const names = [...folder.files, ...folder.folders].map(([name, node]) => ({ bytes: encoder.encode(name), node }));
  for (const { bytes, node } of names.sort((a, b) => compareBytes(a.bytes, b.bytes))) {
    writer.u8(bytes.length).raw(bytes);
    if (typeof node === 'number') {
      writer.u8(0xff).u32(node);
      continue;
    }
    writer.u8(0).u8(0xff);
    maxDepth = Math.max(
      maxDepth,
      writeFolder(writer, () => writeTree(writer, node, depth + 1)),
    );
  }
  return maxDepth;
}

/** A path table in which every folder of the paths is a folder of the table. */
export function writeFolders(paths: readonly PlacedPath[]): PathTable {
  return pathTable((writer) => writeTree(writer, growTree(paths), 1));
}

/** A piece of a path. Separators at its ends become marks; a name behind a name implies the one between them. */
function writePiece(writer: ByteWriter, piece: Uint8Array): void {
  let start = 0;
  if (piece[0] === slash) {
    writer.u8(0);
    start = 1;
  }
  while (start < piece.length) {
    const separator = piece.indexOf(slash, start);
    const end = separator < 0 ? piece.length : separator;
    writer.u8(end - start).raw(piece.subarray(start, end));
    if (end === piece.length - 1) writer.u8(0);
    start = end + 1;
  }
}

/** A node, which begins with a piece of a path. Its value comes behind. */
function nodeOf(piece: Uint8Array): ByteWriter {
  const writer = new ByteWriter(piece.length + 16);
  writePiece(writer, piece);
  return writer.u8(0xff);
}

/** What a table is written to. */
export interface TableSink {
  /** Bytes that were appended. */
  readonly size: number;
  append(bytes: Uint8Array): void;
  /** Writes over bytes that were appended. */
  write(bytes: Uint8Array, offset: number): void;
}

/** A folder that is written to, and how much its paths have in common. */
interface OpenFolder {
  at: number;
  shared: number;
}

/**
 * Writes a path table that is cut at every prefix which some paths share, as official manifests are. Paths come in the order of their bytes, and twice: all of
 * them are looked at before the first is added, for a folder begins where nobody can know yet whose it is. Of each only two bytes are kept.
 */
export class PrefixTable {
  readonly #sink: TableSink;
  /** How much each path has in common with the one before it. */
  readonly #shared: Uint16Array;
  readonly #open: OpenFolder[] = [];
  #looked = 0;
  #added = 0;
  #last: Uint8Array = new Uint8Array(maxPathSize);
  #lastSize = 0;
  #maxDepth = 0;

  /** Begins the table, behind what the sink has. @param count number of paths */
  constructor(sink: TableSink, count: number) {
    this.#sink = sink;
    this.#shared = new Uint16Array(largeBytes(2 * count).buffer, 0, count);
    // The outermost folder has no name.
    this.#begin(nodeOf(new Uint8Array(0)), 0);
  }

  /** Looks at the next path. @throws E_FORMAT_RANGE for the one before it again, and for one that is too long */
  look(path: Uint8Array): void {
    if (path.length > this.#last.length) refuse(`path longer than ${maxPathSize} bytes`);
    const most = Math.min(path.length, this.#lastSize);
    let shared = 0;
    while (shared < most && path[shared] === this.#last[shared]) shared++;
    if (shared === path.length && shared === this.#lastSize && this.#looked > 0)
      refuse(`path twice: ${decoder.decode(path)}`);
    this.#shared[this.#looked++] = shared;
    this.#last.set(path);
    this.#lastSize = path.length;
  }

  /** Adds the next path, once all were looked at. */
  add(path: Uint8Array, vfsOffset: number): void {
    const number = this.#added++;
    while (this.#open.at(-1)!.shared > this.#shared[number]!) this.#end();
    let at = this.#open.at(-1)!.shared;
    for (const shared of this.#foldersFrom(number, at)) {
      this.#begin(nodeOf(path.subarray(at, shared)), shared);
      at = shared;
    }
    this.#sink.append(nodeOf(path.subarray(at)).u32(vfsOffset).written);
  }

  /** Ends all folders. @returns the greatest depth of one */
  finish(): number {
    while (this.#open.length > 0) this.#end();
    giveBack(this.#shared);
    return this.#maxDepth;
  }

  /** What the paths have in common of each folder that begins with a path, the outermost first. @param least what those of the folder around them have */
  #foldersFrom(number: number, least: number): number[] {
    const found: number[] = [];
    let shared = Number.POSITIVE_INFINITY;
    for (let next = number + 1; next < this.#shared.length && this.#shared[next]! > least; next++) {
      if (this.#shared[next]! >= shared) continue;
      shared = this.#shared[next]!;
      found.push(shared);
    }
    return found.reverse();
  }

  /** Begins a folder: its value is known at its end. */
  #begin(node: ByteWriter, shared: number): void {
    const at = this.#sink.size + node.size;
    this.#sink.append(node.u32(0).written);
    this.#open.push({ at, shared });
    this.#maxDepth = Math.max(this.#maxDepth, this.#open.length);
  }

  #end(): void {
    const { at } = this.#open.pop()!;
    const value = new Uint8Array(4);
    writeU32(value, 0, folderBit + this.#sink.size - at);
    this.#sink.write(value, at);
  }
}

/** The same for paths in memory. @param paths sorted as bytes */
export function writePrefixes(paths: readonly PlacedPath[]): PathTable {
  const writer = new ByteWriter();
  const sink: TableSink = {
    get size() {
      return writer.size;
    },
    append: (piece) => void writer.raw(piece),
    write: (piece, offset) => writer.written.set(piece, offset),
  };
  const table = new PrefixTable(sink, paths.length);
  for (const { bytes } of paths) table.look(bytes);
  for (const { bytes, vfsOffset } of paths) table.add(bytes, vfsOffset);
  return { maxDepth: table.finish(), bytes: writer.written };
}
