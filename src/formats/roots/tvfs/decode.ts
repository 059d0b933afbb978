import { formatError } from '../../../core/errors.ts';
import { ByteReader, repeatable } from '../../../core/reader.ts';
import {
  type TvfsFile,
  TvfsFlags,
  type TvfsForm,
  type TvfsHeader,
  type TvfsPatch,
  type TvfsSpan,
  type TvfsTable,
} from './layout.ts';
import { ckeySize, deletedCount, maxSpans, offsetWidth, tvfsWhat } from './limits.ts';
import { type PathNode, pathNodes, pathReach } from './paths.ts';
import { TableWindow, type TvfsSource, tvfsBytes } from './table-window.ts';

/** A decoded manifest. The tables stay bytes; entries are made while iterating, which does not fail any more but where its bytes cannot be read. */
export interface Tvfs {
  header: TvfsHeader;
  form: TvfsForm;
  /** The strings of the espec table, in order. */
  especs: string[];
  /** Entries with content. */
  fileCount: number;
  /** Entries that {@link files} leaves out: deleted ones and such of unknown meaning. */
  skippedCount: number;
  /** The files, in the order of the path table; one object at a time. */
  files: Iterable<TvfsFile>;
  /** As {@link files}, with the entries that it leaves out. */
  entries: Iterable<TvfsFile>;
}

interface Tables {
  header: TvfsHeader;
  /** Lies in the order of the paths; so do, mostly, the entries of the VFS table. */
  path: TableWindow;
  vfs: TableWindow;
  /** Looked up in any order: all of it is in memory. */
  container: ByteReader;
  espec: Uint8Array;
  especAt(offset: number): string | undefined;
}

/** Bytes of the longest header. */
const maxHeaderSize = 46;
/** Bytes of a VFS entry at most: of each span offset, size and the place of its container entry. */
const vfsReach = 1 + maxSpans * 12;

/** Reads the header of a manifest alone. @throws E_FORMAT… */
export function decodeTvfsHeader(source: TvfsSource): TvfsHeader {
  const reader = new ByteReader(source.read(0, Math.min(maxHeaderSize, source.size)), tvfsWhat);
  const readTable = (name: string): TvfsTable => {
    const at = reader.pos;
    const table = { offset: reader.u32(), size: reader.u32() };
    if (table.offset + table.size <= source.size) return table;
    const problem = `${name} table is outside the ${source.size} bytes`;
    throw formatError('E_FORMAT_TRUNCATED', tvfsWhat, problem, { offset: at });
  };
  reader.magic('TVFS');
  const version = reader.version('u8', 1);
  const fixed = { version, headerSize: reader.u8(), ekeySize: reader.u8(), patchKeySize: reader.u8() };
  const flags = reader.u32();
  const pathTable = readTable('path');
  const vfsTable = readTable('VFS');
  const containerTable = readTable('container');
  const header: TvfsHeader = { ...fixed, flags, pathTable, vfsTable, containerTable, maxDepth: reader.u16() };
  if ((flags & TvfsFlags.especs) !== 0) header.especTable = readTable('espec');
  checkSize('header size', fixed.headerSize, reader.pos, 255);
  checkSize('ekey size', fixed.ekeySize, 1, 16);
  checkSize('patch key size', fixed.patchKeySize, 0, 16);
  return header;
}

function checkSize(name: string, size: number, min: number, max: number): void {
  if (size >= min && size <= max) return;
  throw formatError('E_FORMAT_RANGE', tvfsWhat, name, { expected: `${min} to ${max}`, found: size });
}

const especDecoder = new TextDecoder();

/** The string at an offset of the espec table; an empty table has none. */
function especReader(table: Uint8Array): (offset: number) => string | undefined {
  const known = new Map<number, string>();
  return (offset) => {
    if (table.length === 0) return undefined;
    let espec = known.get(offset);
    if (espec === undefined) {
      const end = table.indexOf(0, offset);
      espec = especDecoder.decode(table.subarray(offset, end < 0 ? table.length : end));
      known.set(offset, espec);
    }
    return espec;
  };
}

function readEspecs(table: Uint8Array): string[] {
  const especs = especDecoder.decode(table).split('\0');
  // The last string has its NUL too, so a split leaves nothing behind it.
  if (especs.at(-1) === '') especs.pop();
  if (especs.includes('')) throw formatError('E_FORMAT', tvfsWhat, 'empty string in the espec table');
  return especs;
}

function readPatches(reader: ByteReader, header: TvfsHeader): TvfsPatch[] | undefined {
  const count = reader.count(reader.u8(), header.ekeySize + header.patchKeySize + 9);
  if (count === 0) return undefined;
  return Array.from({ length: count }, () => ({
    sourceEkey: reader.take(header.ekeySize),
    sourceSize: reader.u32(),
    patchKey: reader.take(header.patchKeySize),
    patchSize: reader.u32(),
    order: reader.u8(),
  }));
}

function readSpan(reader: ByteReader, tables: Tables): TvfsSpan {
  const { header, container } = tables;
  const offset = reader.u32();
  const size = reader.u32();
  container.seek(reader.uint(offsetWidth(container.bytes.length)));
  const ekey = container.take(header.ekeySize);
  const encodedSize = container.u32();
  const espec =
    (header.flags & TvfsFlags.especs) === 0
      ? undefined
      : tables.especAt(container.uint(offsetWidth(tables.espec.length)));
  const span: TvfsSpan = { offset, size, ekey, encodedSize, contentSize: container.u32() };
  if (espec !== undefined) span.espec = espec;
  if ((header.flags & TvfsFlags.ckeys) !== 0) span.ckey = container.take(ckeySize);
  const patches = (header.flags & TvfsFlags.patches) === 0 ? undefined : readPatches(container, header);
  if (patches !== undefined) span.patches = patches;
  return span;
}

function kindOf(count: number): TvfsFile['kind'] {
  if (count === deletedCount) return 'deleted';
  return count === 0 || count > maxSpans ? 'other' : 'file';
}

function readFile(node: PathNode, tables: Tables): TvfsFile {
  const reader = tables.vfs.readerAt(node.vfsOffset);
  const count = reader.u8();
  const kind = kindOf(count);
  const spans: TvfsSpan[] = [];
  if (kind === 'file') for (let i = 0; i < count; i++) spans.push(readSpan(reader, tables));
  return { path: node.path(), kind, count, spans };
}

/** Smallest size of a container entry of these flags; with patches, the entry says how much more it is. */
function containerSize({ header, espec }: Tables): number {
  const has = (flag: number): boolean => (header.flags & flag) !== 0;
  const especWidth = has(TvfsFlags.especs) ? offsetWidth(espec.length) : 0;
  return header.ekeySize + 8 + especWidth + (has(TvfsFlags.ckeys) ? ckeySize : 0) + (has(TvfsFlags.patches) ? 1 : 0);
}

/** Checks a span without making anything of it. */
function checkSpan(reader: ByteReader, tables: Tables, entrySize: number): void {
  const { header, container, espec } = tables;
  reader.skip(8);
  const start = reader.uint(offsetWidth(container.bytes.length));
  container.seek(start);
  container.skip(entrySize);
  if ((header.flags & TvfsFlags.patches) !== 0) {
    container.count(container.bytes[container.pos - 1]!, header.ekeySize + header.patchKeySize + 9);
  }
  if (espec.length === 0) return;
  container.seek(start + header.ekeySize + 4);
  const especOffset = container.uint(offsetWidth(espec.length));
  if (especOffset >= espec.length || (especOffset > 0 && espec[especOffset - 1] !== 0)) {
    throw formatError('E_FORMAT_RANGE', tvfsWhat, `espec offset ${especOffset} is not the start of a string`);
  }
}

/** Walks the whole manifest once, so that iterating cannot fail half-way. Gives the number of entries of either sort, and the form. */
function checkEntries(tables: Tables, maxTotal: number): Pick<Tvfs, 'fileCount' | 'skippedCount' | 'form'> {
  const entrySize = containerSize(tables);
  const counts = { fileCount: 0, skippedCount: 0, form: formOfTables(tables.header) };
  let total = 0;
  for (const node of pathNodes(tables.path)) {
    if (node.isCut) counts.form = 'prefixes';
    const reader = tables.vfs.readerAt(node.vfsOffset);
    const count = reader.u8();
    if (kindOf(count) !== 'file') {
      counts.skippedCount++;
      continue;
    }
    counts.fileCount++;
    total += reader.count(count, 8 + offsetWidth(tables.container.bytes.length));
    // Each span takes bytes of its own in a sane manifest. Many paths to one entry of 224 spans would multiply the work.
    if (total > maxTotal) throw formatError('E_FORMAT_RANGE', tvfsWhat, 'more spans than the manifest has bytes');
    for (let i = 0; i < count; i++) checkSpan(reader, tables, entrySize);
  }
  return counts;
}

/** The form as the order of the tables tells it: path tables of few paths are the same in both. */
function formOfTables({ especTable, containerTable }: TvfsHeader): TvfsForm {
  return especTable !== undefined && especTable.offset < containerTable.offset ? 'prefixes' : 'folders';
}

/**
 * Decodes a TVFS manifest: reads the header, checks every entry, makes none. Manifests that it nests are not opened:
 * a file whose ekey is one of the build config's `vfs-N` is such a manifest.
 * @param manifest its bytes, or where they are read: then the tables of paths and files are never in memory as a whole
 * @throws E_FORMAT_MAGIC, E_FORMAT_VERSION; E_FORMAT_TRUNCATED and E_FORMAT_RANGE for tables and entries that point
 *   outside; E_FORMAT for a path table that does not hold together
 */
export function decodeTvfs(manifest: Uint8Array | TvfsSource): Tvfs {
  const source = manifest instanceof Uint8Array ? tvfsBytes(manifest) : manifest;
  const header = decodeTvfsHeader(source);
  const espec = readTable(source, header.especTable);
  const tables: Tables = {
    header,
    path: new TableWindow(source, header.pathTable, pathReach),
    vfs: new TableWindow(source, header.vfsTable, vfsReach),
    container: new ByteReader(readTable(source, header.containerTable), tvfsWhat),
    espec,
    especAt: especReader(espec),
  };
  const especs = readEspecs(espec);
  const counts = checkEntries(tables, source.size);
  const entries = repeatable(function* () {
    for (const node of pathNodes(tables.path)) yield readFile(node, tables);
  });
  const files = repeatable(function* () {
    for (const file of entries) if (file.kind === 'file') yield file;
  });
  return { header, especs, ...counts, files, entries };
}

function readTable(source: TvfsSource, table: TvfsTable = { offset: 0, size: 0 }): Uint8Array {
  return source.read(table.offset, table.size);
}
