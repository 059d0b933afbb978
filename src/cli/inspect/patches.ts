import { ByteReader } from '../../core/reader.ts';
import { type Description, indexedTable } from './description.ts';

/*
 * Patch objects: their heads only. What is in them is of use to none but a patcher.
 *
 * Patch manifest (wowdev.wiki TACT; checked on a real one of 2025), big-endian:
 *   "PA"  u8 version   u8 target key size   u8 source key size   u8 patch key size   u8 block size as a power of two
 *   u16 blocks   u8 flags
 *   flag 2: encoding's ckey[16] ekey[16]  u32 decoded size  u32 encoded size  u8 and that many bytes: its espec
 *   per block: last target ckey, MD5 of the block[16], u32 offset
 *
 * ZBSDIFF1: that magic, then little-endian u64 packed size of the control stream, u64 packed size of the diff stream,
 *   u64 size of the result
 */

const hasEncodingFlag = 0x2;

/** A patch manifest. */
export function describePatchManifest(bytes: Uint8Array): Description {
  const reader = new ByteReader(bytes, 'patch manifest');
  reader.magic('PA');
  const version = reader.u8();
  const targetKeyBytes = reader.u8();
  const sourceKeyBytes = reader.u8();
  const patchKeyBytes = reader.u8();
  const blockSize = 2 ** reader.u8();
  const blocks = reader.u16();
  const flags = reader.u8();
  const encoding = (flags & hasEncodingFlag) === 0 ? {} : readEncodingOf(reader);
  const rowSize = targetKeyBytes + 20;
  reader.count(blocks, rowSize);
  const tableOffset = reader.pos;
  return {
    facts: { version, targetKeyBytes, sourceKeyBytes, patchKeyBytes, blockSize, blocks, flags, ...encoding },
    table: indexedTable('blocks', ['lastCkey', 'md5', 'offset'], blocks, (i) => {
      const row = new ByteReader(bytes, 'patch manifest', tableOffset + i * rowSize);
      return [row.key(targetKeyBytes), row.key(), row.u32()];
    }),
  };
}

function readEncodingOf(reader: ByteReader): Description['facts'] {
  return {
    encodingCkey: reader.key(),
    encodingEkey: reader.key(),
    encodingSize: reader.u32(),
    encodingEncodedSize: reader.u32(),
    encodingEspec: reader.latin1(reader.u8()),
  };
}

/** A binary difference between two contents. */
export function describeZbsdiff(bytes: Uint8Array): Description {
  const reader = new ByteReader(bytes, 'ZBSDIFF1 patch');
  reader.magic('ZBSDIFF1');
  return {
    facts: { controlSize: reader.u64le(), diffSize: reader.u64le(), resultSize: reader.u64le() },
  };
}
