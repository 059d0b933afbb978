import * as fs from 'node:fs';
import { join } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { u32At, uintAt } from '../../core/bytes.ts';
import { Numbered } from '../../core/tables/numbered.ts';
import { ByteWriter } from '../../core/writer.ts';
import { reading, readOwn } from '../../files/read-at.ts';
import { SortedTexts } from '../../files/sorted/sorted-texts.ts';
import { refuseUnnamed, walk } from '../../files/walk.ts';
import { localeFlag } from '../../formats/roots/locale.ts';
import type { PublishFile } from './publish-file.ts';

/** A file of a folder that is to be published. */
export interface FolderFile extends PublishFile {
  /** Where it lies. */
  path: string;
}

/**
 * The files below a folder, sorted by path; links are passed over. A folder at the top that is named as a locale holds the variants for it:
 * `deDE/texts/story.txt` is `texts/story.txt` for deDE.
 */
export function listFolderFiles(folder: string): FolderFile[] {
  const names = [...walk(folder, { onPassed: refuseUnnamed })].flatMap(({ name, isLink }) => (isLink ? [] : [name]));
  return names.sort().map((name) => folderFile(folder, name));
}

/** A file of a folder that is listed, but for its content. */
export interface ListedFile<Facts> {
  name: string;
  size: number;
  facts: Facts;
}

/** The files below a folder, on disk: what is wanted first comes first, and then they lie in the order of their names. Needs `close`. */
export class ListedFolder<Facts extends { priority?: number | undefined }> {
  count = 0;
  /** Of all, in bytes. */
  size = 0;
  /** How many links there are, which are left out. */
  links = 0;
  readonly #names: SortedTexts;
  readonly #facts = new Numbered<Facts>();

  private constructor(temporary: string) {
    this.#names = new SortedTexts(temporary);
  }

  /**
   * Lists a folder.
   * @param factsOf what is said of a name
   * @throws E_NOT_FOUND, E_STORE_FULL, E_STORE, E_ABORTED, E_USAGE for a name that is not UTF-8; as `factsOf` does
   */
  static async open<Facts extends { priority?: number | undefined }>(
    folder: string,
    factsOf: (name: string) => Facts,
    { temporary, signal }: { temporary: string; signal: AbortSignal | undefined },
  ): Promise<ListedFolder<Facts>> {
    const listed = new ListedFolder<Facts>(temporary);
    try {
      for (const { name, isLink } of walk(folder, { onPassed: refuseUnnamed, largeUnsorted: true })) {
        await breathe(signal);
        if (isLink) listed.links += 1;
        else listed.#add(folder, name, factsOf(name));
      }
      return listed;
    } catch (error) {
      listed.close();
      throw error;
    }
  }

  #add(folder: string, name: string, facts: Facts): void {
    const path = join(folder, name);
    const { size } = reading(path, () => fs.statSync(path));
    const beside = new ByteWriter(sizeBytes + 4).uint(size, sizeBytes).u32(this.#facts.numberOf(facts)).written;
    this.#names.add(String.fromCharCode((facts.priority ?? 0) - leastPriority) + name, beside);
    this.count += 1;
    this.size += size;
  }

  *[Symbol.iterator](): Generator<ListedFile<Facts>> {
    for (const { text, beside } of this.#names.rows()) {
      const [size, facts] = [uintAt(beside, 0, sizeBytes), this.#facts.at(u32At(beside, sizeBytes))];
      yield { name: text.toString().slice(1), size, facts };
    }
  }

  /** Forgets everything. */
  close(): void {
    this.#names.close();
  }
}

const sizeBytes = 6;
/** A priority stands before the name as a character, so that it decides. */
const leastPriority = -128;

/** A file of a folder. */
export function fileIn(folder: string, name: string): FolderFile {
  const path = join(folder, name);
  return { name, path, read: () => readWhole(path) };
}

function readWhole(path: string): Uint8Array {
  return reading(path, () => readOwn(path));
}

function folderFile(folder: string, inside: string): FolderFile {
  const file = fileIn(folder, inside);
  const [top = '', ...rest] = inside.split('/');
  return rest.length > 0 && isLocale(top) ? { ...file, name: rest.join('/'), locale: top } : file;
}

function isLocale(name: string): boolean {
  try {
    localeFlag(name);
    return /^[a-z]{2}[A-Z]{2}$/.test(name);
  } catch {
    return false;
  }
}
