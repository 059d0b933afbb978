import { compareBytes, equalBytes, toHex } from '../../../core/bytes.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { type TvfsFile, TvfsFlags, type TvfsForm, type TvfsHeader, type TvfsSpan, type TvfsTable } from './layout.ts';
import { ckeySize, deletedCount, maxNameSize, maxPathSize, maxSpans, offsetWidth, refuse } from './limits.ts';
import { type PlacedPath, writeFolders, writePrefixes } from './path-tree.ts';

/** An entry to encode; `kind` and `count` are needed only for one that is no file. */
export type TvfsFileContent = Pick<TvfsFile, 'path' | 'spans'> & Partial<Pick<TvfsFile, 'kind' | 'count'>>;

/** A manifest to encode. */
export interface TvfsContent {
  /** In any order; no path twice, no empty parts. */
  entries: Iterable<TvfsFileContent>;
  /** The espec table. Especs of spans that are not in it are put behind. */
  especs?: readonly string[] | undefined;
  /** Sizes of keys in bytes, 9 by default; and {@link TvfsFlags}: what they leave out is not written. Default: ckeys, especs and patches. */
  header?: Partial<Pick<TvfsHeader, 'ekeySize' | 'patchKeySize' | 'flags'>> | undefined;
  /** Default `folders`. */
  form?: TvfsForm | undefined;
}

interface Options {
  flags: number;
  ekeySize: number;
  patchKeySize: number;
  form: TvfsForm;
  especs: EspecTable;
}

interface EspecTable {
  bytes: Uint8Array;
  offsets: Map<string, number>;
}

interface PathedFile {
  file: TvfsFileContent;
  bytes: Uint8Array;
}

const defaultFlags = TvfsFlags.ckeys | TvfsFlags.especs | TvfsFlags.patches;
const slash = 0x2f;
const pathEncoder = new TextEncoder();

function pathBytes(path: string): Uint8Array {
  const bytes = pathEncoder.encode(path);
  if (bytes.length > maxPathSize) refuse(`path longer than ${maxPathSize} bytes: ${path.slice(0, 80)}`);
  for (let start = 0; start <= bytes.length; ) {
    const separator = bytes.indexOf(slash, start);
    const end = separator < 0 ? bytes.length : separator;
    if (end === start) refuse(`path with an empty part: ${JSON.stringify(path)}`);
    if (end - start > maxNameSize) refuse(`part of a path longer than ${maxNameSize} bytes: ${path.slice(0, 80)}`);
    start = end + 1;
  }
  return bytes;
}

function sortFiles(files: Iterable<TvfsFileContent>): PathedFile[] {
  const sorted = Array.from(files, (file) => ({ file, bytes: pathBytes(file.path) }));
  sorted.sort((a, b) => compareBytes(a.bytes, b.bytes));
  let before: Uint8Array | undefined;
  for (const { file, bytes } of sorted) {
    if (before !== undefined && equalBytes(bytes, before)) refuse(`path twice: ${file.path}`);
    before = bytes;
  }
  return sorted;
}

function writeEspecs(content: TvfsContent, files: readonly PathedFile[], flags: number): EspecTable {
  const offsets = new Map<string, number>();
  const writer = new ByteWriter();
  const add = (espec: string): void => {
    if (espec === '' || espec.includes('\0')) refuse(`no espec: ${JSON.stringify(espec)}`);
    offsets.set(espec, writer.size);
    writer.cstring(espec);
  };
  if ((flags & TvfsFlags.especs) !== 0) {
    for (const espec of content.especs ?? []) add(espec);
    for (const { file } of files) {
      for (const { espec } of file.spans) if (espec !== undefined && !offsets.has(espec)) add(espec);
    }
  }
  return { bytes: writer.bytes(), offsets };
}

function fixed(bytes: Uint8Array | undefined, size: number, name: string): Uint8Array {
  if (bytes?.length === size) return bytes;
  return refuse(`${name} of ${bytes?.length ?? 'no'} bytes instead of ${size}`);
}

function containerEntry(span: TvfsSpan, options: Options): Uint8Array {
  const { flags, ekeySize, patchKeySize, especs } = options;
  const writer = new ByteWriter(64).raw(fixed(span.ekey, ekeySize, 'ekey')).u32(span.encodedSize);
  if ((flags & TvfsFlags.especs) !== 0) {
    // Without an espec of its own an entry points to the first.
    const offset = span.espec === undefined ? 0 : (especs.offsets.get(span.espec) ?? 0);
    writer.uint(offset, offsetWidth(especs.bytes.length));
  }
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
  return writer.bytes();
}

interface Container {
  bytes: Uint8Array;
  /** In the table. */
  offset: number;
}

/** The container table, and the entry of each span. */
interface ContainerTable {
  bytes: Uint8Array;
  entryOf: ReadonlyMap<TvfsSpan, Container>;
}

/** Spans that share an encoded object share its entry. */
function writeContainers(files: readonly PathedFile[], options: Options): ContainerTable {
  const containers: Container[] = [];
  const entryOf = new Map<TvfsSpan, Container>();
  const known = new Map<string, Container>();
  for (const span of files.flatMap(({ file }) => file.spans)) {
    const bytes = containerEntry(span, options);
    const key = toHex(span.ekey);
    let container = known.get(key);
    if (container === undefined || !equalBytes(container.bytes, bytes)) {
      container = { bytes, offset: 0 };
      containers.push(container);
      known.set(key, container);
    }
    entryOf.set(span, container);
  }
  if (options.form === 'prefixes') containers.sort((a, b) => compareBytes(a.bytes, b.bytes));
  const writer = new ByteWriter(64 * 1024);
  for (const container of containers) {
    container.offset = writer.size;
    writer.raw(container.bytes);
  }
  return { bytes: writer.bytes(), entryOf };
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

function writeVfs(files: readonly PathedFile[], containers: ContainerTable) {
  const width = offsetWidth(containers.bytes.length);
  const writer = new ByteWriter(64 * 1024);
  const paths: PlacedPath[] = [];
  for (const { file, bytes } of files) {
    paths.push({ path: file.path, bytes, vfsOffset: writer.size });
    writer.u8(countOf(file));
    for (const span of file.spans) {
      const container = containers.entryOf.get(span) ?? refuse(`span without a container: ${file.path}`);
      writer.u32(span.offset).u32(span.size).uint(container.offset, width);
    }
  }
  return { bytes: writer.bytes(), paths };
}

/** Bytes of a header that says where the espec table lies, as nearly all do. */
export const tvfsHeaderSize = 46;

/** Writes a header. Without the flag `especs` it does not say where their table lies. */
export function encodeTvfsHeader(header: Omit<TvfsHeader, 'version' | 'headerSize'>): Uint8Array {
  const { ekeySize, patchKeySize, flags, pathTable, vfsTable, containerTable, especTable, maxDepth } = header;
  const hasEspecs = (flags & TvfsFlags.especs) !== 0;
  const writer = new ByteWriter(tvfsHeaderSize).text('TVFS').u8(1);
  writer
    .u8(hasEspecs ? tvfsHeaderSize : tvfsHeaderSize - 8)
    .u8(ekeySize)
    .u8(patchKeySize)
    .u32(flags);
  for (const { offset, size } of [pathTable, vfsTable, containerTable]) writer.u32(offset).u32(size);
  writer.u16(maxDepth);
  if (hasEspecs) writer.u32(especTable?.offset ?? 0).u32(especTable?.size ?? 0);
  return writer.written;
}

/**
 * Writes a TVFS manifest, the mirror of `decodeTvfs`: of one of the two forms byte for byte. Where another writer put its tables, what it
 * left between them, and names that are no UTF-8, are not in the decoded value.
 * @throws E_FORMAT_RANGE for paths that are empty, doubled or too long, for keys of a wrong size, for more than 224 spans
 */
export function encodeTvfs(content: TvfsContent): Uint8Array {
  const { ekeySize = 9, patchKeySize = 9, flags = defaultFlags } = content.header ?? {};
  const { form = 'folders' } = content;
  const files = sortFiles(content.entries);
  const especs = writeEspecs(content, files, flags);
  const containers = writeContainers(files, { flags, ekeySize, patchKeySize, form, especs });
  const vfs = writeVfs(files, containers);
  const paths = form === 'folders' ? writeFolders(vfs.paths) : writePrefixes(vfs.paths);
  const [first, second] = form === 'folders' ? [containers, especs] : [especs, containers];
  const place = ({ bytes }: { bytes: Uint8Array }, offset: number): TvfsTable => ({ offset, size: bytes.length });
  const pathTable = place(paths, (flags & TvfsFlags.especs) !== 0 ? tvfsHeaderSize : tvfsHeaderSize - 8);
  const firstAt = pathTable.offset + pathTable.size;
  const vfsTable = place(vfs, firstAt + first.bytes.length + second.bytes.length);
  const [containersAt, especsAt] =
    form === 'folders' ? [firstAt, firstAt + first.bytes.length] : [firstAt + first.bytes.length, firstAt];
  const [containerTable, especTable] = [place(containers, containersAt), place(especs, especsAt)];
  const { maxDepth } = paths;
  const header = { ekeySize, patchKeySize, flags, pathTable, vfsTable, containerTable, maxDepth, especTable };
  const writer = new ByteWriter(vfsTable.offset + vfsTable.size).raw(encodeTvfsHeader(header));
  for (const table of [paths, first, second, vfs]) writer.raw(table.bytes);
  // It was made as large as it is.
  return writer.written;
}
