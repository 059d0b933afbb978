/**
 * The formats of TACT, NGDP and CASC (`pakrat/formats`): pure functions from bytes to values and back.
 *
 * `decodeX(bytes)` gives a value, or throws an error whose code starts with E_FORMAT; large tables stay bytes, and their entries are made
 * while they are gone through. `encodeX(value)` takes what `decodeX` gave, and what a value has optional may be left out.
 * `xFormat.matches(head)` tells an object of the format by its first bytes.
 */

// Every format: errors, how objects are told, tables whose rows become objects when asked for, hex, and the hashes of names.

export { fromHex, toHex } from '../core/bytes.ts';
export { type ErrorCode, isPakratError, type PakratError } from '../core/errors.ts';
export { hashLittle, hashLittle2, nameHash, normalizeName } from '../core/jenkins.ts';
export type { EntryTable } from '../core/tables/entry-table.ts';
export { RecordTable } from '../core/tables/record-table.ts';
export { type Format, headSize } from './format.ts';
export { plainFrame, type TextFrame } from './text-lines.ts';

// Encoded objects: BLTE, whole, by chunks or piece by piece; the specs of how they are encoded; the keys of encrypted chunks; objects that
// are encrypted as a whole.

export {
  armadillo,
  armadilloKeyFormat,
  decodeArmadilloKey,
  encodeArmadilloKey,
  type ObjectStretch,
} from './armadillo.ts';
export { type ChunkOptions, decodeChunk, defaultMaxSize, verifyChunk } from './blte/chunk.ts';
export { type CipherHead, chunkKeyName, decodeCipherHead, encodeCipherHead } from './blte/cipher.ts';
export { type DecodeBlteOptions, decodeBlte } from './blte/decode.ts';
export { type EncodeBlteOptions, type EncodedBlte, encodeBlte, encodeChunk } from './blte/encode.ts';
export {
  blockSizes,
  type Espec,
  type EspecBits,
  type EspecBlock,
  type PlannedChunk,
  parseEspec,
  planChunks,
  printEspec,
} from './blte/espec.ts';
export {
  type BlteChunk,
  type BlteFormat,
  type BlteHeader,
  type BlteRow,
  type BlteTable,
  blteFormat,
  bltePrefixSize,
  decodeBlteHeader,
  decodeBltePrefix,
  ekeyOfBlte,
  encodeBlteHeader,
} from './blte/header.ts';
export { emptyKeyRing, type KeyRing } from './blte/keys.ts';
export { type ReadBlteOptions, type ReadRange, readBlte, readBlteHeader } from './blte/read.ts';

// Configs: any, and typed views of those of builds, CDNs and patches; lists of keys; the product config.

export {
  type BuildConfig,
  buildConfigFormat,
  decodeBuildConfig,
  decodePartialPriorities,
  encodePartialPriorities,
  type ManifestKeys,
  type PartialPriorities,
  type PartialPriority,
} from './configs/build-config.ts';
export { type CdnConfig, cdnConfigFormat, decodeCdnConfig } from './configs/cdn-config.ts';
export {
  type ConfigContent,
  type ConfigEntry,
  type ConfigFile,
  configFormat,
  configKey,
  configSize,
  decodeConfig,
  encodeConfig,
} from './configs/config-file.ts';
export {
  decodeKeyList,
  decodeKeyRing,
  encodeKeyList,
  encodeKeyRing,
  keyListFormat,
  keyRingFormat,
  reverseName,
  type TactKey,
} from './configs/key-list.ts';
export {
  type ConfigPatch,
  decodePatchConfig,
  encodePatchConfig,
  type PatchConfig,
  type PatchConfigContent,
  type PatchConfigEntry,
  patchConfigFormat,
} from './configs/patch-config.ts';
export {
  decodeProductConfig,
  encodeProductConfig,
  type ProductConfig,
  productConfigFormat,
} from './configs/product-config.ts';

// Indices: of archives, of loose files, of groups; whole, or by page.

export { encodeArchiveGroup } from './indices/archive-group.ts';
export {
  ArchiveIndex,
  archiveIndexFormat,
  decodeArchiveIndex,
  decodeIndexToc,
  encodeArchiveIndex,
  findInPage,
  type IndexContent,
  type IndexEntry,
  type IndexToc,
  type NamedIndex,
  pageEntries,
} from './indices/archive-index.ts';
export {
  decodeIndexFooter,
  encodeIndexFooter,
  type IndexGeometry,
  type IndexLayout,
  type IndexShape,
  indexFooterSize,
  indexGeometry,
  maxFooterSize,
} from './indices/index-layout.ts';

// Manifests: the contents of a build, how each is encoded, what to download, how large it is; and the tags that choose among that. The
// encoding file is read whole, or by page.

export {
  type Download,
  type DownloadContent,
  type DownloadEntry,
  type DownloadShape,
  decodeDownload,
  downloadFormat,
  encodeDownload,
} from './manifests/download.ts';
export { decodeEncoding, type Encoding } from './manifests/encoding/decode.ts';
export { type EncodingContent, encodeEncoding } from './manifests/encoding/encode.ts';
export {
  type CkeyEntry,
  ckeyEntries,
  decodeEncodingHeader,
  decodeEspecs,
  type EkeyEntry,
  type EncodingLayout,
  ekeyEntries,
  encodingFormat,
  encodingHeaderSize,
  findCkeyInPage,
  findEkeyInPage,
  findPage,
  type KeyLike,
  pageTable,
  verifyPage,
} from './manifests/encoding/pages.ts';
export { decodeInstall, encodeInstall, type Install, type InstallEntry, installFormat } from './manifests/install.ts';
export {
  decodeSize,
  encodeSize,
  type SizeContent,
  type SizeEntry,
  type SizeManifest,
  type SizeShape,
  sizeFormat,
} from './manifests/size.ts';
export { hasTag, maskSize, selectByTags, type Tag, type TaggedEntries } from './manifests/tags.ts';

// Patches: which lead where; the making and applying of them.

export {
  decodePatchIndex,
  encodePatchIndex,
  type PatchIndex,
  type PatchIndexBlock,
  type PatchIndexContent,
  type PatchIndexEntry,
  patchIndexFormat,
} from './patches/patch-index.ts';
export {
  decodePatchManifest,
  encodePatchManifest,
  type FilePatch,
  type PatchedFile,
  type PatchKeySizes,
  type PatchManifest,
  type PatchManifestContent,
  type PatchManifestEncoding,
  type PatchManifestHeader,
  patchManifestFormat,
  patchManifestKey,
} from './patches/patch-manifest.ts';
export { type ApplyOptions, applyZbsdiff, makeZbsdiff, zbsdiffFormat } from './patches/zbsdiff.ts';

// Roots, the names of files: World of Warcraft's with its locales, TVFS, MNDX, texts, and lists of names.

export {
  decodeListfile,
  encodeListfile,
  type ListfileRow,
  ListfileScanner,
  listfileFormat,
  readListfile,
} from './roots/listfile.ts';
export { ContentFlags, findLocaleFlag, localeFallback, localeFlag, localeNames } from './roots/locale.ts';
export { decodeMndx, type Mndx, type MndxFile, type MndxHeader, mndxFormat } from './roots/mndx/decode.ts';
export { encodeMar, encodeMndx, type MndxContent } from './roots/mndx/encode.ts';
export { decodeMar, marFormat, type NameTrie, type TrieKey } from './roots/mndx/trie.ts';
export { decodeTextRoot, encodeTextRoot, type TextRoot, type TextRootRow, textRootFormat } from './roots/text.ts';
export { decodeTvfs, type Tvfs } from './roots/tvfs/decode.ts';
export { encodeTvfs, type TvfsContent, type TvfsFileContent } from './roots/tvfs/encode.ts';
export {
  type TvfsFile,
  TvfsFlags,
  type TvfsForm,
  type TvfsHeader,
  type TvfsPatch,
  type TvfsSpan,
  type TvfsTable,
  tvfsFormat,
} from './roots/tvfs/layout.ts';
export { parseWowTvfsName, type WowTvfsName } from './roots/tvfs/wow-name.ts';
export {
  decodeWowRoot,
  fillFileDataIds,
  headerlessWowRootFormat,
  rowBlock,
  rowCkey,
  rowNameHash,
  wowRootFormat,
} from './roots/wow/decode.ts';
export { encodeWowRoot } from './roots/wow/encode.ts';
export type {
  WowRoot,
  WowRootBlock,
  WowRootBlockContent,
  WowRootContent,
  WowRootForm,
  WowRootHeader,
  WowRootRow,
} from './roots/wow/layout.ts';

// Roots of Overwatch and Diablo: tables, and the tables that name what is known by numbers.

export {
  type ContentAsset,
  type ContentManifest,
  type ContentManifestContent,
  type ContentManifestForm,
  type ContentManifestHeader,
  contentManifestFormat,
  decodeContentManifest,
  type EncryptedContentManifest,
  encodeContentManifest,
  type PlainContentManifest,
  type PlainContentManifestContent,
} from './roots/content-manifest.ts';
export {
  type Diablo3Toc,
  decodeDiablo3Packages,
  decodeDiablo3Toc,
  diablo3PackagesFormat,
  diablo3TocFormat,
  encodeDiablo3Packages,
  encodeDiablo3Toc,
} from './roots/diablo3/core-toc.ts';
export {
  type Diablo3Asset,
  type Diablo3Folder,
  type Diablo3FolderContent,
  type Diablo3Named,
  decodeDiablo3Folder,
  decodeDiablo3Root,
  diablo3FolderFormat,
  diablo3RootFormat,
  encodeDiablo3Folder,
  encodeDiablo3Root,
} from './roots/diablo3/folder.ts';
export { diablo3Group } from './roots/diablo3/groups.ts';
export { diablo3Namer } from './roots/diablo3/names.ts';
export {
  type Diablo4Toc,
  type Diablo4TocGroup,
  decodeDiablo4Toc,
  diablo4TocFormat,
  encodeDiablo4Toc,
  olderDiablo4TocFormat,
} from './roots/diablo4/core-toc.ts';
export { diablo4Group } from './roots/diablo4/groups.ts';
export {
  type Diablo4Names,
  type Diablo4Path,
  diablo4Namer,
  parseDiablo4Path,
  printDiablo4Path,
} from './roots/diablo4/names.ts';
export {
  decodeEncryptedNames,
  decodeEncryptedSnos,
  decodeSharedPayloads,
  type EncryptedName,
  type EncryptedSno,
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeSharedPayloads,
  encryptedNamesFormat,
  encryptedSnosFormat,
  type SharedPayloads,
  type SnoChild,
  sharedPayloadsFormat,
} from './roots/diablo4/side-tables.ts';
export {
  decodeOverwatchRoot,
  encodeOverwatchRoot,
  type OverwatchFile,
  type OverwatchRoot,
  type OverwatchRootContent,
  overwatchRootFormat,
} from './roots/overwatch.ts';
export {
  type AssetPackage,
  decodePackageManifest,
  encodePackageManifest,
  type PackageManifest,
  type PackageManifestContent,
  type PackageManifestForm,
  packageManifestFormat,
} from './roots/package-manifest.ts';
export type { AssetGroup } from './roots/sno/asset-groups.ts';
export type { SnoEntry } from './roots/sno/entries.ts';

// Installed games: what is installed, where its entries lie, and containers whose keys are places.

export {
  type BuildInfo,
  decodeBuildInfo,
  encodeBuildInfo,
  type InstalledBuild,
} from './local/build-info.ts';
export {
  decodeKeyLayouts,
  encodeKeyLayouts,
  type KeyLayout,
  type KeyLayouts,
  keyOfPlace,
  placeOfKey,
  type StaticPlace,
} from './local/key-layout.ts';
export {
  decodeLocalHeader,
  encodeLocalHeader,
  type LocalHeader,
  localDataFormat,
  localHeaderSize,
} from './local/local-header.ts';
export {
  bucketCount,
  bucketOf,
  decodeLocalIndex,
  decodeLocalRow,
  encodeLocalIndex,
  encodeLocalRow,
  type LocalEntry,
  LocalIndex,
  type LocalIndexContent,
  type LocalIndexShape,
  localIndexFormat,
  localKeySize,
} from './local/local-index.ts';
export { decodeShmem, encodeShmem, type Shmem, shmemFormat } from './local/local-shmem.ts';
export { decodeLocalUpdates, encodeLocalUpdates, type LocalUpdate } from './local/local-updates.ts';

// Version services: their tables, and the answers that these come in.

export { type Bpsv, type BpsvColumn, type BpsvRow, bpsvFormat, cell, decodeBpsv, encodeBpsv } from './services/bpsv.ts';
export { decodeRibbit, encodeRibbit, type RibbitAnswer, ribbitFormat } from './services/ribbit-mime.ts';
