import { compareBytes } from '../../../core/bytes.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { folderBit } from './limits.ts';

const slash = 0x2f;
const encoder = new TextEncoder();

/** A path to write, as bytes, with the offset of its file in the VFS table. */
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

/** The table's outermost, nameless folder. */
function wrap(folder: PathTable): PathTable {
  const writer = new ByteWriter().u8(0xff);
  writeFolder(writer, folder);
  return { bytes: writer.bytes(), maxDepth: folder.maxDepth };
}

/** A folder's node value, which counts its own four bytes, and its entries. */
function writeFolder(writer: ByteWriter, folder: PathTable): void {
  writer.u32(folderBit + folder.bytes.length + 4).raw(folder.bytes);
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

function writeTree(folder: Folder, depth: number): PathTable {
  const writer = new ByteWriter();
  let maxDepth = depth;
  const names = [...folder.files, ...folder.folders].map(([name, node]) => ({ bytes: encoder.encode(name), node }));
  for (const { bytes, node } of names.sort((a, b) => compareBytes(a.bytes, b.bytes))) {
    writer.u8(bytes.length).raw(bytes);
    if (typeof node === 'number') {
      writer.u8(0xff).u32(node);
      continue;
    }
    const inner = writeTree(node, depth + 1);
    maxDepth = Math.max(maxDepth, inner.maxDepth);
    writeFolder(writer.u8(0).u8(0xff), inner);
  }
  return { bytes: writer.bytes(), maxDepth };
}

/** A path table in which every folder of the paths is a folder of the table. */
export function writeFolders(paths: readonly PlacedPath[]): PathTable {
  return wrap(writeTree(growTree(paths), 1));
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

/** The offset at which two paths part, which agree up to `at`. */
function partingOf(a: Uint8Array, b: Uint8Array, at: number): number {
  let end = at;
  while (end < a.length && a[end] === b[end]) end++;
  return end;
}

/** Sorted paths that agree up to `at`, in runs of the same byte there. A path that ends there is a run of its own, the first. */
function* runsOf(paths: readonly PlacedPath[], at: number): Generator<readonly PlacedPath[]> {
  let start = 0;
  for (const [i, { bytes }] of paths.entries()) {
    if (bytes[at] === paths[start]?.bytes[at]) continue;
    yield paths.slice(start, i);
    start = i;
  }
  if (start < paths.length) yield paths.slice(start);
}

function writeRuns(paths: readonly PlacedPath[], at: number, depth: number): PathTable {
  const writer = new ByteWriter();
  let maxDepth = depth;
  for (const run of runsOf(paths, at)) {
    const [first, last] = [run[0], run.at(-1)];
    if (first === undefined || last === undefined) continue;
    const end = first === last ? first.bytes.length : partingOf(first.bytes, last.bytes, at);
    writePiece(writer, first.bytes.subarray(at, end));
    writer.u8(0xff);
    if (first === last) {
      writer.u32(first.vfsOffset);
      continue;
    }
    const inner = writeRuns(run, end, depth + 1);
    maxDepth = Math.max(maxDepth, inner.maxDepth);
    writeFolder(writer, inner);
  }
  return { bytes: writer.bytes(), maxDepth };
}

/** A path table that is cut at every shared prefix, as official manifests are. Paths must be sorted as bytes. */
export function writePrefixes(paths: readonly PlacedPath[]): PathTable {
  return wrap(writeRuns(paths, 0, 1));
}
