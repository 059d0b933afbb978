import { compareBytes } from '../../../core/bytes.ts';
import { firstNot } from '../../../core/tables/first-not.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { folderBit } from './limits.ts';

const slash = 0x2f;
const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];

/** Paths to write, sorted as bytes, with the offsets of their files in the VFS table. */
export interface PlacedPaths {
  readonly count: number;
  /** All of them in any order, and where each begins and ends. */
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly vfsOffsets: Uint32Array;
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

function growTree({ count, bytes, starts, ends, vfsOffsets }: PlacedPaths): Folder {
  const root = emptyFolder();
  for (let i = 0; i < count; i++) {
    const parts = decoder.decode(bytes.subarray(starts[i], ends[i])).split('/');
    const name = parts.pop() ?? '';
    let folder = root;
    for (const part of parts) {
      const next = folder.folders.get(part) ?? emptyFolder();
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.set(name, vfsOffsets[i]!);
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
export function writeFolders(paths: PlacedPaths): PathTable {
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

/** Cuts sorted paths at every prefix that some of them share. */
class PrefixWriter {
  readonly #paths: PlacedPaths;
  readonly #writer: ByteWriter;

  constructor(paths: PlacedPaths, writer: ByteWriter) {
    this.#paths = paths;
    this.#writer = writer;
  }

  /** Writes the paths [first, behind), which agree up to `at`, in runs of the same byte there. @returns the greatest depth */
  write(first: number, behind: number, { at, depth }: { at: number; depth: number }): number {
    const { bytes, starts, vfsOffsets } = this.#paths;
    const writer = this.#writer;
    let maxDepth = depth;
    for (let run = first; run < behind; ) {
      const from = run;
      const byte = this.#byteAt(from, at);
      // A path that ends there is a run of its own, the first.
      const end = firstNot(from + 1, behind, (path) => this.#byteAt(path, at) === byte);
      const parting = this.#partingOf(from, end - 1, at);
      writePiece(writer, bytes.subarray(starts[from]! + at, starts[from]! + parting));
      writer.u8(0xff);
      if (end - from === 1) writer.u32(vfsOffsets[from]!);
      else {
        const inner = { at: parting, depth: depth + 1 };
        maxDepth = Math.max(
          maxDepth,
          writeFolder(writer, () => this.write(from, end, inner)),
        );
      }
      run = end;
    }
    return maxDepth;
  }

  /** A byte of a path; −1 at its end. */
  #byteAt(path: number, at: number): number {
    const place = this.#paths.starts[path]! + at;
    return place < this.#paths.ends[path]! ? this.#paths.bytes[place]! : -1;
  }

  /** How many bytes two paths have in common, which agree up to `at`: all of them for one path. */
  #partingOf(a: number, b: number, at: number): number {
    const size = this.#paths.ends[a]! - this.#paths.starts[a]!;
    let end = a === b ? size : at;
    while (end < size && this.#byteAt(a, end) === this.#byteAt(b, end)) end++;
    return end;
  }
}

/** A path table that is cut at every shared prefix, as official manifests are. */
export function writePrefixes(paths: PlacedPaths): PathTable {
  return pathTable((writer) => new PrefixWriter(paths, writer).write(0, paths.count, { at: 0, depth: 1 }));
}
