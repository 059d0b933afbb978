import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';
import { folderBit, maxNameSize, maxPathSize, tvfsWhat } from './limits.ts';
import type { TableWindow } from './table-window.ts';

const slash = 0x2f;
/** Bytes of an entry at most: two separators, a name with its size, a node with its mark. */
export const pathReach = 2 + 1 + maxNameSize + 1 + 4;
/** Folders within folders; real manifests have less than ten, and every level costs memory here. */
const maxDepth = 1024;
const pathDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The path of the entry at hand: bytes that grow by names and shrink at the end of a folder. */
class PathBuffer {
  readonly #bytes = new Uint8Array(maxPathSize);
  size = 0;

  append(name: Uint8Array): void {
    if (this.size + name.length > maxPathSize) {
      throw formatError('E_FORMAT_RANGE', tvfsWhat, `path longer than ${maxPathSize} bytes`);
    }
    this.#bytes.set(name, this.size);
    this.size += name.length;
  }

  /** Separators only separate: none at the start, never two in a row. */
  separate(): void {
    if (this.size > 0 && this.#bytes[this.size - 1] !== slash) this.append(Uint8Array.of(slash));
  }

  /** Size without a separator at the end. */
  get #trimmed(): number {
    return this.endsInside ? this.size : this.size - 1;
  }

  /** Whether the path ends inside of a name, not at a separator. */
  get endsInside(): boolean {
    return this.#bytes[this.size - 1] !== slash;
  }

  get isEmpty(): boolean {
    return this.#trimmed <= 0;
  }

  text(): string {
    return pathDecoder.decode(this.#bytes.subarray(0, this.#trimmed));
  }
}

/** A file node: `path()` spells it out, and is good only until the next node is asked for. */
export interface PathNode {
  vfsOffset: number;
  /** Whether so far a folder of the table was none of the paths: cut inside of a name, or several names long. */
  isCut: boolean;
  path(): string;
}

/** Takes one entry up to its node; gives the node value, or undefined for a mere prefix. */
function readEntry(reader: ByteReader, path: PathBuffer): number | undefined {
  const { bytes } = reader;
  if (bytes[reader.pos] === 0) {
    reader.skip(1);
    path.separate();
  }
  if (reader.remaining > 0 && bytes[reader.pos] !== 0xff) path.append(reader.take(reader.u8()));
  if (bytes[reader.pos] === 0) {
    reader.skip(1);
    path.separate();
  }
  if (bytes[reader.pos] !== 0xff) {
    path.separate();
    return undefined;
  }
  reader.skip(1);
  return reader.u32();
}

/**
 * The file nodes of a path table, in order. Memory is one path and a pair of numbers a level; the cursor only moves on,
 * so there are no loops.
 */
export function* pathNodes(table: TableWindow): Generator<PathNode> {
  const path = new PathBuffer();
  const node: PathNode = { vfsOffset: 0, isCut: false, path: () => path.text() };
  const folders: { end: number; pathSize: number }[] = [];
  let folder = { end: table.size, pathSize: 0 };
  let at = 0;
  let dangling = false;
  for (;;) {
    if (at >= folder.end) {
      checkFolderEnd(at, folder.end, dangling);
      const parent = folders.pop();
      if (parent === undefined) return;
      folder = parent;
      path.size = folder.pathSize;
      continue;
    }
    const reader = table.readerAt(at);
    const value = readEntry(reader, path);
    at = table.offsetOf(reader);
    dangling = value === undefined;
    if (dangling) node.isCut = true;
    if (value === undefined) continue;
    if (value >= folderBit) {
      if (path.size > 0 && path.endsInside) node.isCut = true;
      folders.push(folder);
      folder = { end: folderEnd(at - 4, value - folderBit, folder.end), pathSize: path.size };
      if (folders.length > maxDepth) throw formatError('E_FORMAT_RANGE', tvfsWhat, `over ${maxDepth} nested folders`);
      continue;
    }
    if (path.isEmpty) throw formatError('E_FORMAT', tvfsWhat, 'file without a name in the path table');
    node.vfsOffset = value;
    yield node;
    path.size = folder.pathSize;
  }
}

function checkFolderEnd(at: number, end: number, dangling: boolean): void {
  if (at === end && !dangling) return;
  const problem = dangling ? 'name without a node' : 'entry that runs over the end of its folder';
  throw formatError('E_FORMAT', tvfsWhat, `${problem}, in the path table`, { offset: end });
}

/** The end of a folder whose node value lies at `offset`; its size counts those four bytes. */
function folderEnd(offset: number, size: number, parentEnd: number): number {
  const end = offset + size;
  if (size >= 4 && end <= parentEnd) return end;
  throw formatError('E_FORMAT_RANGE', tvfsWhat, `folder of ${size} bytes does not fit into its parent`, { offset });
}
