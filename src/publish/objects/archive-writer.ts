import { join } from 'node:path';
import { fromHex, u32At, writeU32 } from '../../core/bytes.ts';
import { addAll } from '../../core/tables/add-all.ts';
import { GrowingRecords } from '../../core/tables/growing-records.ts';
import { ReusedBytes } from '../../core/tables/large-bytes.ts';
import { DurableFile, writeFileDurable } from '../../files/durable.ts';
import { reading, readWhole } from '../../files/read-at.ts';
import { ArchiveGroupEncoder } from '../../formats/indices/archive-group.ts';
import { decodeArchiveIndex, encodeArchiveIndex, type IndexEntry } from '../../formats/indices/archive-index.ts';
import type { NamedIndex } from '../../formats/indices/index-layout.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';

/** Where objects of a CDN folder go. */
export interface CdnFolder {
  /** The folder that a web server serves. */
  out: string;
  /** Path of the product below it. */
  cdnPath: string;
}

/** Archives and the sizes of their indices, in bytes. */
export interface NamedArchive {
  name: string;
  indexSize: number;
}

/** Objects that a folder has already: archives, and what lies loose. */
export interface EarlierObjects {
  archives: readonly NamedArchive[];
  loose: readonly IndexEntry[];
  /** Whether one of them is it. */
  has(ekey: string): boolean;
}

/** The data objects, or the patches, of a build as its CDN config lists them. */
export interface DataObjects {
  /** In the order of their names, which is the order of the CDN config. */
  archives: NamedArchive[];
  /** Name of the group that readers make of the indices; undefined without archives. */
  archiveGroup: string | undefined;
  /** Undefined when no object lies loose. */
  fileIndex: { name: string; size: number } | undefined;
  /** Objects that lie loose. */
  looseCount: number;
}

/** Writes a whole object of a CDN folder, durably. @throws E_STORE_FULL, E_STORE */
export function putObject(out: string, name: ObjectName, bytes: Uint8Array): void {
  writeFileDurable(join(out, objectPath(name)), bytes, out);
}

/**
 * Appends encoded objects to archives, a new one when the last is full; what is larger than an archive may be lies loose.
 * An archive is named by its index, so it has a name of its own only when it is full. What the folder has already is listed, and not
 * written again. All that has a name is on disk. Needs `close`. Methods that write throw E_STORE_FULL and E_STORE.
 */
export class ArchiveWriter {
  readonly #folder: CdnFolder;
  readonly #kind: 'data' | 'patch';
  readonly #archiveBytes: number;
  readonly #earlier: EarlierObjects | undefined;
  readonly #archives: NamedArchive[] = [];
  readonly #loose: IndexEntry[] = [];
  readonly #files = new Set<DurableFile>();
  #open: DurableFile | undefined;
  #entries = new ArchiveEntries();

  /** @param archiveBytes size that no archive exceeds */
  constructor(folder: CdnFolder, kind: 'data' | 'patch', archiveBytes: number, earlier?: EarlierObjects) {
    this.#folder = folder;
    this.#kind = kind;
    this.#archiveBytes = archiveBytes;
    this.#earlier = earlier;
    addAll(this.#archives, earlier?.archives ?? []);
    addAll(this.#loose, earlier?.loose ?? []);
  }

  /** Where temporary files may lie. */
  get temporary(): string {
    return this.#folder.out;
  }

  /** Whether the folder had an object before. */
  has(ekey: string): boolean {
    return this.#earlier?.has(ekey) ?? false;
  }

  /** Takes an object that the folder does not have. */
  add(ekey: string, bytes: Uint8Array): void {
    if (bytes.length > this.#archiveBytes) this.addLoose(ekey, bytes);
    else this.#append(ekey, bytes);
  }

  #append(ekey: string, bytes: Uint8Array): void {
    const isFull = (this.#open?.size ?? 0) + bytes.length > this.#archiveBytes;
    if (isFull || this.#entries.count === mostEntries) this.endArchive();
    this.#open ??= new DurableFile(this.#folder.out);
    this.#entries.add(fromHex(ekey), bytes.length, this.#open.size);
    this.#open.append(bytes);
  }

  #listLoose(ekey: string, size: number): void {
    this.#loose.push({ ekey: fromHex(ekey), size, offset: 0, archive: 0 });
  }

  /** Takes an object that is to be an object of its own on the CDN. */
  addLoose(ekey: string, bytes: Uint8Array): void {
    putObject(this.#folder.out, this.#named(ekey), bytes);
    this.#listLoose(ekey, bytes.length);
  }

  /** Takes an object that grew in a file of {@link openFile} as one of its own. @param head written over its first bytes */
  addFile(ekey: string, file: DurableFile, head: Uint8Array): void {
    file.finish(join(this.#folder.out, objectPath(this.#named(ekey))), head);
    this.#listLoose(ekey, file.size);
    this.dropFile(file);
  }

  /** A file for an object that is too large for memory. */
  openFile(): DurableFile {
    const file = new DurableFile(this.#folder.out);
    this.#files.add(file);
    return file;
  }

  /** Lets go of a file that is not wanted any more. */
  dropFile(file: DurableFile): void {
    if (this.#files.delete(file)) file.close();
  }

  /** Ends the archive that is open, if one is: the next object begins another. */
  endArchive(): void {
    if (this.#open === undefined) return;
    const index = encodeArchiveIndex(this.#entries);
    // The index first: without it an archive looks like an object of its own, and a wrong one.
    this.#putIndex(index);
    this.#open.finish(join(this.#folder.out, objectPath(this.#named(index.name))));
    this.#endOpen();
    this.#archives.push({ name: index.name, indexSize: index.bytes.length });
    this.#entries = new ArchiveEntries();
  }

  /** Ends the last archive and writes the file index, step by step. */
  *finish(): Generator<void, DataObjects> {
    this.endArchive();
    // Of its own: there may be more archives afterwards.
    const archives = [...this.#archives.sort((a, b) => (a.name < b.name ? -1 : 1))];
    return {
      archives,
      archiveGroup: archives.length === 0 ? undefined : yield* this.#groupName(),
      fileIndex: this.#loose.length === 0 ? undefined : this.#putFileIndex(),
      looseCount: this.#loose.length,
    };
  }

  /** The indices are read again: together they may be larger than memory should be. */
  *#groupName(): Generator<void, string> {
    const group = new ArchiveGroupEncoder();
    const memory = new ReusedBytes();
    for (const { name } of this.#archives) {
      yield;
      const path = join(this.#folder.out, objectPath({ ...this.#named(name), suffix: '.index' }));
      group.add(
        decodeArchiveIndex(
          reading(path, () => readWhole(path, memory)),
          name,
        ),
      );
    }
    const pieces = group.encode();
    for (;;) {
      yield;
      const piece = pieces.next();
      if (piece.done === true) return piece.value;
    }
  }

  /** Lets go of what is not finished. */
  close(): void {
    this.#endOpen();
    for (const file of this.#files) this.dropFile(file);
  }

  #endOpen(): void {
    this.#open?.close();
    this.#open = undefined;
  }

  #putIndex({ name, bytes }: NamedIndex): void {
    putObject(this.#folder.out, { ...this.#named(name), suffix: '.index' }, bytes);
  }

  #putFileIndex(): { name: string; size: number } {
    const index = encodeArchiveIndex(this.#loose, { offsetBytes: 0 });
    this.#putIndex(index);
    return { name: index.name, size: index.bytes.length };
  }

  #named(hash: string): ObjectName {
    return { cdnPath: this.#folder.cdnPath, kind: this.#kind, hash };
  }
}

/** Entries of an archive at most: whoever reads its index, or writes it, has it in memory. */
const mostEntries = 1 << 18;
const keySize = 16;

/** The entries of an archive, as rows of key, size and offset: of small files there are a million. */
class ArchiveEntries implements Iterable<IndexEntry> {
  readonly #rows = new GrowingRecords(keySize + 8);

  get count(): number {
    return this.#rows.count;
  }

  add(ekey: Uint8Array, size: number, offset: number): void {
    const row = this.#rows.at(this.#rows.add());
    row.set(ekey);
    writeU32(row, keySize, size);
    writeU32(row, keySize + 4, offset);
  }

  *[Symbol.iterator](): Generator<IndexEntry> {
    for (let i = 0; i < this.#rows.count; i++) {
      const row = this.#rows.at(i);
      yield { ekey: row.subarray(0, keySize), size: u32At(row, keySize), offset: u32At(row, keySize + 4), archive: 0 };
    }
  }
}
