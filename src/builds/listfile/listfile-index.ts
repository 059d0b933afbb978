import * as fs from 'node:fs';
import { join } from 'node:path';
import { asBuffer } from '../../core/bytes.ts';
import { codeOf } from '../../core/errors.ts';
import { nameHash } from '../../core/jenkins.ts';
import { readAt } from '../../files/read-at.ts';
import { TextWindows } from '../../files/text-windows.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { LookupFile } from '../../store/lookup-file.ts';

/*
 * The list of names, as files under names/. All of one version share a BASE:
 *
 *   listfile.json   {"base": BASE, "url": where the list of the last update came from}; without it BASE is `listfile`
 *   BASE.txt        the rows as `id;name` lines: of the last import, then of older ones whose ids it did not have
 *   BASE.ids        u32 id, u40 offset of the name in BASE.txt, u16 its bytes       sorted by id, one row an id
 *   BASE.hashes     u64 name hash, u40 offset, u16 bytes, u32 id (0xffffffff: none) sorted by hash
 *   BASE.updated    the set of ids whose names came with the last update; only where there was one
 *
 * A new version is written whole before listfile.json names it, so whatever happens there is one whose files fit.
 */

/** Bytes of a row of BASE.ids and of BASE.hashes, and what stands for no id. */
export const listfileRows = { idStride: 11, hashStride: 19, noId: 0xffffffff } as const;
const { idStride, noId } = listfileRows;

interface ListedName {
  name: string;
  fileDataId: number | undefined;
}

/** Which version of the list is the one in use. */
export interface ListfileVersion {
  base: string;
  url?: string | undefined;
}

/** The files of a version. */
export function listfilePaths(
  folders: LookupFolders,
  base: string,
): Record<'text' | 'ids' | 'hashes' | 'updated', string> {
  const path = join(folders.names, base);
  return { text: `${path}.txt`, ids: `${path}.ids`, hashes: `${path}.hashes`, updated: `${path}.updated` };
}

/** The file that names the version in use. */
export function listfilePointer(folders: LookupFolders): string {
  return join(folders.names, 'listfile.json');
}

/** The version in use. */
export function listfileVersion(folders: LookupFolders): ListfileVersion {
  try {
    const { base, url } = JSON.parse(fs.readFileSync(listfilePointer(folders), 'utf8')) as Partial<ListfileVersion>;
    if (typeof base === 'string' && /^listfile[\w-]*$/.test(base)) return { base, url };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && (error as Error).name !== 'SyntaxError') throw error;
  }
  return { base: 'listfile' };
}

/** The imported names. An open handle; needs `close`. */
export class ListfileIndex {
  readonly #fd: number;
  /** The rows of BASE.ids and of BASE.hashes. */
  readonly ids: LookupFile;
  readonly hashes: LookupFile;

  private constructor(fd: number, ids: LookupFile, hashes: LookupFile) {
    this.#fd = fd;
    this.ids = ids;
    this.hashes = hashes;
  }

  /** Opens the imported names, or undefined when none were imported. */
  static open(folders: LookupFolders): ListfileIndex | undefined {
    for (;;) {
      const { base } = listfileVersion(folders);
      try {
        return ListfileIndex.openVersion(folders, base);
      } catch (error) {
        // While it was being opened another one came into use.
        if (codeOf(error) === 'ENOENT' && listfileVersion(folders).base !== base) continue;
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    }
  }

  /** Opens one version. @throws ENOENT as it comes */
  static openVersion(folders: LookupFolders, base: string): ListfileIndex {
    const paths = listfilePaths(folders, base);
    const fd = fs.openSync(paths.text, 'r');
    let ids: LookupFile | undefined;
    try {
      ids = new LookupFile(paths.ids);
      return new ListfileIndex(fd, ids, new LookupFile(paths.hashes));
    } catch (error) {
      ids?.close();
      fs.closeSync(fd);
      throw error;
    }
  }

  close(): void {
    fs.closeSync(this.#fd);
    this.ids.close();
    this.hashes.close();
  }

  #name(row: Uint8Array, at: number): string {
    const view = asBuffer(row);
    const bytes = readAt(this.#fd, view.readUIntBE(at, 5), view.readUInt16BE(at + 5), 'names');
    return asBuffer(bytes).toString('utf8');
  }

  /** The name of an id, or undefined. */
  nameOf(fileDataId: number): string | undefined {
    for (const row of this.ids.findNumber(fileDataId)) return this.#name(row, 4);
    return undefined;
  }

  /** The names with this 8-byte hash, as {@link nameHash} gives it. */
  namesOfHash(hash: Uint8Array): ListedName[] {
    return [...this.hashes.find(hash)].map((row) => this.listedName(row));
  }

  /** The name that a row of {@link hashes} stands for. */
  listedName(row: Uint8Array): ListedName {
    const id = asBuffer(row).readUInt32BE(15);
    return { name: this.#name(row, 8), fileDataId: id === noId ? undefined : id };
  }

  /** The listed id of a name, whatever its case and slashes. */
  idOf(name: string): number | undefined {
    return this.namesOfHash(nameHash(name)).find((listed) => listed.fileDataId !== undefined)?.fileDataId;
  }

  /** All ids with their names, in the order of ids. */
  *names(): Generator<{ fileDataId: number; name: string }> {
    const text = new TextWindows(this.#fd);
    for (const rows of this.ids.tables()) {
      const view = asBuffer(rows.bytes);
      for (let at = 0; at < view.length; at += idStride) {
        yield {
          fileDataId: view.readUInt32BE(at),
          name: text.read(view.readUIntBE(at + 4, 5), view.readUInt16BE(at + 9)),
        };
      }
    }
  }
}

/** The listed names of ids that are asked for in ascending order: both lists are gone through once. Undefined for an id without a name. */
export function listedNames(listfile: ListfileIndex | undefined): (fileDataId: number) => string | undefined {
  const names = listfile?.names();
  let listed = names?.next().value;
  return (fileDataId) => {
    while (listed && listed.fileDataId < fileDataId) listed = names?.next().value;
    return listed && listed.fileDataId === fileDataId ? listed.name : undefined;
  };
}
