import { join } from 'node:path';
import { fromHex, toHex } from '../../core/bytes.ts';
import { DurableFile, writeFileDurable } from '../../files/durable.ts';
import { encodeArchiveGroup } from '../../formats/indices/archive-group.ts';
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

/** Objects that a folder has already: archives with their indices, and those that lie loose. */
export interface EarlierObjects {
  indices: readonly NamedIndex[];
  loose: readonly IndexEntry[];
}

/** The data objects, or the patches, of a build as its CDN config lists them. */
export interface DataObjects {
  /** In the order of their names, which is the order of the CDN config. */
  archives: { name: string; indexSize: number }[];
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
  readonly #held = new Set<string>();
  readonly #indices: NamedIndex[] = [];
  readonly #loose: IndexEntry[] = [];
  readonly #files = new Set<DurableFile>();
  #open: DurableFile | undefined;
  #entries: IndexEntry[] = [];

  /** @param archiveBytes size that no archive exceeds */
  constructor(folder: CdnFolder, kind: 'data' | 'patch', archiveBytes: number, earlier?: EarlierObjects) {
    this.#folder = folder;
    this.#kind = kind;
    this.#archiveBytes = archiveBytes;
    if (earlier === undefined) return;
    this.#indices.push(...earlier.indices);
    this.#loose.push(...earlier.loose);
    const entries = [...earlier.indices.flatMap(({ bytes }) => [...decodeArchiveIndex(bytes)]), ...earlier.loose];
    for (const { ekey } of entries) this.#held.add(toHex(ekey));
  }

  /** Whether the folder has an object. */
  has(ekey: string): boolean {
    return this.#held.has(ekey);
  }

  /** Takes an object that the folder does not have. */
  add(ekey: string, bytes: Uint8Array): void {
    if (bytes.length > this.#archiveBytes) this.addLoose(ekey, bytes);
    else this.#append(ekey, bytes);
  }

  #append(ekey: string, bytes: Uint8Array): void {
    if ((this.#open?.size ?? 0) + bytes.length > this.#archiveBytes) this.endArchive();
    this.#open ??= new DurableFile(this.#folder.out);
    this.#listed(this.#entries, ekey, bytes.length, this.#open.size);
    this.#open.append(bytes);
  }

  #listed(entries: IndexEntry[], ekey: string, size: number, offset: number): void {
    this.#held.add(ekey);
    entries.push({ ekey: fromHex(ekey), size, offset, archive: 0 });
  }

  /** Takes an object that is to be an object of its own on the CDN. */
  addLoose(ekey: string, bytes: Uint8Array): void {
    putObject(this.#folder.out, this.#named(ekey), bytes);
    this.#listed(this.#loose, ekey, bytes.length, 0);
  }

  /** Takes an object that grew in a file of {@link openFile} as one of its own. @param head written over its first bytes */
  addFile(ekey: string, file: DurableFile, head: Uint8Array): void {
    file.finish(join(this.#folder.out, objectPath(this.#named(ekey))), head);
    this.#listed(this.#loose, ekey, file.size, 0);
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
    this.#open.finish(join(this.#folder.out, objectPath(this.#named(index.name))));
    this.#endOpen();
    this.#putIndex(index);
    this.#indices.push(index);
    this.#entries = [];
  }

  /** Ends the last archive and writes the file index. */
  finish(): DataObjects {
    this.endArchive();
    const indices = this.#indices.sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      archives: indices.map(({ name, bytes }) => ({ name, indexSize: bytes.length })),
      archiveGroup:
        indices.length === 0
          ? undefined
          : encodeArchiveGroup(indices.map(({ bytes, name }) => decodeArchiveIndex(bytes, name))).name,
      fileIndex: this.#loose.length === 0 ? undefined : this.#putFileIndex(),
      looseCount: this.#loose.length,
    };
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
