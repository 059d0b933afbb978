import type { WorkOptions } from '../core/progress.ts';
import type { NadeoHeaderOptions } from '../sources/paks/nadeo-pack-info.ts';
import type { PackReport } from '../sources/paks/pack-folder.ts';

export type { NadeoHeaderOptions } from '../sources/paks/nadeo-pack-info.ts';
export type { PackReport } from '../sources/paks/pack-folder.ts';

/** What all families take. */
interface PackOptions extends WorkOptions {
  /** Write over a file that is there. */
  force?: boolean | undefined;
}

/** How an Unreal PAK is made. */
export interface PackUnrealOptions extends PackOptions {
  /** Version of the format: 1 to 11, `8A` or `8B`. Default 11. */
  version?: string | undefined;
  compress?: 'none' | 'zlib' | undefined;
  /** Bytes that are compressed together. Default 64 KiB. */
  blockSize?: number | undefined;
  mountPoint?: string | undefined;
  /** Hex, base64 or `@FILE`. */
  key?: readonly string[] | undefined;
  encryptIndex?: boolean | undefined;
  keyGuid?: string | undefined;
  /** Compress as the original zlib does, byte for byte, and slower. */
  exact?: boolean | undefined;
}

/** How a NadeoPak is made. */
export interface PackNadeoOptions extends PackOptions, NadeoHeaderOptions {
  /** 1 to 18. Default 3. */
  version?: number | undefined;
  compress?: 'none' | 'zlib' | undefined;
  /** Hex, base64 or `@FILE`. */
  key?: readonly string[] | undefined;
}

/** Makes a Quake PAK of a folder. @throws E_USAGE, and as the writer does */
export async function packQuake(out: string, folder: string, options: PackOptions = {}): Promise<PackReport> {
  const { packFolder } = await import('../sources/paks/pack-folder.ts');
  const { writeQuakePak } = await import('../paks/quake/write.ts');
  const { force = false, signal } = options;
  return packFolder(out, folder, { force, signal, write: writeQuakePak });
}

/** Makes an Unreal PAK of a folder. @throws E_USAGE, and as the writer does */
export async function packUnreal(out: string, folder: string, options: PackUnrealOptions = {}): Promise<PackReport> {
  const { packFolder, packKey } = await import('../sources/paks/pack-folder.ts');
  const { writeUnrealPak } = await import('../paks/unreal/write/write.ts');
  const { force = false, signal, key: keys, version, compress, blockSize, mountPoint, keyGuid } = options;
  const key = await packKey(keys, out);
  const { encryptIndex = false, exact = false } = options;
  const how = { version, compress, blockSize, mountPoint, keyGuid, key, encryptIndex, exact };
  return packFolder(out, folder, { force, signal, write: (files, sink) => writeUnrealPak(files, sink, how) });
}

/** Makes a NadeoPak of a folder. @throws E_USAGE, and as the writer does */
export async function packNadeo(out: string, folder: string, options: PackNadeoOptions = {}): Promise<PackReport> {
  const { packFolder, packKey } = await import('../sources/paks/pack-folder.ts');
  const { readHeaderOptions } = await import('../sources/paks/nadeo-pack-info.ts');
  const { writeNadeoPak } = await import('../paks/nadeo/write/write.ts');
  const { force = false, signal, key: keys, version = 3, compress } = options;
  const info = await readHeaderOptions(options, version);
  const key = await packKey(keys, out);
  const how = { version, info, compress: compress !== 'none', key };
  return packFolder(out, folder, { force, signal, write: (files, sink) => writeNadeoPak(files, sink, how) });
}
