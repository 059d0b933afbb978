import {
  decodeArchiveIndex,
  decodeArmadilloKey,
  decodeBlteHeader,
  decodeBpsv,
  decodeBuildConfig,
  decodeBuildInfo,
  decodeCdnConfig,
  decodeCipherHead,
  decodeConfig,
  decodeContentManifest,
  decodeDiablo3Folder,
  decodeDiablo3Packages,
  decodeDiablo3Root,
  decodeDiablo3Toc,
  decodeDiablo4Toc,
  decodeDownload,
  decodeEncoding,
  decodeEncryptedNames,
  decodeEncryptedSnos,
  decodeIndexFooter,
  decodeInstall,
  decodeKeyList,
  decodeKeyRing,
  decodeListfile,
  decodeLocalHeader,
  decodeLocalIndex,
  decodeLocalUpdates,
  decodeMar,
  decodeMndx,
  decodeOverwatchRoot,
  decodePackageManifest,
  decodePatchConfig,
  decodePatchIndex,
  decodePatchManifest,
  decodeProductConfig,
  decodeRibbit,
  decodeSharedPayloads,
  decodeShmem,
  decodeSize,
  decodeTextRoot,
  decodeTvfs,
  decodeWowRoot,
  encodeArchiveIndex,
  encodeArmadilloKey,
  encodeBlteHeader,
  encodeBpsv,
  encodeBuildInfo,
  encodeCipherHead,
  encodeConfig,
  encodeContentManifest,
  encodeDiablo3Folder,
  encodeDiablo3Packages,
  encodeDiablo3Root,
  encodeDiablo3Toc,
  encodeDiablo4Toc,
  encodeDownload,
  encodeEncoding,
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeIndexFooter,
  encodeInstall,
  encodeKeyList,
  encodeKeyRing,
  encodeListfile,
  encodeLocalHeader,
  encodeLocalIndex,
  encodeLocalUpdates,
  encodeMar,
  encodeMndx,
  encodeOverwatchRoot,
  encodePackageManifest,
  encodePatchConfig,
  encodePatchIndex,
  encodePatchManifest,
  encodeProductConfig,
  encodeRibbit,
  encodeSharedPayloads,
  encodeShmem,
  encodeSize,
  encodeTextRoot,
  encodeTvfs,
  encodeWowRoot,
  indexGeometry,
  parseEspec,
  printEspec,
} from '../../src/formats/index.ts';
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
  'updates of a local index': format((bytes) => decodeLocalUpdates(bytes, [0]).updates, encodeLocalUpdates),
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
