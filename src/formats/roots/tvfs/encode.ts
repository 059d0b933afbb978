import { compareParts } from '../../../core/bytes.ts';
import { orderOf } from '../../../core/sorting/merge-sort.ts';
import { KeyTable } from '../../../core/tables/key-table.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { EntryRows, type EntryShape, refuse, type TvfsFileContent } from './entry-rows.ts';
import { TvfsFlags, type TvfsForm, type TvfsHeader } from './layout.ts';
import { offsetWidth } from './limits.ts';
import { type PathTable, type PlacedPaths, writeFolders, writePrefixes } from './path-tree.ts';

export type { TvfsFileContent } from './entry-rows.ts';

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

const defaultFlags = TvfsFlags.ckeys | TvfsFlags.especs | TvfsFlags.patches;

/** The espec table: the especs that are given, then others in the order of the entries. */
class EspecTable {
  readonly #writer = new ByteWriter();
  readonly #offsets = new Map<string, number>();

  add(espec: string): void {
    if (espec === '' || espec.includes('\0')) refuse(`no espec: ${JSON.stringify(espec)}`);
    this.#offsets.set(espec, this.#writer.size);
    this.#writer.cstring(espec);
  }

  addUnlessThere(espec: string | undefined): void {
    if (espec !== undefined && !this.#offsets.has(espec)) this.add(espec);
  }

  get bytes(): Uint8Array {
    return this.#writer.written;
  }

  /** Where an espec stands; a span without one points to the first. */
  placeOf(espec: string | undefined): { offset: number; width: number } {
    const offset = espec === undefined ? 0 : (this.#offsets.get(espec) ?? 0);
    return { offset, width: offsetWidth(this.#writer.size) };
  }
}

/** The container table, and where in it the entry of each span is. */
interface ContainerTable {
  bytes: Uint8Array;
  offsets: Uint32Array;
}

/** Spans that share an encoded object share its entry. */
class Containers {
  readonly #rows: EntryRows;
  readonly #writer = new ByteWriter(64 * 1024);
  /** Where each begins, and the end. */
  readonly #starts = [0];
  /** The last of each ekey. */
  readonly #ekeys = new KeyTable();
  readonly #lastOf: number[] = [];
  /** That of each span. */
  readonly #ofSpan: Uint32Array;

  constructor(rows: EntryRows) {
    this.#rows = rows;
    this.#ofSpan = new Uint32Array(rows.spanCount);
  }

  /** Takes the entry of a span. */
  add(span: number, bytes: Uint8Array): void {
    const ekey = this.#ekeys.add(this.#rows.ekeyOf(span));
    let container = this.#lastOf[ekey];
    if (container === undefined || !this.#has(container, bytes)) {
      container = this.#starts.length - 1;
      this.#writer.raw(bytes);
      this.#starts.push(this.#writer.size);
      this.#lastOf[ekey] = container;
    }
    this.#ofSpan[span] = container;
  }

  #has(container: number, bytes: Uint8Array): boolean {
    const part = { start: 0, end: bytes.length };
    return compareParts(this.#writer.written, this.#partOf(container), bytes, part) === 0;
  }

  #partOf(container: number): { start: number; end: number } {
    return { start: this.#starts[container]!, end: this.#starts[container + 1]! };
  }

  table(form: TvfsForm): ContainerTable {
    const places = new Uint32Array(this.#starts);
    if (form === 'folders') return { bytes: this.#writer.written, offsets: this.#ofSpan.map((own) => places[own]!) };
    const bytes = this.#writer.written;
    const order = orderOf(places.length - 1, (a, b) => compareParts(bytes, this.#partOf(a), bytes, this.#partOf(b)));
    const sorted = new ByteWriter(bytes.length);
    for (const container of order) {
      const { start, end } = this.#partOf(container);
      places[container] = sorted.size;
      sorted.raw(bytes.subarray(start, end));
    }
    return { bytes: sorted.written, offsets: this.#ofSpan.map((own) => places[own]!) };
  }
}

function writeContainers(
  rows: EntryRows,
  order: Uint32Array,
  { especs, form }: { especs: EspecTable; form: TvfsForm },
): ContainerTable {
  const containers = new Containers(rows);
  for (const span of spansIn(rows, order)) {
    containers.add(span, rows.containerEntry(span, especs.placeOf(rows.especOf(span))));
  }
  return containers.table(form);
}

/** The spans of entries, in the order of those. */
function* spansIn(rows: EntryRows, order: Uint32Array): Generator<number> {
  for (const entry of order) {
    const { first, behind } = rows.spansOf(entry);
    for (let span = first; span < behind; span++) yield span;
  }
}

/** The VFS table, and the paths that lead into it. */
function writeVfs(
  rows: EntryRows,
  order: Uint32Array,
  containers: ContainerTable,
): { bytes: Uint8Array; paths: PlacedPaths } {
  const width = offsetWidth(containers.bytes.length);
  const writer = new ByteWriter(64 * 1024);
  const vfsOffsets = order.map((entry) => {
    const at = writer.size;
    writer.u8(rows.countOf(entry));
    const { first, behind } = rows.spansOf(entry);
    for (let span = first; span < behind; span++) writer.raw(rows.placeOf(span)).uint(containers.offsets[span]!, width);
    return at;
  });
  return { bytes: writer.written, paths: { ...rows.pathsIn(order), vfsOffsets } };
}

/** The tables of a manifest. */
interface EncodedTables {
  paths: PathTable;
  vfs: Uint8Array;
  containers: Uint8Array;
  especs: Uint8Array;
}

/** What they are made of is let go of before they are put together: of millions of entries it is as large. */
function encodeTables(content: TvfsContent, shape: EntryShape, form: TvfsForm): EncodedTables {
  const rows = new EntryRows(shape);
  for (const entry of content.entries) rows.add(entry);
  const order = rows.inOrder();
  const especs = new EspecTable();
  if ((shape.flags & TvfsFlags.especs) !== 0) for (const espec of content.especs ?? []) especs.add(espec);
  for (const span of spansIn(rows, order)) especs.addUnlessThere(rows.especOf(span));
  const containers = writeContainers(rows, order, { especs, form });
  const vfs = writeVfs(rows, order, containers);
  const paths = form === 'folders' ? writeFolders(vfs.paths) : writePrefixes(vfs.paths);
  return { paths, vfs: vfs.bytes, containers: containers.bytes, especs: especs.bytes };
}

/**
 * Writes a TVFS manifest, the mirror of `decodeTvfs`: of one of the two forms byte for byte. Where another writer put its tables, what it
 * left between them, and names that are no UTF-8, are not in the decoded value.
 * @throws E_FORMAT_RANGE for paths that are empty, doubled or too long, for keys of a wrong size, for more than 224 spans
 */
export function encodeTvfs(content: TvfsContent): Uint8Array {
  const { ekeySize = 9, patchKeySize = 9, flags = defaultFlags } = content.header ?? {};
  const { form = 'folders' } = content;
  const { paths, vfs, containers, especs } = encodeTables(content, { flags, ekeySize, patchKeySize }, form);
  const hasEspecs = (flags & TvfsFlags.especs) !== 0;
  const headerSize = hasEspecs ? 46 : 38;
  const [first, second] = form === 'folders' ? [containers, especs] : [especs, containers];
  const pathsEnd = headerSize + paths.bytes.length;
  const firstEnd = pathsEnd + first.length;
  const secondEnd = firstEnd + second.length;
  const [containersAt, especsAt] = form === 'folders' ? [pathsEnd, firstEnd] : [firstEnd, pathsEnd];

  const writer = new ByteWriter(secondEnd + vfs.length);
  writer.text('TVFS').u8(1).u8(headerSize).u8(ekeySize).u8(patchKeySize).u32(flags);
  writer.u32(headerSize).u32(paths.bytes.length);
  writer.u32(secondEnd).u32(vfs.length);
  writer.u32(containersAt).u32(containers.length).u16(paths.maxDepth);
  if (hasEspecs) writer.u32(especsAt).u32(especs.length);
  for (const table of [paths.bytes, first, second, vfs]) writer.raw(table);
  // It was made as large as it is.
  return writer.written;
}
