import * as fs from 'node:fs';
import { join } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { fromHex, toHex, u32At } from '../../core/bytes.ts';
import { isNotFound, PakratError } from '../../core/errors.ts';
import { firstNot } from '../../core/sorting/first-not.ts';
import { giveBack, largeBytes, ReusedBytes } from '../../core/tables/large-bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { reading, readOwn, readWhole, withReads } from '../../files/read-at.ts';
import type { CdnConfig } from '../../formats/configs/cdn-config.ts';
import { decodeArchiveIndex, findInPage, type IndexEntry } from '../../formats/indices/archive-index.ts';
import type { IndexLayout } from '../../formats/indices/index-layout.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import { checkObject } from '../../verify/check-object.ts';
import type { CdnFolder, EarlierObjects, NamedArchive } from '../objects/archive-writer.ts';

/** An archive. Of its index there are the last key of each page in memory. */
interface Archive extends NamedArchive {
  layout: IndexLayout;
  lastKeys: RecordTable;
}

/** Where the bytes of an object lie. */
export interface ObjectPlace {
  path: string;
  offset: number;
  size: number;
}

/** What stands for an archive where an object lies loose; no CDN config has so many archives. */
const loosely = 0xffff;
/** Numbers of archives, with that one. */
const archiveNumbers = 0x10000;

/** The objects that a CDN folder has of the builds of a product. All indices were checked; of each of their entries eight bytes are in memory. */
export class FolderObjects implements EarlierObjects {
  readonly archives: readonly Archive[];
  readonly loose: readonly IndexEntry[];
  readonly #folder: CdnFolder;
  /** How the key of each begins, four bytes of it, and the number of its archive, as one number; ascending. */
  readonly #starts: Float64Array;

  private constructor(folder: CdnFolder, found: Pick<FolderObjects, 'archives' | 'loose'>, starts: Float64Array) {
    this.#folder = folder;
    this.archives = found.archives;
    this.loose = found.loose;
    this.#starts = starts;
  }

  /** Reads the indices that a CDN config names. @throws E_FORMAT…, E_INTEGRITY, E_NOT_FOUND where something is damaged or not there; E_STORE, E_ABORTED */
  static async open(
    folder: CdnFolder,
    { archives: names, fileIndex }: CdnConfig,
    signal: AbortSignal | undefined,
  ): Promise<FolderObjects> {
    const archives: Archive[] = [];
    const starts: Float64Array[] = [];
    const memory = new ReusedBytes();
    for (const [number, name] of names.entries()) {
      await breathe(signal);
      const index = decodeArchiveIndex(readObject(folder, indexOf(name), memory), name);
      const { bytes, stride, count } = index.toc.lastKeys;
      // Copies: the next index takes its memory.
      const lastKeys = new RecordTable(bytes.slice(0, stride * count), stride, count);
      archives.push({ name, indexSize: index.bytes.length, layout: index.layout, lastKeys });
      const own = numbers(index.count);
      for (let i = 0; i < own.length; i++) own[i] = startOf(index.keyAt(i), number);
      starts.push(own);
      demandWhole(folder, name, index.dataEnd);
    }
    memory.giveBack();
    const loose =
      fileIndex === undefined ? [] : [...decodeArchiveIndex(readObject(folder, indexOf(fileIndex)), fileIndex)];
    starts.push(Float64Array.from(loose, ({ ekey }) => startOf(ekey, loosely)));
    for (const { ekey, size } of loose) demandWhole(folder, toHex(ekey), size);
    return new FolderObjects(folder, { archives, loose }, sorted(starts));
  }

  has(ekey: string): boolean {
    const key = fromHex(ekey);
    return this.#inArchive(key) !== undefined || this.#isLoose(key);
  }

  /** Where an object lies; a loose one is all of its file. @throws E_NOT_FOUND, E_STORE */
  placeOf(ekey: string): ObjectPlace {
    const found = this.#inArchive(fromHex(ekey));
    if (found !== undefined) return found;
    const path = pathIn(this.#folder, { kind: 'data', hash: ekey });
    return { path, offset: 0, size: sizeIn(this.#folder, path) };
  }

  #inArchive(key: Uint8Array): ObjectPlace | undefined {
    for (const number of this.#archivesOf(key)) {
      const archive = this.archives[number];
      if (archive === undefined) continue;
      const { name, layout, lastKeys } = archive;
      const page = lastKeys.lowerBound(key);
      if (page === layout.pageCount) continue;
      const [path, size] = [pathIn(this.#folder, indexOf(name)), layout.pageSize];
      const entry = findInPage(readPlace({ path, offset: page * size, size }), key, layout);
      if (entry === undefined) continue;
      return { path: pathIn(this.#folder, { kind: 'data', hash: name }), offset: entry.offset, size: entry.size };
    }
    return undefined;
  }

  #isLoose(key: Uint8Array): boolean {
    for (const number of this.#archivesOf(key))
      if (number === loosely) return this.loose.some((one) => Buffer.compare(one.ekey, key) === 0);
    return false;
  }

  /** The archives that have a key which begins like this one: mostly none or one. */
  *#archivesOf(key: Uint8Array): Generator<number> {
    const [start, end] = [startOf(key, 0), startOf(key, loosely)];
    const first = firstNot(0, this.#starts.length, (i) => this.#starts[i]! < start);
    for (let i = first; i < this.#starts.length && this.#starts[i]! <= end; i++) yield this.#starts[i]! - start;
  }
}

function startOf(key: Uint8Array, archive: number): number {
  return u32At(key, 0) * archiveNumbers + archive;
}

function sorted(parts: readonly Float64Array[]): Float64Array {
  const all = numbers(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
    giveBack(part);
  }
  return all.sort();
}

function numbers(count: number): Float64Array {
  return new Float64Array(largeBytes(8 * count).buffer, 0, count);
}

function indexOf(hash: string): Omit<ObjectName, 'cdnPath'> {
  return { kind: 'data', hash, suffix: '.index' };
}

/** All bytes of an object of a folder. @param memory as {@link readWhole} takes it @throws E_NOT_FOUND for one that it lacks, E_STORE */
function readObject(folder: CdnFolder, name: Omit<ObjectName, 'cdnPath'>, memory?: ReusedBytes): Uint8Array {
  const path = pathIn(folder, name);
  try {
    return reading(path, () => (memory === undefined ? readOwn(path) : readWhole(path, memory)));
  } catch (error) {
    throw isNotFound(error) ? lacks(folder, path) : error;
  }
}

/** As {@link readObject}, for a config, which its name proves. @throws E_INTEGRITY, too */
export function readConfig(folder: CdnFolder, hash: string): Uint8Array {
  const bytes = readObject(folder, { kind: 'config', hash });
  checkObject({ kind: 'config', hash }, bytes);
  return bytes;
}

/** @throws E_NOT_FOUND for an object that is not there, E_INTEGRITY for one that is cut */
function demandWhole(folder: CdnFolder, hash: string, size: number): void {
  const path = pathIn(folder, { kind: 'data', hash });
  const found = sizeIn(folder, path);
  if (found >= size) return;
  throw new PakratError('E_INTEGRITY', `${path} has ${found} bytes, the live build ${size}`, {
    hint: toPutBack,
    data: { path },
  });
}

/** @throws E_NOT_FOUND for a file that is not there, or is none */
function sizeIn(folder: CdnFolder, path: string): number {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) throw lacks(folder, path);
  return stat.size;
}

const toPutBack = 'Put it back, or publish into an empty folder.';

/** The bytes of a place. @throws E_FORMAT_TRUNCATED, E_NOT_FOUND, E_STORE */
export function readPlace({ path, offset, size }: ObjectPlace): Uint8Array {
  return reading(path, () => withReads(path, (read) => read(offset, size)));
}

function lacks({ out }: CdnFolder, path: string): PakratError {
  return new PakratError('E_NOT_FOUND', `the live build in ${out} lacks ${path}`, {
    hint: toPutBack,
    data: { path },
  });
}

function pathIn({ out, cdnPath }: CdnFolder, name: Omit<ObjectName, 'cdnPath'>): string {
  return join(out, objectPath({ cdnPath, ...name }));
}
