import { concatBytes } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { ivSize, packCipherKey, paddedSize } from '../entries/cipher-stream.ts';
import type { OpenedHeader } from '../header/open-header.ts';
import { encodePrivateHeader, oldHeaderOffset, type PrivateHeader } from '../header/private-header.ts';
import { encodePublicHeader, publicFieldsOffset } from '../header/public-header.ts';
import { sealPrivate } from './seal-private.ts';
import { filled } from './stored-files.ts';

/** Sizes that the header of version 15 and above may have, where that of the old pack is too small. */
const headerRooms = [0x4000, 0x100000, 0x1000000] as const;

type Fields = Omit<PrivateHeader, 'md5' | 'plainSize'>;

/** The header of a pack, like that of an older one. */
interface LikeHeader {
  header: OpenedHeader;
}

/** Bytes of the header: as many as the older pack has, unless the directory needs more or less. */
export function likeHeaderSize({ header }: LikeHeader, fields: Fields): number {
  const { version, privatePart, publicPart } = header;
  const needed = bareSize(header, fields);
  if (version < 15) {
    const before = privatePart === undefined ? -1 : bareSize(header, privatePart);
    return needed === before && privatePart !== undefined ? privatePart.dataOffset : needed;
  }
  const room = [publicPart?.headerSize ?? 0, ...headerRooms].find((size) => size >= needed);
  if (room !== undefined) return room;
  throw new PakratError('E_UNSUPPORTED', `a header of ${needed} bytes is larger than the format foresees`);
}

function bareSize(header: OpenedHeader, fields: Fields): number {
  const size = encodePrivateHeader(fields, header.version).length;
  return publicBytes(header, 0).length + (header.headerKey === undefined ? size : ivSize + paddedSize(size));
}

/** Magic, version and, from version 6 on, the public part. */
function publicBytes({ version, publicPart }: OpenedHeader, headerSize: number): Uint8Array {
  if (publicPart === undefined) return new ByteWriter().text('NadeoPak').u32le(version).bytes();
  return encodePublicHeader({ ...publicPart, headerSize });
}

/** The whole header, with what fills it up to the data. The hash of the contents is that of the old pack. */
export function likeHeader({ header }: LikeHeader, fields: Fields): Uint8Array {
  const { version, headerKey, isMd5Right, isMd5OverPublic } = header;
  const start = publicBytes(header, fields.dataOffset);
  // An MD5 that was wrong says nothing of what it is over: then it is as in the packs of the game.
  const hashed = isMd5Right && !isMd5OverPublic ? undefined : start.subarray(publicFieldsOffset(version));
  const plain = encodePrivateHeader(fields, version, version < 6 ? undefined : hashed);
  if (headerKey === undefined) return filled(concatBytes([start, plain]), fields.dataOffset);
  // Below version 6 all of it is encrypted, what fills it up, too.
  const size = version < 6 ? fields.dataOffset - oldHeaderOffset : ivSize + paddedSize(plain.length);
  const key = packCipherKey(headerKey, version);
  const sealed = sealPrivate(plain, { key, version, folders: fields.folders, size });
  return filled(concatBytes([start, sealed]), fields.dataOffset);
}
