import * as fs from 'node:fs';
import type { ByteSource } from '../../core/byte-source.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import { fileSource } from '../../files/file-source.ts';
import { findPakFamily, openPak } from '../../paks/index.ts';
import type { NamedKey } from '../../paks/nadeo/open.ts';
import type { Pak, PakOptions } from '../../paks/pak.ts';
import type { QuakeEngine } from '../../paks/quake/folder.ts';

/** What may be told about a local source, for all families together; each takes what is its own. Plain data, for it travels to threads. */
export interface LocalOptions extends PakOptions {
  /** Whose search path a game directory has. */
  engine?: QuakeEngine | undefined;
  /** Game directories beside the first. */
  games?: readonly string[] | undefined;
  /** Base keys of NadeoPaks by name. */
  namedKeys?: readonly NamedKey[];
  /** The LZ4 dictionary of NadeoPak 18. */
  lz4Dictionary?: Uint8Array;
  /** Real names of files that a NadeoPak stores under a hash. */
  hashedNames?: readonly string[];
  /** Look for more of them in the pack's own files. */
  resolveNames?: boolean;
}

/** A PAK file or a folder of PAKs, with how it is read. */
export interface LocalPlace {
  path: string;
  kind: 'file' | 'quake-folder' | 'unreal-folder';
  options: LocalOptions;
}

/**
 * What a local path is: by content, never by name.
 * @throws E_NOT_FOUND, E_FORMAT_MAGIC for a folder that holds no PAK
 */
export async function findLocal(path: string, options: LocalOptions): Promise<LocalPlace> {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new PakratError('E_NOT_FOUND', `there is no ${path}`, { data: { path } });
  if (!stat.isDirectory()) return { path, kind: 'file', options };
  const { isQuakeFolder } = await import('../../paks/quake/folder.ts');
  const { isUnrealFolder } = await import('../../paks/unreal/folder.ts');
  const isAskedFor = options.engine !== undefined || (options.games?.length ?? 0) > 0;
  if (isAskedFor || isQuakeFolder(path)) return { path, kind: 'quake-folder', options };
  if (await isUnrealFolder(path)) return { path, kind: 'unreal-folder', options };
  throw notAPakFolder(path);
}

function notAPakFolder(path: string): PakratError {
  return new PakratError('E_FORMAT_MAGIC', `${path} is a folder without a PAK of a known family in it`, {
    hint: 'Name a PAK file, a game directory of Quake (with pak0.pak, or id1 or baseq2 in it), a Paks folder of an Unreal game, an installed game (with .build.info) or a folder that is laid out as a CDN.',
    data: { path },
  });
}

/** Opens a local source. Needs `close`. Throws as the families do, and E_NOT_FOUND or E_STORE when a file cannot be opened. */
export async function openLocal({ path, kind, options }: LocalPlace): Promise<Pak> {
  if (kind === 'quake-folder') return (await import('../../paks/quake/folder.ts')).openQuakeFolder(path, options);
  if (kind === 'unreal-folder') return (await import('../../paks/unreal/folder.ts')).openUnrealFolder(path, options);
  return openLocalSource(await fileSource(path), options);
}

/** Opens a PAK over bytes that are there already; they belong to it from then on, and are closed when it cannot be opened. */
export async function openLocalSource(source: ByteSource, options: LocalOptions): Promise<Pak> {
  try {
    const pak = await openPak(source, options);
    if (options.resolveNames === true) await pak.resolveNames?.();
    return pak;
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** True when a file is a PAK of this family; false when it cannot be opened. */
export async function isOfFamily(path: string, family: string): Promise<boolean> {
  let source: ByteSource | undefined;
  try {
    source = await fileSource(path);
    return (await findPakFamily(source))?.name === family;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return false;
  } finally {
    await source?.close();
  }
}
