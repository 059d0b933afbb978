import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { deflateExact } from '../../../codecs/compression/deflate-exact.ts';
import { encodeMetadata, type MetadataEntry, metadataStep } from '../directory/metadata.ts';
import { SealedRegion } from '../entries/sealed-region.ts';
import { datalessGbxSize, looksLikeGbx } from '../gbx/gbx-header.ts';
import { filled } from './stored-files.ts';
import { ivFor } from './write-files.ts';

/** The section of a pack that has none. */
export const noMetadata = { metadata: new Uint8Array(0), metadataSize: 0, metadataStoredSize: 0 };

/** The dataless GBX that a file brings itself: that of a GBX with user data. */
export function ownMetadata(content: Uint8Array): Uint8Array | undefined {
  const userDataSizeAt = 13;
  if (!looksLikeGbx(content) || content[3] !== 6 || content.length < userDataSizeAt + 4) return undefined;
  const userDataSize = new DataView(content.buffer, content.byteOffset).getUint32(userDataSizeAt, true);
  return userDataSize > 0 && userDataSize + userDataSizeAt + 8 <= content.length
    ? content.slice(0, datalessGbxSize(content))
    : undefined;
}

/** The section as it is stored, with what the header tells of it. */
export function sealMetadata(
  entries: readonly MetadataEntry[],
  { key, version }: { key: BlowfishKey; version: number },
) {
  const plain = encodeMetadata(entries);
  const compressed = deflateExact(plain, { level: 9 });
  const padded = filled(compressed, Math.ceil(compressed.length / metadataStep) * metadataStep);
  const region = new SealedRegion(padded, { key, iv: ivFor('', plain), version });
  return { metadata: region.bytes(), metadataSize: plain.length, metadataStoredSize: compressed.length };
}
