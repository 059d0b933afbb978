/**
 * The public API of pakrat. Formats are pure functions from bytes to values and back; stores, builds and sources are handles with `close`.
 */

export { Build, type BuildIdentity, openBuild } from './builds/build.ts';
export { type BuildFile, findFile, listFiles, readFile } from './builds/files.ts';
export type { EntryPlace, Objects } from './builds/objects.ts';
export { openCdnFolder } from './casc/cdn-folder.ts';
export { findInstall } from './casc/find-install.ts';
export { openInstall } from './casc/install.ts';
export type { LocalBuild } from './casc/local-build.ts';
export { openStatic } from './casc/static-install.ts';
export { type ByteSource, bytesSource } from './core/byte-source.ts';
export { type ErrorCode, isPakratError, PakratError } from './core/errors.ts';
export { nameHash } from './core/jenkins.ts';
export { encodeArchiveGroup } from './formats/archive-group.ts';
export { decodeArchiveIndex, encodeArchiveIndex } from './formats/archive-index.ts';
export { decodeBlte, readBlte } from './formats/blte/decode.ts';
export { encodeBlte } from './formats/blte/encode.ts';
export { emptyKeyRing, type KeyRing } from './formats/blte/keys.ts';
export { decodeBpsv, encodeBpsv } from './formats/bpsv.ts';
export { decodeBuildConfig } from './formats/build-config.ts';
export { decodeBuildInfo, encodeBuildInfo } from './formats/build-info.ts';
export { decodeCdnConfig } from './formats/cdn-config.ts';
export { decodeConfig, encodeConfig } from './formats/config-file.ts';
export { decodeDownload, encodeDownload } from './formats/download.ts';
export { decodeEncoding, encodeEncoding } from './formats/encoding.ts';
export { parseEspec, printEspec } from './formats/espec.ts';
export { decodeInstall, encodeInstall } from './formats/install.ts';
export { decodeKeyList, decodeKeyRing, encodeKeyList } from './formats/key-list.ts';
export { encodeListfile, listfileRows } from './formats/listfile.ts';
export { decodeLocalIndex, encodeLocalIndex } from './formats/local-index.ts';
export { decodePatchIndex, encodePatchIndex } from './formats/patch-index.ts';
export { decodePatchManifest, encodePatchManifest } from './formats/patch-manifest.ts';
export { decodeTvfs, encodeTvfs } from './formats/roots/tvfs.ts';
export { decodeWowRoot, encodeWowRoot } from './formats/roots/wow.ts';
export { decodeSize, encodeSize } from './formats/size.ts';
export { applyZbsdiff, makeZbsdiff } from './formats/zbsdiff.ts';
export { buildSource } from './sources/build-source.ts';
export { extractFiles } from './sources/extract.ts';
export type { Source, SourceEntry } from './sources/source.ts';
export { openStore, type Store } from './store/store.ts';
export { planRanges } from './sync/plan.ts';
export { syncBuild } from './sync/sync-build.ts';
