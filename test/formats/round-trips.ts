import { decodeArmadilloKey, encodeArmadilloKey } from '../../src/formats/armadillo.ts';
import { decodeCipherHead, encodeCipherHead } from '../../src/formats/blte/cipher.ts';
import { parseEspec, printEspec } from '../../src/formats/blte/espec.ts';
import { decodeBlteHeader, encodeBlteHeader } from '../../src/formats/blte/header.ts';
import { decodeBuildConfig } from '../../src/formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../src/formats/configs/cdn-config.ts';
import { decodeConfig, encodeConfig } from '../../src/formats/configs/config-file.ts';
import { decodeKeyList, decodeKeyRing, encodeKeyList, encodeKeyRing } from '../../src/formats/configs/key-list.ts';
import { decodePatchConfig, encodePatchConfig } from '../../src/formats/configs/patch-config.ts';
import { decodeProductConfig, encodeProductConfig } from '../../src/formats/configs/product-config.ts';
import { decodeArchiveIndex, encodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { decodeIndexFooter, encodeIndexFooter, indexGeometry } from '../../src/formats/indices/index-layout.ts';
import { decodeBuildInfo, encodeBuildInfo } from '../../src/formats/local/build-info.ts';
import { decodeLocalHeader, encodeLocalHeader } from '../../src/formats/local/local-header.ts';
import { decodeLocalIndex, encodeLocalIndex } from '../../src/formats/local/local-index.ts';
import { decodeShmem, encodeShmem } from '../../src/formats/local/local-shmem.ts';
import { decodeUpdates, encodeUpdates } from '../../src/formats/local/local-updates.ts';
import { decodeDownload, encodeDownload } from '../../src/formats/manifests/download.ts';
import { decodeEncoding } from '../../src/formats/manifests/encoding.ts';
import { encodeEncoding } from '../../src/formats/manifests/encoding-write.ts';
import { decodeInstall, encodeInstall } from '../../src/formats/manifests/install.ts';
import { decodeSize, encodeSize } from '../../src/formats/manifests/size.ts';
import { decodePatchIndex, encodePatchIndex } from '../../src/formats/patches/patch-index.ts';
import { decodePatchManifest, encodePatchManifest } from '../../src/formats/patches/patch-manifest.ts';
import { decodeContentManifest, encodeContentManifest } from '../../src/formats/roots/content-manifest.ts';
import {
  decodeDiablo3Packages,
  decodeDiablo3Toc,
  encodeDiablo3Packages,
  encodeDiablo3Toc,
} from '../../src/formats/roots/diablo3/core-toc.ts';
import {
  decodeDiablo3Folder,
  decodeDiablo3Root,
  encodeDiablo3Folder,
  encodeDiablo3Root,
} from '../../src/formats/roots/diablo3/folder.ts';
import { decodeDiablo4Toc, encodeDiablo4Toc } from '../../src/formats/roots/diablo4/core-toc.ts';
import {
  decodeEncryptedNames,
  decodeEncryptedSnos,
  decodeSharedPayloads,
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeSharedPayloads,
} from '../../src/formats/roots/diablo4/side-tables.ts';
import { decodeListfile, encodeListfile } from '../../src/formats/roots/listfile.ts';
import { decodeMndx } from '../../src/formats/roots/mndx/decode.ts';
import { encodeMar, encodeMndx } from '../../src/formats/roots/mndx/encode.ts';
import { decodeMar } from '../../src/formats/roots/mndx/trie.ts';
import { decodeOverwatchRoot, encodeOverwatchRoot } from '../../src/formats/roots/overwatch.ts';
import { decodePackageManifest, encodePackageManifest } from '../../src/formats/roots/package-manifest.ts';
import { decodeTextRoot, encodeTextRoot } from '../../src/formats/roots/text.ts';
import { decodeTvfs } from '../../src/formats/roots/tvfs/decode.ts';
import { encodeTvfs } from '../../src/formats/roots/tvfs/encode.ts';
import { decodeWowRoot } from '../../src/formats/roots/wow/decode.ts';
import { encodeWowRoot } from '../../src/formats/roots/wow/encode.ts';
import { decodeBpsv, encodeBpsv } from '../../src/formats/services/bpsv.ts';
import { decodeRibbit, encodeRibbit } from '../../src/formats/services/ribbit-mime.ts';
import { text } from './text.ts';

/*
 * Every format that is read and written: bytes → value → bytes. A row compiles only where the encoder takes the very value that the decoder
 * gives. Samples are small, and have what is easily lost: unknown fields, odd widths, comments, several forms.
 */

/** Where the sample of a local header stands in its file. */
export const localPlace = 70_000;
/** Size of the index that the sample of a footer is cut from: 300 entries. */
export const footerFileSize = indexGeometry(300).fileSize;

/** Bytes made again from what was read of them. */
type Again = (bytes: Uint8Array) => Uint8Array;

/** @param encode takes exactly what `decode` gives: the compiler sees to it */
export function format<Value>(decode: (bytes: Uint8Array) => Value, encode: (value: Value) => Uint8Array): Again {
  return (bytes) => encode(decode(bytes));
}

/** Every format, by a name of its own. */
export const formats = {
  'Armadillo key': format(decodeArmadilloKey, encodeArmadilloKey),
  'BLTE header': format((bytes) => decodeBlteHeader(bytes, objectSizeOf(bytes)), encodeBlteHeader),
  'cipher head': format((bytes) => decodeCipherHead(bytes), encodeCipherHead),
  espec: format(
    (bytes) => parseEspec(new TextDecoder().decode(bytes)),
    (spec) => text(printEspec(spec)),
  ),
  config: format(decodeConfig, encodeConfig),
  'build config': format((bytes) => decodeBuildConfig(bytes).config, encodeConfig),
  'CDN config': format((bytes) => decodeCdnConfig(bytes).config, encodeConfig),
  'patch config': format((bytes) => decodePatchConfig(bytes).config, encodeConfig),
  'patch config, of its values': format(decodePatchConfig, encodePatchConfig),
  'key list': format(decodeKeyList, encodeKeyList),
  'key ring': format(decodeKeyRing, encodeKeyRing),
  'product config': format(decodeProductConfig, encodeProductConfig),
  'archive index': format(
    (bytes) => decodeArchiveIndex(bytes),
    (index) => encodeArchiveIndex(index).bytes,
  ),
  'index footer': format((bytes) => decodeIndexFooter(bytes, footerFileSize), encodeIndexFooter),
  '.build.info': format(decodeBuildInfo, encodeBuildInfo),
  'local header': format(decodeLocalHeader, (header) => encodeLocalHeader(header, localPlace)),
  'local index': format(decodeLocalIndex, encodeLocalIndex),
  'updates of a local index': format((bytes) => decodeUpdates(bytes, [0]).updates, encodeUpdates),
  shmem: format(decodeShmem, encodeShmem),
  'download manifest': format(decodeDownload, encodeDownload),
  'encoding file': format(decodeEncoding, encodeEncoding),
  'install manifest': format(decodeInstall, encodeInstall),
  'size manifest': format(decodeSize, encodeSize),
  'patch index': format(decodePatchIndex, encodePatchIndex),
  'patch manifest': format(decodePatchManifest, encodePatchManifest),
  'content manifest': format(decodeContentManifest, encodeContentManifest),
  'Packages.dat': format(decodeDiablo3Packages, encodeDiablo3Packages),
  'CoreTOC of Diablo III': format(decodeDiablo3Toc, encodeDiablo3Toc),
  'Diablo III root': format(decodeDiablo3Root, encodeDiablo3Root),
  'Diablo III folder': format(decodeDiablo3Folder, encodeDiablo3Folder),
  'CoreTOC of Diablo IV': format(decodeDiablo4Toc, encodeDiablo4Toc),
  EncryptedNameDict: format(decodeEncryptedNames, encodeEncryptedNames),
  EncryptedSNOs: format(decodeEncryptedSnos, encodeEncryptedSnos),
  'shared payloads': format(decodeSharedPayloads, encodeSharedPayloads),
  listfile: format(decodeListfile, encodeListfile),
  MAR: format(decodeMar, encodeMar),
  'MNDX root': format(decodeMndx, encodeMndx),
  'Overwatch root': format(decodeOverwatchRoot, encodeOverwatchRoot),
  'package manifest': format(decodePackageManifest, encodePackageManifest),
  'text root': format(decodeTextRoot, encodeTextRoot),
  'TVFS manifest': format(decodeTvfs, encodeTvfs),
  'WoW root': format(decodeWowRoot, encodeWowRoot),
  'BPSV table': format(decodeBpsv, encodeBpsv),
  'Ribbit answer': format(decodeRibbit, encodeRibbit),
};

/** A name of {@link formats}. */
export type FormatName = keyof typeof formats;

/** The size that the object must have for its chunks to fill it. */
function objectSizeOf(header: Uint8Array): number {
  const view = new DataView(header.buffer, header.byteOffset);
  const headerSize = view.getUint32(4);
  const stride = header[8] === 0x10 ? 40 : 24;
  let size = headerSize === 0 ? 9 : headerSize;
  for (let row = 12; row < headerSize; row += stride) size += view.getUint32(row);
  return size;
}
