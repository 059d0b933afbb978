import * as fs from 'node:fs';
import { join } from 'node:path';
import { asBuffer } from '../core/bytes.ts';
import { nameHash } from '../core/jenkins.ts';
import { RecordTable } from '../core/record-table.ts';
import { sortRecords } from '../core/sort-records.ts';
import { type ListfileRow, ListfileScanner } from '../formats/listfile.ts';
import { makeFolderDurable, moveDurable, temporaryName } from '../store/durable.ts';
import type { StoreLayout } from '../store/layout.ts';
import { LookupFile, writeLookupFile } from '../store/lookup-file.ts';

/*
 * The imported listfile, as three files under names/:
 *
 *   listfile.txt      the rows as `id;name` lines: of the last import, then of older ones whose ids it did not have
 *   listfile.ids      u32 id, u40 offset of the name in listfile.txt, u16 its bytes       sorted by id, one row an id
 *   listfile.hashes   u64 name hash, u40 offset, u16 bytes, u32 id (0xffffffff: none)     sorted by hash
 */
const idStride = 11;
const hashStride = 19;
const noId = 0xffffffff;

/** A known name. */
export interface ListedName {
  name: string;
  fileDataId: number | undefined;
}

function listfilePaths(layout: StoreLayout): { text: string; ids: string; hashes: string } {
  const base = join(layout.names, 'listfile');
  return { text: `${base}.txt`, ids: `${base}.ids`, hashes: `${base}.hashes` };
}

/** The imported names. An open handle; needs `close`. */
export class ListfileIndex {
  readonly #fd: number;
  readonly ids: LookupFile;
  readonly #hashes: LookupFile;

  private constructor(fd: number, ids: LookupFile, hashes: LookupFile) {
    this.#fd = fd;
    this.ids = ids;
    this.#hashes = hashes;
  }

  /** Opens the imported names, or undefined when none were imported. */
  static open(layout: StoreLayout): ListfileIndex | undefined {
    const paths = listfilePaths(layout);
    if (!fs.existsSync(paths.hashes)) return undefined;
    return new ListfileIndex(fs.openSync(paths.text, 'r'), new LookupFile(paths.ids), new LookupFile(paths.hashes));
  }

  close(): void {
    fs.closeSync(this.#fd);
    this.ids.close();
    this.#hashes.close();
  }

  #name(row: Uint8Array, at: number): string {
    const view = asBuffer(row);
    const bytes = Buffer.alloc(view.readUInt16BE(at + 5));
    fs.readSync(this.#fd, bytes, 0, bytes.length, view.readUIntBE(at, 5));
    return bytes.toString('utf8');
  }

  /** The name of an id, or undefined. */
  nameOf(fileDataId: number): string | undefined {
    for (const row of this.ids.find(bigEndian32(fileDataId))) return this.#name(row, 4);
    return undefined;
  }

  /** The names with this 8-byte hash, as {@link nameHash} gives it. */
  namesOfHash(hash: Uint8Array): ListedName[] {
    return [...this.#hashes.find(hash)].map((row) => {
      const id = asBuffer(row).readUInt32BE(15);
      return { name: this.#name(row, 8), fileDataId: id === noId ? undefined : id };
    });
  }

  /** The listed id of a name, whatever its case and slashes. */
  idOf(name: string): number | undefined {
    return this.namesOfHash(nameHash(name)).find((listed) => listed.fileDataId !== undefined)?.fileDataId;
  }

  /** All ids with their names, in the order of ids. */
  *names(): Generator<{ fileDataId: number; name: string }> {
    const text = new TextWindow(this.#fd);
    for (const row of this.ids) {
      const view = asBuffer(row);
      yield { fileDataId: view.readUInt32BE(0), name: text.read(view.readUIntBE(4, 5), view.readUInt16BE(9)) };
    }
  }
}

function bigEndian32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Reads short texts of a file that mostly follow one another, through a window. */
class TextWindow {
  readonly #fd: number;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(fd: number) {
    this.#fd = fd;
  }

  read(offset: number, size: number): string {
    const at = offset - this.#start;
    if (at < 0 || at + size > this.#bytes.length) {
      const window = Buffer.allocUnsafe(Math.max(size, 1 << 18));
      this.#bytes = window.subarray(0, fs.readSync(this.#fd, window, 0, window.length, offset));
      this.#start = offset;
      return this.#bytes.toString('utf8', 0, size);
    }
    return this.#bytes.toString('utf8', at, at + size);
  }
}

/**
 * Adds the names of a listfile to those imported before; a newer name of an id stands in for the older.
 * @returns how many rows were read, and how many different ids are known now
 * @throws E_FORMAT for a line that is neither `id;name` nor a name
 */
export async function importListfile(
  layout: StoreLayout,
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ rows: number; ids: number }> {
  const paths = listfilePaths(layout);
  makeFolderDurable(layout.temporary);
  makeFolderDurable(layout.names);
  const name = temporaryName(layout.temporary);
  const writer = new ListfileWriter(fs.openSync(name, 'wx'));
  try {
    for await (const rows of readListfile(chunks)) for (const row of rows) writer.add(row.fileDataId, row.name);
    const { rows } = writer;
    if (fs.existsSync(paths.text)) {
      for await (const older of readListfile(fs.createReadStream(paths.text))) {
        for (const row of older)
          if (row.fileDataId === undefined || !writer.ids.has(row.fileDataId)) writer.add(row.fileDataId, row.name);
      }
    }
    const { ids, hashes } = writer.finish();
    moveDurable(name, paths.text);
    writeLookupFile(paths.ids, ids, layout.temporary);
    writeLookupFile(paths.hashes, hashes, layout.temporary);
    return { rows, ids: ids.count };
  } finally {
    writer.close();
    fs.rmSync(name, { force: true });
  }
}

/** Many ids in little memory: a bit each, in pages that are made when the first id of theirs comes. */
class IdSet {
  readonly #pages = new Map<number, Uint8Array>();

  add(id: number): void {
    let page = this.#pages.get(id >>> 16);
    if (page === undefined) {
      page = new Uint8Array(0x2000);
      this.#pages.set(id >>> 16, page);
    }
    page[(id & 0xffff) >>> 3]! |= 1 << (id & 7);
  }

  has(id: number): boolean {
    const page = this.#pages.get(id >>> 16);
    return page !== undefined && (page[(id & 0xffff) >>> 3]! & (1 << (id & 7))) !== 0;
  }
}

async function* readListfile(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ListfileRow[]> {
  const scanner = new ListfileScanner();
  for await (const chunk of chunks) yield scanner.push(chunk);
  yield scanner.end();
}

class ListfileWriter {
  rows = 0;
  readonly ids = new IdSet();
  readonly #fd: number;
  #text: Buffer[] = [];
  #textBytes = 0;
  #offset = 0;
  #ids = Buffer.alloc(idStride * 1024);
  #idCount = 0;
  #hashes = Buffer.alloc(hashStride * 1024);

  constructor(fd: number) {
    this.#fd = fd;
  }

  add(id: number | undefined, name: string): void {
    const head = id === undefined ? '' : `${id};`;
    const line = Buffer.from(`${head}${name}\n`);
    const size = line.length - 1 - head.length;
    const at = this.#offset + head.length;
    this.#text.push(line);
    this.#textBytes += line.length;
    this.#offset += line.length;
    if (this.#textBytes > 1 << 20) this.#flush();
    this.#addHash(name, { at, size, id });
    if (id !== undefined) this.#addId(id, at, size);
    if (id !== undefined) this.ids.add(id);
    this.rows += 1;
  }

  #addHash(name: string, place: { at: number; size: number; id: number | undefined }): void {
    const row = this.rows * hashStride;
    if (row + hashStride > this.#hashes.length) this.#hashes = Buffer.concat([this.#hashes], this.#hashes.length * 2);
    this.#hashes.set(nameHash(name), row);
    this.#hashes.writeUIntBE(place.at, row + 8, 5);
    this.#hashes.writeUInt16BE(place.size, row + 13);
    this.#hashes.writeUInt32BE(place.id ?? noId, row + 15);
  }

  #addId(id: number, at: number, size: number): void {
    const row = this.#idCount * idStride;
    if (row + idStride > this.#ids.length) this.#ids = Buffer.concat([this.#ids], this.#ids.length * 2);
    this.#ids.writeUInt32BE(id, row);
    this.#ids.writeUIntBE(at, row + 4, 5);
    this.#ids.writeUInt16BE(size, row + 9);
    this.#idCount += 1;
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#text);
    fs.writeSync(this.#fd, bytes);
    this.#text = [];
    this.#textBytes = 0;
  }

  finish(): { ids: RecordTable; hashes: RecordTable } {
    this.#flush();
    fs.fsyncSync(this.#fd);
    // The offset stands right behind the id, so of rows with one id the last import comes last.
    const ids = sortRecords(this.#ids.subarray(0, this.#idCount * idStride), idStride, 9);
    const hashes = sortRecords(this.#hashes.subarray(0, this.rows * hashStride), hashStride, 13);
    return { ids: lastOfEach(ids, idStride, 4), hashes: new RecordTable(hashes, hashStride) };
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}

/** Of sorted rows that share their first `keySize` bytes only the last stays. */
function lastOfEach(rows: Uint8Array, stride: number, keySize: number): RecordTable {
  const table = new RecordTable(rows, stride);
  let kept = 0;
  for (let row = 0; row < table.count; row++) {
    const next = row + 1 < table.count ? table.at(row + 1).subarray(0, keySize) : undefined;
    if (next !== undefined && Buffer.compare(table.at(row).subarray(0, keySize), next) === 0) continue;
    rows.copyWithin(kept * stride, row * stride, (row + 1) * stride);
    kept += 1;
  }
  return new RecordTable(rows.subarray(0, kept * stride), stride);
}
