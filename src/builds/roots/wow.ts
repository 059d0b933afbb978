import * as fs from 'node:fs';
import { join } from 'node:path';
import { asBuffer, toHex } from '../../core/bytes.ts';
import { nameHash } from '../../core/jenkins.ts';
import { RecordTable } from '../../core/record-table.ts';
import { sortRecords } from '../../core/sort-records.ts';
import {
  decodeWowRoot,
  fillFileDataIds,
  rowNameHash,
  type WowRoot,
  type WowRootBlock,
} from '../../formats/roots/wow.ts';
import { writeFileDurable } from '../../store/durable.ts';
import type { StoreLayout } from '../../store/layout.ts';
import { LookupFile, writeLookupFile } from '../../store/lookup-file.ts';
import type { ListfileIndex } from '../listfile-index.ts';
import { readAt } from '../positional.ts';
import type { FileVariant, Root } from './root.ts';

/*
 * A decoded WoW root stays a file; beside it lie, under names/<ckey of the root>:
 *
 *   .ids      u32 id, u32 row          sorted by id
 *   .hashes   u64 name hash, u32 row   sorted by hash; only rows that have one
 *   .blocks   the block table, JSON
 *
 * so that one file is found with a few page reads, whatever the size of the root.
 */
const idStride = 8;
const hashStride = 12;

/** What a WoW root is opened with. */
export interface WowRootPlace {
  layout: StoreLayout;
  /** The decoded root. */
  file: string;
  ckey: string;
  listfile: ListfileIndex | undefined;
}

/** Opens a WoW root; its look-up files are made when they are not there. Needs `close`. */
export function openWowRoot(place: WowRootPlace): Root {
  const base = join(place.layout.names, place.ckey);
  if (!fs.existsSync(`${base}.blocks`)) writeLookups(place, base);
  return new WowRootFile(place, base);
}

function writeLookups(place: WowRootPlace, base: string): void {
  const root = decodeWowRoot(new Uint8Array(fs.readFileSync(place.file)));
  const { temporary } = place.layout;
  writeLookupFile(
    `${base}.ids`,
    new RecordTable(sortRecords(idRecords(root), idStride, idStride), idStride),
    temporary,
  );
  writeLookupFile(
    `${base}.hashes`,
    new RecordTable(sortRecords(hashRecords(root), hashStride, hashStride), hashStride),
    temporary,
  );
  // Written last: where the blocks are, the others are whole.
  writeFileDurable(`${base}.blocks`, Buffer.from(JSON.stringify(root.blocks)), temporary);
}

function idRecords(root: WowRoot): Uint8Array {
  const ids = fillFileDataIds(root);
  const bytes = Buffer.alloc(ids.length * idStride);
  for (let row = 0; row < ids.length; row++) {
    bytes.writeUInt32BE(ids[row]!, row * idStride);
    bytes.writeUInt32BE(row, row * idStride + 4);
  }
  return bytes;
}

function hashRecords(root: WowRoot): Uint8Array {
  const named = root.blocks.filter((block) => block.hashOffset >= 0);
  const bytes = Buffer.alloc(named.reduce((sum, block) => sum + block.count, 0) * hashStride);
  let at = 0;
  for (const block of named) {
    for (let row = block.firstRow; row < block.firstRow + block.count; row++) {
      bytes.set(rowNameHash(root, row)!, at);
      bytes.writeUInt32BE(row, at + 8);
      at += hashStride;
    }
  }
  return bytes;
}

class WowRootFile implements Root {
  readonly kind = 'wow';
  readonly #fd: number;
  readonly #ids: LookupFile;
  readonly #hashes: LookupFile;
  readonly #blocks: WowRootBlock[];
  readonly #listfile: ListfileIndex | undefined;

  constructor(place: WowRootPlace, base: string) {
    this.#fd = fs.openSync(place.file, 'r');
    this.#ids = new LookupFile(`${base}.ids`);
    this.#hashes = new LookupFile(`${base}.hashes`);
    this.#blocks = JSON.parse(fs.readFileSync(`${base}.blocks`, 'utf8')) as WowRootBlock[];
    this.#listfile = place.listfile;
  }

  close(): void {
    fs.closeSync(this.#fd);
    this.#ids.close();
    this.#hashes.close();
  }

  find(name: string): FileVariant[] {
    const hash = nameHash(name);
    const found = [...this.#hashes.find(hash)].map((record) => this.#variant(record, 8, { name: asPath(name) }));
    const id = this.#listfile?.idOf(name);
    const listed = id === undefined ? [] : this.findId(id);
    return unique([...found, ...listed]);
  }

  findId(fileDataId: number): FileVariant[] {
    const key = Buffer.alloc(4);
    key.writeUInt32BE(fileDataId);
    const name = this.#listfile?.nameOf(fileDataId);
    return [...this.#ids.find(key)].map((record) => this.#variant(record, 4, { fileDataId, name }));
  }

  *list(matches: (name: string) => boolean): Generator<FileVariant> {
    const bytes = new Uint8Array(readAt(this.#fd, 0, fs.fstatSync(this.#fd).size, 'root'));
    const names = this.#listfile?.names();
    let listed = names?.next().value;
    for (const record of this.#ids) {
      const view = asBuffer(record);
      const fileDataId = view.readUInt32BE(0);
      while (listed && listed.fileDataId < fileDataId) listed = names?.next().value;
      const row = view.readUInt32BE(4);
      const name = listed && listed.fileDataId === fileDataId ? listed.name : this.#nameByHash(bytes, row);
      if (matches(name ?? `fdid:${fileDataId}`)) yield this.#variantOfRow(row, { fileDataId, name }, bytes);
    }
  }

  #nameByHash(bytes: Uint8Array, row: number): string | undefined {
    const block = this.#blockOf(row);
    if (this.#listfile === undefined || block.hashOffset < 0) return undefined;
    const at = block.hashOffset + (row - block.firstRow) * block.hashStride;
    return this.#listfile.namesOfHash(Uint8Array.from(bytes.subarray(at, at + 8)).reverse())[0]?.name;
  }

  #variant(record: Uint8Array, rowAt: number, known: { name?: string | undefined; fileDataId?: number }): FileVariant {
    const row = asBuffer(record).readUInt32BE(rowAt);
    return this.#variantOfRow(row, { fileDataId: known.fileDataId ?? this.#idOf(row), name: known.name });
  }

  #variantOfRow(row: number, known: { name: string | undefined; fileDataId: number }, bytes?: Uint8Array): FileVariant {
    const block = this.#blockOf(row);
    const at = block.ckeyOffset + (row - block.firstRow) * block.ckeyStride;
    const ckey = toHex(bytes?.subarray(at, at + 16) ?? readAt(this.#fd, at, 16, 'root'));
    const { localeFlags, contentFlags } = block;
    return { ...known, localeFlags, contentFlags, parts: [{ ckey, size: undefined }] };
  }

  /** The id of a row: the sum of its block's deltas up to it. Blocks are read whole; this is for single files. */
  #idOf(row: number): number {
    const block = this.#blockOf(row);
    const deltas = asBuffer(readAt(this.#fd, block.deltaOffset, (row - block.firstRow + 1) * 4, 'root'));
    let id = -1;
    for (let at = 0; at < deltas.length; at += 4) id += deltas.readUInt32LE(at) + 1;
    return id;
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

function asPath(name: string): string {
  return name.replaceAll('\\', '/');
}

function unique(variants: readonly FileVariant[]): FileVariant[] {
  const seen = new Map(
    variants.map((variant) => [`${variant.parts[0]!.ckey} ${variant.localeFlags} ${variant.contentFlags}`, variant]),
  );
  return [...seen.values()];
}
