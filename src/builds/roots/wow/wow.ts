import * as fs from 'node:fs';
import { join } from 'node:path';
import { breathe } from '../../../core/breathe.ts';
import { asBuffer, toHex } from '../../../core/bytes.ts';
import { nameHash } from '../../../core/jenkins.ts';
import { sortRecords } from '../../../core/tables/sort-records.ts';
import { writeFileDurable } from '../../../files/durable.ts';
import { readAt } from '../../../files/read-at.ts';
import { decodeWowRoot, fillFileDataIds, rowNameHash } from '../../../formats/roots/wow/decode.ts';
import type { WowRoot, WowRootBlock } from '../../../formats/roots/wow/layout.ts';
import type { LookupFolders } from '../../../store/layout.ts';
import { LookupFile, writeLookupFile } from '../../../store/lookup-file.ts';
import { type ListfileIndex, listedNames } from '../../listfile/listfile-index.ts';
import type { FileVariant, Root } from '../root.ts';

/*
 * A decoded WoW root stays a file; beside it lie, under names/<ckey of the root>:
 *
 *   .ids      u32 id, u32 row                   sorted by id
 *   .named    u64 name hash, u32 row, u32 id    sorted by hash; only rows that have one
 *   .blocks   the block table, JSON
 *
 * so that one file is found with a few page reads, whatever the size of the root.
 */
const idStride = 8;
const hashStride = 16;

/** Opens a WoW root, a decoded file; its look-up files are made when they are not there. Needs `close`. */
export async function openWowRoot(
  { folders, listfile }: { folders: LookupFolders; listfile: ListfileIndex | undefined },
  { file, ckey }: { file: string; ckey: string },
): Promise<Root> {
  const base = join(folders.names, ckey);
  if (![`${base}.named`, `${base}.blocks`].every((name) => fs.existsSync(name))) {
    await writeLookups(file, base, folders.temporary);
  }
  return new WowRootFile(file, base, listfile);
}

async function writeLookups(file: string, base: string, temporary: string): Promise<void> {
  const root = decodeWowRoot(new Uint8Array(fs.readFileSync(file)));
  const ids = fillFileDataIds(root);
  await breathe();
  const idRows = sortRecords(idRecords(ids), idStride, idStride);
  await writeLookupFile(`${base}.ids`, { stride: idStride, rows: [idRows] }, temporary);
  await breathe();
  const namedRows = sortRecords(hashRecords(root, ids), hashStride, hashStride);
  await writeLookupFile(`${base}.named`, { stride: hashStride, rows: [namedRows] }, temporary);
  // Written last: where the blocks are, the others are whole.
  writeFileDurable(`${base}.blocks`, Buffer.from(JSON.stringify(root.blocks)), temporary);
}

function idRecords(ids: Uint32Array): Uint8Array {
  const bytes = Buffer.alloc(ids.length * idStride);
  for (let row = 0; row < ids.length; row++) {
    bytes.writeUInt32BE(ids[row]!, row * idStride);
    bytes.writeUInt32BE(row, row * idStride + 4);
  }
  return bytes;
}

function hashRecords(root: WowRoot, ids: Uint32Array): Uint8Array {
  const named = root.blocks.filter((block) => block.hashOffset >= 0);
  const bytes = Buffer.alloc(named.reduce((sum, block) => sum + block.count, 0) * hashStride);
  let at = 0;
  for (const block of named) {
    for (let row = block.firstRow; row < block.firstRow + block.count; row++) {
      bytes.set(rowNameHash(root, row) ?? [], at);
      bytes.writeUInt32BE(row, at + 8);
      bytes.writeUInt32BE(ids[row]!, at + 12);
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

  constructor(file: string, base: string, listfile: ListfileIndex | undefined) {
    this.#fd = fs.openSync(file, 'r');
    this.#ids = new LookupFile(`${base}.ids`);
    this.#hashes = new LookupFile(`${base}.named`);
    this.#blocks = JSON.parse(fs.readFileSync(`${base}.blocks`, 'utf8')) as WowRootBlock[];
    this.#listfile = listfile;
  }

  close(): void {
    fs.closeSync(this.#fd);
    this.#ids.close();
    this.#hashes.close();
  }

  find(name: string): FileVariant[] {
    const hash = nameHash(name);
    const found = Array.from(this.#hashes.find(hash), (record) => {
      const fileDataId = asBuffer(record).readUInt32BE(12);
      return this.#variant(record, 8, { fileDataId, name: name.replaceAll('\\', '/') });
    });
    const id = this.#listfile?.idOf(name);
    const listed = id === undefined ? [] : this.findId(id);
    return unique([...found, ...listed]);
  }

  findId(fileDataId: number): FileVariant[] {
    const name = this.#listfile?.nameOf(fileDataId);
    return Array.from(this.#ids.findNumber(fileDataId), (record) => this.#variant(record, 4, { fileDataId, name }));
  }

  *list(matches: (name: string) => boolean): Generator<FileVariant> {
    const bytes = asBuffer(readAt(this.#fd, 0, fs.fstatSync(this.#fd).size, 'root'));
    const listedName = listedNames(this.#listfile);
    for (const records of this.#ids.tables()) {
      const view = asBuffer(records.bytes);
      for (let at = 0; at < view.length; at += idStride) {
        const fileDataId = view.readUInt32BE(at);
        const row = view.readUInt32BE(at + 4);
        const name = listedName(fileDataId) ?? this.#nameByHash(bytes, row);
        if (matches(name ?? `fdid:${fileDataId}`)) yield this.#variantOfRow(row, { fileDataId, name }, bytes);
      }
    }
  }

  #nameByHash(bytes: Uint8Array, row: number): string | undefined {
    const block = this.#blockOf(row);
    if (this.#listfile === undefined || block.hashOffset < 0) return undefined;
    const at = block.hashOffset + (row - block.firstRow) * block.hashStride;
    return this.#listfile.namesOfHash(Uint8Array.from(bytes.subarray(at, at + 8)).reverse())[0]?.name;
  }

  #variant(record: Uint8Array, rowAt: number, known: { name: string | undefined; fileDataId: number }): FileVariant {
    return this.#variantOfRow(asBuffer(record).readUInt32BE(rowAt), known);
  }

  #variantOfRow(row: number, known: { name: string | undefined; fileDataId: number }, bytes?: Buffer): FileVariant {
    const block = this.#blockOf(row);
    const at = block.ckeyOffset + (row - block.firstRow) * block.ckeyStride;
    const ckey = bytes?.toString('hex', at, at + 16) ?? toHex(readAt(this.#fd, at, 16, 'root'));
    const { name, fileDataId } = known;
    const { localeFlags, contentFlags } = block;
    return { name, fileDataId, localeFlags, contentFlags, parts: [{ ckey, size: undefined }] };
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

function unique(variants: readonly FileVariant[]): FileVariant[] {
  const seen = new Map(
    variants.map((variant) => [`${variant.parts[0]?.ckey} ${variant.localeFlags} ${variant.contentFlags}`, variant]),
  );
  return [...seen.values()];
}
