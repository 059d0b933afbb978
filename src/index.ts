/**
 * The public API of pakrat. Formats are pure functions from bytes to values and back; stores, builds and sources are handles with `close`.
 */

export { Build, type BuildIdentity, openBuild } from './builds/build.ts';
export { type BuildFile, findFile, listFiles, readFile } from './builds/files.ts';
export type { EntryPlace, Objects } from './builds/objects.ts';
export { type ByteSource, bytesSource } from './core/byte-source.ts';
export { type ErrorCode, isPakratError, PakratError } from './core/errors.ts';
export { nameHash } from './core/jenkins.ts';
export { planRanges } from './fetch/plan/plan.ts';
export { decodeBlte } from './formats/blte/decode.ts';
export { encodeBlte } from './formats/blte/encode.ts';
export { parseEspec, printEspec } from './formats/blte/espec.ts';
export { emptyKeyRing, type KeyRing } from './formats/blte/keys.ts';
export { readBlte } from './formats/blte/read.ts';
export { decodeBuildConfig } from './formats/configs/build-config.ts';
export { decodeCdnConfig } from './formats/configs/cdn-config.ts';
export { decodeConfig, encodeConfig } from './formats/configs/config-file.ts';
export { decodeKeyList, decodeKeyRing, encodeKeyList } from './formats/configs/key-list.ts';
export { encodeArchiveGroup } from './formats/indices/archive-group.ts';
export { decodeArchiveIndex, encodeArchiveIndex } from './formats/indices/archive-index.ts';
export { decodeBuildInfo, encodeBuildInfo } from './formats/local/build-info.ts';
export { decodeLocalIndex, encodeLocalIndex } from './formats/local/local-index.ts';
export { decodeDownload, encodeDownload } from './formats/manifests/download.ts';
export { decodeEncoding } from './formats/manifests/encoding/decode.ts';
export { encodeEncoding } from './formats/manifests/encoding/encode.ts';
export { decodeInstall, encodeInstall } from './formats/manifests/install.ts';
export { decodeSize, encodeSize } from './formats/manifests/size.ts';
export { decodePatchIndex, encodePatchIndex } from './formats/patches/patch-index.ts';
export { decodePatchManifest, encodePatchManifest } from './formats/patches/patch-manifest.ts';
export { applyZbsdiff, makeZbsdiff } from './formats/patches/zbsdiff.ts';
export { decodeListfile, encodeListfile } from './formats/roots/listfile.ts';
export { decodeTvfs } from './formats/roots/tvfs/decode.ts';
export { encodeTvfs } from './formats/roots/tvfs/encode.ts';
export { decodeWowRoot } from './formats/roots/wow/decode.ts';
export { encodeWowRoot } from './formats/roots/wow/encode.ts';
export { decodeBpsv, encodeBpsv } from './formats/services/bpsv.ts';
export { findInstall } from './installs/casc/find-install.ts';
export { openInstall } from './installs/casc/open-install.ts';
export { openCdnFolder } from './installs/cdn-folder/open-cdn-folder.ts';
export type { LocalBuild } from './installs/folder-build.ts';
export { openStatic } from './installs/static/open-static.ts';
export { buildSource } from './sources/build-source.ts';
export { extractFiles } from './sources/extract/extract.ts';
export type { Source, SourceEntry } from './sources/source.ts';
export { openStore, type Store } from './store/store.ts';
export { syncBuild } from './sync/sync-build.ts';
