import type { UnrealPackOptions } from '../paks/unreal/write/pack-plan.ts';
import type { NadeoHeaderOptions } from '../sources/paks/nadeo-pack-info.ts';
import { type PackOptions, type PackReport, packFolder, packKey } from '../sources/paks/pack-folder.ts';

export type { NadeoHeaderOptions } from '../sources/paks/nadeo-pack-info.ts';
export type { PackOptions, PackReport } from '../sources/paks/pack-folder.ts';

/** The form of an Unreal PAK. */
export interface PackUnrealOptions
  extends PackOptions,
    Pick<UnrealPackOptions, 'compress' | 'blockSize' | 'mountPoint' | 'encryptIndex' | 'keyGuid' | 'exact'> {
  /** Version of the format: 1 to 11, `8A` or `8B`. Default 11. */
  version?: string | undefined;
  /** Hex, base64 or `@FILE`. */
  key?: readonly string[] | undefined;
}

/** The form of a NadeoPak. */
export interface PackNadeoOptions extends PackOptions, NadeoHeaderOptions {
  /** 1 to 18. Default 3. */
  version?: number | undefined;
  compress?: 'none' | 'zlib' | undefined;
  /** Hex, base64 or `@FILE`. */
  key?: readonly string[] | undefined;
}

/** Makes a Quake PAK of a folder. @throws E_USAGE, and as the writer does */
export async function packQuake(out: string, folder: string, options: PackOptions = {}): Promise<PackReport> {
  const { writeQuakePak } = await import('../paks/quake/write.ts');
  return packFolder(out, folder, options, writeQuakePak);
}

/** Makes an Unreal PAK of a folder. @throws E_USAGE, and as the writer does */
export async function packUnreal(out: string, folder: string, options: PackUnrealOptions = {}): Promise<PackReport> {
  const { writeUnrealPak } = await import('../paks/unreal/write/write.ts');
  const { force, signal, onProgress, key, encryptIndex = false, exact = false, ...form } = options;
  const written = { ...form, key: await packKey(key, out), encryptIndex, exact };
  return packFolder(out, folder, options, (files, sink) => writeUnrealPak(files, sink, written));
}

/** Makes a NadeoPak of a folder. @throws E_USAGE, and as the writer does */
export async function packNadeo(out: string, folder: string, options: PackNadeoOptions = {}): Promise<PackReport> {
  const { readHeaderOptions } = await import('../sources/paks/nadeo-pack-info.ts');
  const { writeNadeoPak } = await import('../paks/nadeo/write/write.ts');
  const { version = 3, compress, signal } = options;
  const info = await readHeaderOptions(options, version);
  const written = { version, info, compress: compress !== 'none', key: await packKey(options.key, out), signal };
  return packFolder(out, folder, options, (files, sink) => writeNadeoPak(files, sink, written));
}
