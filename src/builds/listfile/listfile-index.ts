import { existsSync, rmSync } from 'node:fs';
import { breathe } from '../../core/breathe.ts';
import { asBuffer } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import type { NeededText } from '../../core/glob.ts';
import { nameHash } from '../../core/jenkins.ts';
import { TextWindows } from '../../files/text-windows.ts';
import { DerivedFile, damagedFile, isLacking, openDerived } from '../../store/derived/derived-file.ts';
import { LookupFile } from '../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { type ListfileVersion, listfilePaths, listfileRows, listfileVersion } from './listfile-paths.ts';
import { linesOf, type NamePlace, namesOf, type TextName } from './listfile-text.ts';
import type { TextRange } from './name-ranges.ts';
import { offsetsOf, partsOf } from './search-names.ts';
import { remakeLookups, sortText } from './write/listfile-writer.ts';

const { idStride, hashStride, noId } = listfileRows;

/** The place of a name, with its id. */
interface ListedName extends NamePlace {
  fileDataId: number | undefined;
}

/** An id with the place of its name, and the two halves of the name's hash. */
export interface ListedId extends NamePlace {
  fileDataId: number;
  high: number;
  low: number;
}

/** The imported names. An open handle; needs `close`. What reads the text throws E_FORMAT_CHECKSUM where that is damaged. */
export class ListfileIndex {
  readonly #text: DerivedFile;
  /** The rows of BASE.ids and of BASE.hashes. */
  readonly ids: LookupFile;
  readonly hashes: LookupFile;
  readonly #isSorted: boolean;

  private constructor(folders: LookupFolders, { base, sorted }: ListfileVersion) {
    this.#isSorted = sorted === true;
    const paths = listfilePaths(folders, base);
    const opened: { close(): void }[] = [];
    const keep = <File extends { close(): void }>(file: File): File => {
      opened.push(file);
      return file;
    };
    try {
      this.#text = keep(openText(paths.text));
      const of = this.#text.mark;
      this.ids = keep(new LookupFile(paths.ids, { stride: idStride, of }));
      this.hashes = keep(new LookupFile(paths.hashes, { stride: hashStride, of }));
    } catch (error) {
      for (const file of opened) file.close();
      throw error;
    }
  }

  /**
   * Opens the imported names, or undefined when none were imported. What was derived of the text is made again where it lacks.
   * @throws E_FORMAT_CHECKSUM when the text itself is damaged or gone, E_STORE…
   */
  static async open(folders: LookupFolders): Promise<ListfileIndex | undefined> {
    for (;;) {
      const version = listfileVersion(folders);
      if (version === undefined) return undefined;
      try {
        return await ListfileIndex.openVersion(folders, version);
      } catch (error) {
        // While it was being opened another one came into use.
        if (damagedList(error) === undefined || listfileVersion(folders)?.base === version.base) throw error;
      }
    }
  }

  /** Opens one version. @throws as {@link open} */
  static async openVersion(folders: LookupFolders, version: ListfileVersion): Promise<ListfileIndex> {
    const { base } = version;
    await sortEarlier(folders, base);
    return openDerived(
      () => new ListfileIndex(folders, version),
      async () => {
        const text = openText(listfilePaths(folders, base).text);
        try {
          await ofText(text.path, () => remakeLookups(folders, base, text));
        } finally {
          text.close();
        }
      },
    );
  }

  close(): void {
    this.#text.close();
    this.ids.close();
    this.hashes.close();
  }

  /** Checks all of it, for those who go through all names. @throws E_FORMAT_CHECKSUM */
  async checkAll(): Promise<void> {
    await ofText(this.#text.path, async () => {
      for (const file of [this.#text, this.ids, this.hashes]) for (const _ of file.checkAll()) await breathe();
    });
  }

  /** Tells this version from any other. */
  get mark(): number {
    return this.#text.mark;
  }

  /** The name at a place. */
  nameAt(place: NamePlace): string {
    return asBuffer(this.bytesAt(place)).toString('utf8');
  }

  /** The bytes of the name at a place; a view that is not to be written to. */
  bytesAt({ at, size }: NamePlace): Uint8Array {
    try {
      return this.#text.read(at, size);
    } catch (error) {
      throw listError(this.#text.path, error);
    }
  }

  /** Reads names at places that follow one another. For those who called {@link checkAll} or {@link offsetsOf}. */
  nameReader(): (place: NamePlace) => string {
    const text = new TextWindows((memory, offset) => this.#text.readSome(memory, offset));
    return ({ at, size }) => text.read(at, size);
  }

  /** The name of an id, or undefined. */
  find(fileDataId: number): ListedId | undefined {
    for (const row of this.ids.findNumber(fileDataId)) return listedId(asBuffer(row), 0);
    return undefined;
  }

  /** The names with this 8-byte hash, as {@link nameHash} gives it. */
  namesOfHash(hash: Uint8Array): ListedName[] {
    return Array.from(this.hashes.find(hash), listedName);
  }

  /** The listed id of a name, whatever its case and slashes. */
  idOf(name: string): number | undefined {
    return this.namesOfHash(nameHash(name)).find((listed) => listed.fileDataId !== undefined)?.fileDataId;
  }

  /** All ids, in order. For those who called {@link checkAll}. */
  *listedIds(): Generator<ListedId> {
    for (const rows of this.ids.tables()) {
      const view = asBuffer(rows.bytes);
      for (let at = 0; at < view.length; at += idStride) yield listedId(view, at);
    }
  }

  /** The offsets of the names that have one of some texts, ascending. It checks what it goes through: these names can be read after it. @throws E_FORMAT_CHECKSUM */
  async offsetsOf(needed: readonly NeededText[]): Promise<Float64Array> {
    try {
      return await offsetsOf(this.#text, needed, { isSorted: this.#isSorted });
    } catch (error) {
      throw listError(this.#text.path, error);
    }
  }

  /**
   * The parts of the text where the names are that begin with one of some texts, ascending; all of it where they may begin otherwise.
   * @returns undefined where the names are not all sorted. @throws E_FORMAT_CHECKSUM
   */
  rangesOf(needed: readonly NeededText[] | undefined): TextRange[] | undefined {
    if (!this.#isSorted) return undefined;
    try {
      return partsOf(this.#text, needed);
    } catch (error) {
      throw listError(this.#text.path, error);
    }
  }

  /** All lines of the text: the names by their bytes, each with its id. */
  names(): Generator<TextName> {
    return namesOf(this.#text);
  }

  /** As {@link names}, as bytes. */
  lines(): ReturnType<typeof linesOf> {
    return linesOf(this.#text);
  }
}

/** A row of BASE.ids. */
function listedId(view: Buffer, at: number): ListedId {
  return {
    fileDataId: view.readUInt32BE(at),
    at: view.readUIntBE(at + 4, 5),
    size: view.readUInt16BE(at + 9),
    high: view.readUInt32BE(at + 11),
    low: view.readUInt32BE(at + 15),
  };
}

/** A row of BASE.hashes. */
export function listedName(row: Uint8Array): ListedName {
  const view = asBuffer(row);
  const id = view.readUInt32BE(15);
  return { at: view.readUIntBE(8, 5), size: view.readUInt16BE(13), fileDataId: id === noId ? undefined : id };
}

/** A list that an earlier version imported is sorted once. */
async function sortEarlier(folders: LookupFolders, base: string): Promise<void> {
  const { text, unsorted } = listfilePaths(folders, base);
  if (existsSync(text) || !existsSync(unsorted)) return;
  try {
    const file = openText(unsorted);
    try {
      await ofText(unsorted, () => sortText(folders, base, file));
    } finally {
      file.close();
    }
    rmSync(unsorted, { force: true });
  } catch (error) {
    // Another process may have done it meanwhile.
    if (!existsSync(text)) throw error;
  }
}

/** The text is kept whatever it is: nothing can make it again, and a person may want to save what is left. */
function openText(path: string): DerivedFile {
  try {
    return new DerivedFile(path, { keep: true });
  } catch (error) {
    throw listError(path, error);
  }
}

/** Runs work that reads the text. @throws what {@link listError} makes of it */
async function ofText(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw listError(path, error);
  }
}

/** An error about the text becomes that of a list that is lost; any other stays. */
function listError(path: string, error: unknown): unknown {
  const isText = damagedFile(error) === path || (isLacking(error) && damagedFile(error) === undefined);
  if (!isText) return error;
  return new PakratError('E_FORMAT_CHECKSUM', `the imported list of names is damaged: ${path}`, {
    hint: 'Import it again: `pakrat listfile import FILE`, or `pakrat listfile update`.',
    data: { list: path },
    cause: error,
  });
}

/** The text that an error says is damaged, or undefined. */
export function damagedList(error: unknown): string | undefined {
  const { list } = (error as Partial<PakratError> | undefined)?.data ?? {};
  return typeof list === 'string' ? list : undefined;
}

/**
 * Opens the imported names for those who may not need them.
 * @returns a function that gives them, and throws when their text is damaged
 * @throws as `open`, save for a damaged text
 */
export async function namesWhenNeeded(
  open: () => Promise<ListfileIndex | undefined>,
): Promise<() => ListfileIndex | undefined> {
  try {
    const index = await open();
    return () => index;
  } catch (error) {
    if (damagedList(error) === undefined) throw error;
    return () => {
      throw error;
    };
  }
}

/** The places of the names of ids that are asked for in ascending order: both lists are gone through once. Undefined for an id without a name. */
export function listedNames(listfile: ListfileIndex | undefined): (fileDataId: number) => ListedId | undefined {
  const names = listfile?.listedIds();
  let listed = names?.next().value;
  return (fileDataId) => {
    while (listed && listed.fileDataId < fileDataId) listed = names?.next().value;
    return listed && listed.fileDataId === fileDataId ? listed : undefined;
  };
}
