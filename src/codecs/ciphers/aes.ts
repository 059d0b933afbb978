/*
 * AES-256 without padding, as containers of game engines use it: ECB, and CTR with a counter that need not start at 0.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { plainView } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';

/** Bytes of a block. */
export const aesBlockSize = 16;
/** Bytes of a key. */
export const aesKeySize = 32;

/** The next multiple of the block size. */
export function alignToBlock(size: number): number {
  return Math.ceil(size / aesBlockSize) * aesBlockSize;
}

/** Decrypts whole blocks with AES-256-ECB. Throws E_FORMAT for bytes that are no whole blocks. */
export function aesEcbDecrypt(bytes: Uint8Array, key: Uint8Array): Uint8Array {
  checkBlocks(bytes);
  return plainView(createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(bytes));
}

/** The mirror of {@link aesEcbDecrypt}. */
export function aesEcbEncrypt(bytes: Uint8Array, key: Uint8Array): Uint8Array {
  checkBlocks(bytes);
  return plainView(createCipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(bytes));
}

/**
 * En- or decrypts with AES-256-CTR; both are the same.
 * @param iv the first 12 bytes of each counter block, @param block the counter of the first block, which follows as u32 BE
 */
export function aesCtr(
  bytes: Uint8Array,
  key: Uint8Array,
  { iv, block }: { iv: Uint8Array; block: number },
): Uint8Array {
  const counter = new Uint8Array(aesBlockSize);
  counter.set(iv);
  new DataView(counter.buffer).setUint32(iv.length, block);
  return plainView(createDecipheriv('aes-256-ctr', key, counter).update(bytes));
}

function checkBlocks(bytes: Uint8Array): void {
  if (bytes.length % aesBlockSize !== 0) {
    throw formatError('E_FORMAT', 'AES', `${bytes.length} bytes are no whole blocks`);
  }
}
