import { join } from 'node:path';
import { breathe } from '../../../core/breathe.ts';
import { asBuffer, toHex } from '../../../core/bytes.ts';
import { nameHash } from '../../../core/jenkins.ts';
import type { IdSet } from '../../../core/tables/id-set.ts';
import { RecordTable } from '../../../core/tables/record-table.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { hashSize } from '../../../formats/roots/wow/fields.ts';
import type { WowRootBlock } from '../../../formats/roots/wow/layout.ts';
import { DerivedFile, openDerived, readDerived } from '../../../store/derived/derived-file.ts';
import { LookupFile } from '../../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../../store/layout.ts';
import { type ListedId, type ListfileIndex, listedNames, namesWhenNeeded } from '../../listfile/listfile-index.ts';
import type { NamePlace } from '../../listfile/listfile-text.ts';
import type { FileVariant, PickVariant, Root, WantedNames } from '../root.ts';
import { addRowsOfFolders } from './folder-rows.ts';
import { ListedVariant } from './listed-variant.ts';
import {
  addRowsAt,
  ckeySize,
  misfitsOf,
  type OrderedRow,
  openNameOrder,
  orderedRows,
  orderedRowsWithout,
  unnamedRows,
} from './name-order.ts';
import { type FieldPlace, type RowField, RowWindows } from './row-windows.ts';
import { type ComparedRoot, sameIds } from './same-ids.ts';
import { hashStride, idStride, writeLookups } from './write-lookups.ts';

/*
 * A decoded WoW root stays a file; beside it lie, under names/<ckey of the root>:
 *
 *   .ids      u32 id, u32 row                   sorted by id
 *   .named    u64 name hash, u32 row, u32 id    sorted by hash; only rows that have one
 *   .blocks   the block table, JSON
 *   .order    the rows in the order of their names, once all were listed (name-order.ts)
 *   .misfits  how many files the list has another name of than the root, in digits; belongs to .order
 *
 * so that one file is found with a few page reads, whatever the size of the root.
 */

/** Opens a WoW root, a decoded file; its look-up files are made when they are not there or damaged. Needs `close`. */
export async function openWowRoot(
  { folders, listfile }: { folders: LookupFolders; listfile: () => Promise<ListfileIndex | undefined> },
  { file, ckey }: { file: string; ckey: string },
): Promise<Root> {
  const base = join(folders.names, ckey);
  const names = await namesWhenNeeded(listfile);
  return openDerived(
    () => new WowRootFile(file, { base, temporary: folders.temporary }, names),
    () => writeLookups(file, base, folders.temporary),
  );
}

/** Where the name hash of a row lies; undefined where it has none. */
type HashOf = (row: number) => FieldPlace | undefined;

class WowRootFile implements Root {
  readonly kind = 'wow';
  misfits = 0;
  readonly #rows: DerivedFile;
  readonly #ids: LookupFile;
  readonly #hashes: LookupFile;
  readonly #blocks: WowRootBlock[];
  readonly #names: () => ListfileIndex | undefined;
  readonly #place: { base: string; temporary: string };
  #order: LookupFile | undefined;

  constructor(file: string, place: { base: string; temporary: string }, names: () => ListfileIndex | undefined) {
    const { base } = place;
    this.#names = names;
    this.#place = place;
    const opened: { close(): void }[] = [];
    const keep = <File extends { close(): void }>(one: File): File => {
      opened.push(one);
      return one;
    };
    try {
      this.#rows = keep(new DerivedFile(file));
      this.#ids = keep(new LookupFile(`${base}.ids`, { stride: idStride }));
      this.#hashes = keep(new LookupFile(`${base}.named`, { stride: hashStride }));
      this.#blocks = JSON.parse(asBuffer(readDerived(`${base}.blocks`)).toString()) as WowRootBlock[];
    } catch (error) {
      for (const one of opened) one.close();
      throw error;
    }
  }

  /** @throws E_FORMAT_CHECKSUM when the list is damaged: names that are lost must not look as if there were none */
  get #listfile(): ListfileIndex | undefined {
    return this.#names();
  }

  close(): void {
    this.#rows.close();
    this.#ids.close();
    this.#hashes.close();
    this.#order?.close();
  }

  async checkAll(): Promise<void> {
    await this.#checkFiles();
    const names = this.#listfile;
    if (names === undefined) return;
    const order = await this.#openedOrder(names);
    for (const _ of order.checkAll()) await breathe();
  }

  /** Checks all but the order, and all that this is made of. */
  async #checkFiles(): Promise<void> {
    for (const file of [this.#rows, this.#ids, this.#hashes]) for (const _ of file.checkAll()) await breathe();
    await this.#listfile?.checkAll();
  }

  /** The order of the names; what it is made of is checked, it is not. */
  async #openedOrder(names: ListfileIndex): Promise<LookupFile> {
    if (this.#order !== undefined) return this.#order;
    const order = await openNameOrder({ ...this.#place, names, ids: this.#ids, hasCkeys: true }, async () => {
      await this.#checkFiles();
      return this.#placedRows(names);
    });
    // Another listing may have opened it meanwhile.
    if (this.#order !== undefined) order.close();
    this.#order ??= order;
    return this.#order;
  }

  /** Every row with the place of its name, in the order of ids. */
  *#placedRows(names: ListfileIndex): Generator<OrderedRow> {
    const ckeys = this.#ckeyWindows();
    const hashes = new RowWindows(this.#readUnchecked, { of: hashesOf, size: hashSize });
    const hashOf: HashOf = (row) => {
      const block = this.#blockOf(row);
      return block.hashOffset < 0 ? undefined : hashes.placeOf(row, block);
    };
    const listedOf = listedNames(names);
    for (const { fileDataId, rows } of this.#files()) {
      const listed = listedOf(fileDataId);
      const place = this.#placeOf(rows, listed, hashOf);
      const isMisfit = listed !== undefined && place !== listed;
      for (const row of rows) yield { fileDataId, row, place, isMisfit, ckey: ckeys.placeOf(row, this.#blockOf(row)) };
    }
  }

  find(name: string): FileVariant[] {
    const hash = nameHash(name);
    const asked = name.replaceAll('\\', '/');
    const found = Array.from(this.#hashes.find(hash), (record) => {
      const view = asBuffer(record);
      return this.#variant(view.readUInt32BE(8), { fileDataId: view.readUInt32BE(12), name: asked });
    });
    const fileDataId = this.#listfile?.idOf(name);
    if (fileDataId === undefined) return unique(found);
    const rows = this.#rowsOf(fileDataId);
    const view = asBuffer(hash);
    const listed = { high: view.readUInt32BE(0), low: view.readUInt32BE(4) };
    if (!this.#fits(rows, listed, this.#hashOf)) {
      this.misfits = Math.max(this.misfits, 1);
      return unique(found);
    }
    return unique([...found, ...rows.map((row) => this.#variant(row, { fileDataId, name: asked }))]);
  }

  findId(fileDataId: number): FileVariant[] {
    const rows = this.#rowsOf(fileDataId);
    const listed = rows.length === 0 ? undefined : this.#listfile?.find(fileDataId);
    const place = this.#placeOf(rows, listed, this.#hashOf);
    const name = place && this.#listfile?.nameAt(place);
    if (listed !== undefined && place !== listed) this.misfits = Math.max(this.misfits, 1);
    return rows.map((row) => this.#variant(row, { fileDataId, name }));
  }

  #rowsOf(fileDataId: number): number[] {
    return Array.from(this.#ids.findNumber(fileDataId), (record) => asBuffer(record).readUInt32BE(4));
  }

  async narrow({ needed, folders }: WantedNames): Promise<Root['list'] | undefined> {
    const names = this.#listfile;
    if (names === undefined) return undefined;
    const order = await this.#openedOrder(names);
    const misfits = await misfitsOf(order, this.#place);
    const found = new ByteWriter();
    const ranges = folders && names.rangesOf(needed);
    if (folders !== undefined && ranges !== undefined) {
      const isShown = (rows: readonly number[]): boolean =>
        folders.pick(rows.map((row) => this.#blockOf(row))) !== undefined;
      await addRowsOfFolders(order, ranges, { names, folderOf: folders.folderOf, isShown }, found);
    } else if (needed !== undefined) await addRowsAt(order, await names.offsetsOf(needed), found);
    else return undefined;
    const rows = new RecordTable(found.raw(unnamedRows(order)).bytes(), order.stride);
    this.misfits = Math.max(this.misfits, misfits);
    return (matches) => this.#list(matches, orderedRows([rows]));
  }

  async sameIds(other: Root, pick: PickVariant, signal?: AbortSignal): Promise<IdSet | undefined> {
    if (!(other instanceof WowRootFile) || this.#listfile?.mark !== other.#listfile?.mark) return undefined;
    const [one, two] = [this.#compared(), other.#compared()];
    return one && two && sameIds(one, two, { pick, signal });
  }

  #compared(): ComparedRoot | undefined {
    return this.#order && { order: this.#order, blockOf: (row) => this.#blockOf(row) };
  }

  listWithout(ids: IdSet, matches: (name: string) => boolean): Iterable<FileVariant> {
    const order = this.#order;
    return order === undefined ? this.list(matches) : this.#list(matches, orderedRowsWithout(order, ids));
  }

  list(matches: (name: string) => boolean): Generator<FileVariant> {
    return this.#list(matches, this.#rowsInOrder());
  }

  *#list(matches: (name: string) => boolean, inOrder: Iterable<OrderedRow>): Generator<FileVariant> {
    const read = this.#listfile?.nameReader();
    const ckeys = this.#ckeyWindows();
    let misfits = 0;
    let [name, id, isListed]: [string | undefined, number, boolean] = [undefined, -1, false];
    for (const { fileDataId, row, place, isMisfit, ckey } of inOrder) {
      if (fileDataId !== id) {
        name = place && read?.(place);
        id = fileDataId;
        if (isMisfit) this.misfits = Math.max(this.misfits, ++misfits);
        isListed = matches(name ?? `fdid:${fileDataId}`);
      }
      if (!isListed) continue;
      const block = this.#blockOf(row);
      yield new ListedVariant({ name, fileDataId }, block, ckey ?? ckeys.placeOf(row, block));
    }
  }

  /** Every row by its name; by its id where no names were imported. */
  *#rowsInOrder(): Generator<OrderedRow> {
    if (this.#order !== undefined) return yield* orderedRows(this.#order.tables());
    const names = this.#listfile;
    if (names !== undefined) return yield* this.#placedRows(names);
    for (const { fileDataId, rows } of this.#files())
      for (const row of rows) yield { fileDataId, row, place: undefined, isMisfit: false };
  }

  /** Every id with its rows, in the order of ids. */
  *#files(): Generator<{ fileDataId: number; rows: number[] }> {
    let file: { fileDataId: number; rows: number[] } | undefined;
    for (const records of this.#ids.tables()) {
      const view = asBuffer(records.bytes);
      for (let at = 0; at < view.length; at += idStride) {
        const fileDataId = view.readUInt32BE(at);
        const row = view.readUInt32BE(at + 4);
        if (file?.fileDataId === fileDataId) {
          file.rows.push(row);
          continue;
        }
        if (file !== undefined) yield file;
        file = { fileDataId, rows: [row] };
      }
    }
    if (file !== undefined) yield file;
  }

  /** The name of a file: the listed one, unless the root knows better, or else a listed one that has the hash that the root has. */
  #placeOf(rows: readonly number[], listed: ListedId | undefined, hashOf: HashOf): NamePlace | undefined {
    if (this.#listfile === undefined) return undefined;
    if (listed !== undefined && this.#fits(rows, listed, hashOf)) return listed;
    for (const row of rows) {
      const hash = hashOf(row);
      if (hash === undefined) continue;
      const bytes = Uint8Array.from(hash.of.bytes.subarray(hash.at, hash.at + hashSize));
      const [named] = this.#listfile.namesOfHash(bytes.reverse());
      if (named !== undefined) return named;
    }
    return undefined;
  }

  /** False when a row of a file has the hash of another name: the list is of another product, or wrong. */
  #fits(rows: readonly number[], { high, low }: Pick<ListedId, 'high' | 'low'>, hashOf: HashOf): boolean {
    for (const row of rows) {
      const hash = hashOf(row);
      if (hash === undefined) continue;
      const bytes = asBuffer(hash.of.bytes);
      if (bytes.readUInt32LE(hash.at) !== low || bytes.readUInt32LE(hash.at + 4) !== high) return false;
    }
    return true;
  }

  /** For who asks about few rows. */
  readonly #hashOf: HashOf = (row) => {
    const { firstRow, hashOffset, hashStride } = this.#blockOf(row);
    if (hashOffset < 0) return undefined;
    return { of: { bytes: this.#rows.read(hashOffset + (row - firstRow) * hashStride, hashSize) }, at: 0 };
  };

  readonly #readUnchecked = (offset: number, size: number): Uint8Array => this.#rows.readUnchecked(offset, size);

  #ckeyWindows(): RowWindows {
    return new RowWindows(this.#readUnchecked, { of: ckeysOf, size: ckeySize });
  }

  #variant(row: number, { name, fileDataId }: { name: string | undefined; fileDataId: number }): FileVariant {
    const { localeFlags, contentFlags } = this.#blockOf(row);
    return { name, fileDataId, localeFlags, contentFlags, parts: [{ ckey: this.#ckeyOf(row), size: undefined }] };
  }

  #ckeyOf(row: number): string {
    const { firstRow, ckeyOffset, ckeyStride } = this.#blockOf(row);
    return toHex(this.#rows.read(ckeyOffset + (row - firstRow) * ckeyStride, ckeySize));
  }

  #blockOf(row: number): WowRootBlock {
    let low = 0;
    let high = this.#blocks.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#blocks[middle]!.firstRow <= row) low = middle;
      else high = middle;
    }
    return this.#blocks[low]!;
  }
}

function ckeysOf({ ckeyOffset, ckeyStride }: WowRootBlock): RowField {
  return { offset: ckeyOffset, stride: ckeyStride };
}

function hashesOf({ hashOffset, hashStride }: WowRootBlock): RowField {
  return { offset: hashOffset, stride: hashStride };
}

function unique(variants: readonly FileVariant[]): FileVariant[] {
  const seen = new Map(
    variants.map((variant) => [`${variant.parts[0]?.ckey} ${variant.localeFlags} ${variant.contentFlags}`, variant]),
  );
  return [...seen.values()];
}
