import { join } from 'node:path';
import { resultUnless } from '../../core/errors.ts';
import { namesIn } from '../../files/walk.ts';
import { isLacking, readDerived } from '../../store/derived/derived-file.ts';
import type { LookupFolders } from '../../store/layout.ts';

/*
 * The list of names, as files under names/. All of one version share a BASE:
 *
 *   listfile.json   {"base": BASE, "url": where the list of the last update came from, "sorted": true}
 *   BASE.names      what was imported, as `id;name` lines sorted by the bytes of the names, so that what is listed in the order of its offsets is
 *                   sorted. Where listfile.json does not say sorted, there may be names in front of them that an id had before it was
 *                   named again in the same list: the last line of an id counts
 *   BASE.ids        u32 id, u40 offset of the name in BASE.names, u16 its bytes, u64 name hash  sorted by id, one row an id
 *   BASE.hashes     u64 name hash, u40 offset, u16 bytes, u32 id (0xffffffff: none)             sorted by hash
 *   BASE.updated    the set of ids whose names came with the last update; only where there was one
 *
 * A new version is written whole before listfile.json names it, so whatever happens there is one whose files fit; before the first is written it
 * names none. All are derived files.
 * Of BASE.names the others are made again; it can only be imported again. Earlier versions had BASE.txt in its place, which was not sorted. Without listfile.json the newest BASE is the one in use.
 */

/** Bytes of a row of BASE.ids and of BASE.hashes, and what stands for no id. */
export const listfileRows = { idStride: 19, hashStride: 19, noId: 0xffffffff } as const;

/** The ending of the text of a version. */
export const textEnding = '.names';

/** The base of no version. */
export const noBase = '';

/** Which version of the list is the one in use. */
export interface ListfileVersion {
  base: string;
  url?: string | undefined;
  /** No name stands in front of the sorted ones, as earlier versions left them; so it is of each that is imported now. */
  sorted?: true | undefined;
}

/** The files of a version. */
export function listfilePaths(
  folders: LookupFolders,
  base: string,
): Record<'text' | 'unsorted' | 'ids' | 'hashes' | 'updated', string> {
  const path = join(folders.names, base);
  return {
    text: `${path}${textEnding}`,
    unsorted: `${path}.txt`,
    ids: `${path}.ids`,
    hashes: `${path}.hashes`,
    updated: `${path}.updated`,
  };
}

/** The file that names the version in use. */
export function listfilePointer(folders: LookupFolders): string {
  return join(folders.names, 'listfile.json');
}

/** The version that a file of the list belongs to; undefined for another file. */
export function listfileBase(name: string): string | undefined {
  return /^(listfile(?:-[\w-]+)?)\.(?:names|txt|ids|hashes|updated)$/.exec(name)?.[1];
}

/** The version in use; undefined when no names were imported. @param options.keep leave a damaged listfile.json @throws E_STORE */
export function listfileVersion(folders: LookupFolders, options?: { keep: boolean }): ListfileVersion | undefined {
  const bytes = resultUnless(isLacking, () => readDerived(listfilePointer(folders), options));
  if (bytes !== undefined) {
    const version = JSON.parse(new TextDecoder().decode(bytes)) as ListfileVersion;
    return version.base === noBase ? undefined : version;
  }
  const names = namesIn(folders.names).filter((name) => listfileBase(name) !== undefined);
  // Their names begin with the time: the newest sorts last. One without its text is told to be damaged.
  const newest = names.filter((name) => /\.(?:names|txt)$/.test(name)).at(-1) ?? names.at(-1);
  const base = newest && listfileBase(newest);
  return base === undefined ? undefined : { base };
}
