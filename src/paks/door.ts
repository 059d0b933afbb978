/**
 * `pakrat/paks`: the PAK archives by themselves, for tools that know nothing of stores and CDNs. Any PAK, or folder of
 * them, is opened with {@link openPak}; each family has a writer of its own.
 */

export { type ByteSource, bytesSource } from '../core/byte-source.ts';
export { type ErrorCode, isPakratError, PakratError } from '../core/errors.ts';
export { findPakFamily, openPak, type PakOptions, pakFamilies } from './index.ts';
export type { NadeoEntry } from './nadeo/directory/entry-list.ts';
export type { MetadataEntry } from './nadeo/directory/metadata.ts';
export { decodeNameList } from './nadeo/directory/names.ts';
export { knownDictionarySha256 } from './nadeo/entries/lz4-blocks.ts';
export { decodeKeyFile, type NamedKey, packlistKeys } from './nadeo/keys/keys.ts';
export * from './nadeo/keys/packlist.ts';
export type { NadeoPak } from './nadeo/nadeo-pak.ts';
export { openNadeoPak } from './nadeo/open.ts';
export type { NadeoOptions } from './nadeo/options.ts';
export { type NadeoWriteOptions, type PackInfo, writeNadeoPak } from './nadeo/write/write.ts';
export type { NadeoPackFile } from './nadeo/write/write-files.ts';
export type { PackFile, PackResult, PackSink, RewriteOptions, RewriteRow } from './packing.ts';
export type * from './pak.ts';
export type { QuakeEngine, QuakeOptions } from './quake/options.ts';
export { writeQuakePak } from './quake/write.ts';
export type { UnrealOptions } from './unreal/options.ts';
export type { UnrealPackOptions } from './unreal/write/pack-plan.ts';
export { writeUnrealPak } from './unreal/write/write.ts';
