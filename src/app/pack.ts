import type { PakOptions } from '../paks/index.ts';
import type { PackResult } from '../paks/packing.ts';
import type { SortedFiles } from '../paks/sorted-files.ts';
import type { UnrealPackOptions } from '../paks/unreal/write/pack-plan.ts';
import { makePak, type PackOptions, type PackReport, type PackTarget, packKey } from '../sources/paks/make/make-pak.ts';
import type { NadeoHeaderOptions } from '../sources/paks/make/nadeo-pack-info.ts';
import { type PakOpenOptions, readPakOptions, withStoredKeys } from './session/pak-options.ts';

export type { PackOptions, PackReport } from '../sources/paks/make/make-pak.ts';
export type { NadeoHeaderOptions } from '../sources/paks/make/nadeo-pack-info.ts';

/** The form of an Unreal PAK. */
export interface PackUnrealOptions
  extends PackOptions,
    Pick<PakOpenOptions, 'oodle'>,
    Pick<UnrealPackOptions, 'compress' | 'blockSize' | 'mountPoint' | 'encryptIndex' | 'keyGuid' | 'exact'> {
  /** Version of the format: 1 to 12, `8A` or `8B`. Default 11. */
  version?: string | undefined;
  /** Hex, base64 or `@FILE`. */
  key?: readonly string[] | undefined;
}

/** The form of a NadeoPak. */
export interface PackNadeoOptions extends PackOptions, NadeoHeaderOptions, Pick<PakOpenOptions, 'lz4Dictionary'> {
  /** Folder of a store whose imported keys open an older pack, too. */
  store?: string | undefined;
  /** 1 to 18. Default 3. */
  version?: number | undefined;
  compress?: 'none' | 'zlib' | undefined;
  /** Hex, base64 or `@FILE`. */
  key?: readonly string[] | undefined;
}

/** Files and folders: a folder gives its files by their names in it. None where an older PAK (`like`) has all. */
type PackInputs = string | readonly string[];

/** Makes a Quake PAK. @throws E_USAGE, E_NOT_FOUND, and as the writer does */
export async function packQuake(out: string, inputs: PackInputs, options: PackOptions = {}): Promise<PackReport> {
  const { writeQuakePak } = await import('../paks/quake/write.ts');
  const write = (files: SortedFiles, { sink }: PackTarget): Promise<PackResult> =>
    writeQuakePak(files, sink, { signal: options.signal });
  return makePak(out, { family: 'quake', inputs, options, pak: likePak(options), form: {}, write });
}

/** Makes an Unreal PAK. @throws E_USAGE, E_NOT_FOUND, and as the writer does */
export async function packUnreal(
  out: string,
  inputs: PackInputs,
  options: PackUnrealOptions = {},
): Promise<PackReport> {
  const { writeUnrealPak } = await import('../paks/unreal/write/write.ts');
  const { version, compress, blockSize, mountPoint, encryptIndex = false, keyGuid, exact = false } = options;
  const form = { version, compress, blockSize, mountPoint, encryptIndex, keyGuid };
  const { signal } = options;
  const write = async (files: SortedFiles, { sink, temporary }: PackTarget): Promise<PackResult> =>
    writeUnrealPak(files, sink, { ...form, exact, key: await packKey(options.key, out), temporary, signal });
  return makePak(out, { family: 'unreal', inputs, options, pak: likePak(options), form, exact, write });
}

/** Makes a NadeoPak. @throws E_USAGE, E_NOT_FOUND, and as the writer does */
export async function packNadeo(out: string, inputs: PackInputs, options: PackNadeoOptions = {}): Promise<PackReport> {
  const { list, like, replace, force, signal, onProgress, key, store, lz4Dictionary, ...form } = options;
  const { version = 3, compress } = options;
  const { readHeaderOptions } = await import('../sources/paks/make/nadeo-pack-info.ts');
  const info = like === undefined ? await readHeaderOptions(options, version) : {};
  const write = async (files: SortedFiles, { sink, temporary }: PackTarget): Promise<PackResult> => {
    const { writeNadeoPak } = await import('../paks/nadeo/write/write.ts');
    const isCompressed = compress !== 'none';
    const form = { version, info, compress: isCompressed, key: await packKey(key, out) };
    return writeNadeoPak(files, sink, { ...form, temporary, signal });
  };
  const pak = async (): Promise<PakOptions> => {
    const given = await likePak(options)();
    return store === undefined ? given : withStoredKeys(store, given);
  };
  return makePak(out, { family: 'nadeo', inputs, options, pak, form, write });
}

/** How the older PAK is read. */
function likePak({ like, key, oodle, lz4Dictionary }: PackOptions & PakOpenOptions): () => Promise<PakOptions> {
  return () => readPakOptions({ key, oodle, lz4Dictionary }, like ?? '');
}
