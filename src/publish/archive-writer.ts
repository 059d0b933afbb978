import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fromHex } from '../core/bytes.ts';
import { writeAll } from '../files/durable.ts';
import { encodeArchiveGroup } from '../formats/indices/archive-group.ts';
import { decodeArchiveIndex, encodeArchiveIndex, type IndexEntry } from '../formats/indices/archive-index.ts';
import type { NamedIndex } from '../formats/indices/index-layout.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';

/** Where objects of a CDN folder go. */
export interface CdnFolder {
  /** The folder that a web server serves. */
  out: string;
  /** Path of the product below it. */
  cdnPath: string;
}

/** The data objects of a build as its CDN config lists them. */
export interface DataObjects {
  /** In the order of their names, which is the order of the CDN config. */
  archives: { name: string; indexSize: number }[];
  /** Name of the group that readers make of the indices; undefined without archives. */
  archiveGroup: string | undefined;
  fileIndex: { name: string; size: number };
  /** Objects that lie loose. */
  looseCount: number;
}

/** Writes a whole object of a CDN folder. */
export function putObject(out: string, name: ObjectName, bytes: Uint8Array): void {
  const file = join(out, objectPath(name));
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, bytes);
}

/**
 * Appends encoded objects to archives, a new one when the last is full; what is larger than an archive may be lies loose.
 * An archive is named by its index, so it has a name of its own only when it is full. Needs `close`.
 */
export class ArchiveWriter {
  readonly #folder: CdnFolder;
  readonly #archiveBytes: number;
  readonly #indices: NamedIndex[] = [];
  readonly #loose: IndexEntry[] = [];
  readonly #temporary: string;
  #fd: number | undefined;
  #entries: IndexEntry[] = [];
  #size = 0;

  /** @param archiveBytes size that no archive exceeds */
  constructor(folder: CdnFolder, archiveBytes: number) {
    this.#folder = folder;
    this.#archiveBytes = archiveBytes;
    this.#temporary = join(folder.out, folder.cdnPath, `archive-${process.pid}.tmp`);
  }

  /** Takes an object. */
  add(ekey: string, bytes: Uint8Array): void {
    if (bytes.length > this.#archiveBytes) this.addLoose(ekey, bytes);
    else this.#append(ekey, bytes);
  }

  #append(ekey: string, bytes: Uint8Array): void {
    if (this.#size + bytes.length > this.#archiveBytes) this.#closeArchive();
    this.#fd ??= this.#openArchive();
    writeAll(this.#fd, bytes, this.#size);
    this.#entries.push({ ekey: fromHex(ekey), size: bytes.length, offset: this.#size, archive: 0 });
    this.#size += bytes.length;
  }

  /** Takes an object that is to be an object of its own on the CDN. */
  addLoose(ekey: string, bytes: Uint8Array): void {
    putObject(this.#folder.out, this.#data(ekey), bytes);
    this.#loose.push({ ekey: fromHex(ekey), size: bytes.length, offset: 0, archive: 0 });
  }

  /** Ends the last archive and writes the file index. */
  finish(): DataObjects {
    this.#closeArchive();
    const indices = this.#indices.sort((a, b) => (a.name < b.name ? -1 : 1));
    const fileIndex = encodeArchiveIndex(this.#loose, { offsetBytes: 0 });
    this.#putIndex(fileIndex);
    return {
      archives: indices.map(({ name, bytes }) => ({ name, indexSize: bytes.length })),
      archiveGroup:
        indices.length === 0
          ? undefined
          : encodeArchiveGroup(indices.map(({ bytes, name }) => decodeArchiveIndex(bytes, name))).name,
      fileIndex: { name: fileIndex.name, size: fileIndex.bytes.length },
      looseCount: this.#loose.length,
    };
  }

  /** Lets go of an archive that is not finished. */
  close(): void {
    if (this.#fd === undefined) return;
    fs.closeSync(this.#fd);
    this.#fd = undefined;
    fs.rmSync(this.#temporary, { force: true });
  }

  #openArchive(): number {
    fs.mkdirSync(dirname(this.#temporary), { recursive: true });
    return fs.openSync(this.#temporary, 'w');
  }

  #closeArchive(): void {
    if (this.#fd === undefined) return;
    const index = encodeArchiveIndex(this.#entries);
    const file = join(this.#folder.out, objectPath(this.#data(index.name)));
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.closeSync(this.#fd);
    this.#fd = undefined;
    fs.renameSync(this.#temporary, file);
    this.#putIndex(index);
    this.#indices.push(index);
    this.#entries = [];
    this.#size = 0;
  }

  #putIndex({ name, bytes }: NamedIndex): void {
    putObject(this.#folder.out, { ...this.#data(name), suffix: '.index' }, bytes);
  }

  #data(hash: string): ObjectName {
    return { cdnPath: this.#folder.cdnPath, kind: 'data', hash };
  }
}
