/**
 * The formats of TACT, NGDP and CASC (`pakrat/formats`): pure functions from bytes to values and back.
 *
 * `decodeX(bytes)` gives a value, or throws an error whose code starts with E_FORMAT; large tables stay bytes, and their entries are made
 * while they are gone through. `encodeX(value)` takes what `decodeX` gave, and what a value has optional may be left out.
 * `xFormat.matches(head)` tells an object of the format by its first bytes.
 *
 * A file whose exports are all for users is passed on whole; of others they are named.
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

export * from './armadillo.ts';
export { type ChunkOptions, decodeChunk, defaultMaxSize, verifyChunk } from './blte/chunk.ts';
export { type CipherHead, chunkKeyName, decodeCipherHead, encodeCipherHead } from './blte/cipher.ts';
export * from './blte/decode.ts';
export * from './blte/encode.ts';
export * from './blte/espec.ts';
export * from './blte/header.ts';
export * from './blte/keys.ts';
export * from './blte/read.ts';

// Configs: any, and typed views of those of builds, CDNs and patches; lists of keys; the product config.

export * from './configs/build-config.ts';
export * from './configs/cdn-config.ts';
export * from './configs/config-file.ts';
export * from './configs/key-list.ts';
export * from './configs/patch-config.ts';
export * from './configs/product-config.ts';

// Indices: of archives, of loose files, of groups; whole, or by page.

export * from './indices/archive-group.ts';
export * from './indices/archive-index.ts';
export * from './indices/index-layout.ts';

// Manifests: the contents of a build, how each is encoded, what to download, how large it is; and the tags that choose among that. The
// encoding file is read whole, or by page.

export * from './manifests/download.ts';
export * from './manifests/encoding/decode.ts';
export * from './manifests/encoding/encode.ts';
export * from './manifests/encoding/pages.ts';
export * from './manifests/install.ts';
export * from './manifests/size.ts';
export { hasTag, maskSize, selectByTags, type Tag, type TaggedEntries } from './manifests/tags.ts';

// Patches: which lead where; the making and applying of them.

export * from './patches/patch-index.ts';
export * from './patches/patch-manifest.ts';
export * from './patches/zbsdiff.ts';

// Roots, the names of files: World of Warcraft's with its locales, TVFS, MNDX, texts, and lists of names.

export * from './roots/listfile.ts';
export * from './roots/listfile-rows.ts';
export * from './roots/locale.ts';
export * from './roots/mndx/decode.ts';
export * from './roots/mndx/encode.ts';
export * from './roots/mndx/trie.ts';
export * from './roots/text.ts';
export * from './roots/tvfs/decode.ts';
export * from './roots/tvfs/encode.ts';
export * from './roots/tvfs/layout.ts';
export type { TvfsSource } from './roots/tvfs/table-window.ts';
export * from './roots/tvfs/wow-name.ts';
export * from './roots/wow/decode.ts';
export * from './roots/wow/encode.ts';
export * from './roots/wow/layout.ts';

// Roots of Overwatch and Diablo: tables, and the tables that name what is known by numbers.

export * from './roots/content-manifest.ts';
export * from './roots/diablo3/core-toc.ts';
export * from './roots/diablo3/folder.ts';
export * from './roots/diablo3/names.ts';
export * from './roots/diablo4/core-toc.ts';
export * from './roots/diablo4/names.ts';
export * from './roots/diablo4/side-tables.ts';
export * from './roots/overwatch.ts';
export * from './roots/package-manifest.ts';
export * from './roots/sno/asset-groups.ts';
export type { SnoEntry } from './roots/sno/entries.ts';

// Installed games: what is installed, where its entries lie, and containers whose keys are places.

export * from './local/build-info.ts';
export * from './local/key-layout.ts';
export * from './local/local-header.ts';
export * from './local/local-index.ts';
export * from './local/local-shmem.ts';
export * from './local/local-updates.ts';

// Version services: their tables, and the answers that these come in.

export * from './services/bpsv.ts';
export * from './services/channels.ts';
export * from './services/ribbit-mime.ts';
