import { salsa20 as xorKeystream } from '@noble/ciphers/salsa.js';
import { formatError } from '../../core/errors.ts';

const blockSize = 64;
/** The library counts blocks in 32 bits. */
const maxPosition = 0xffff_ffff * blockSize;

/** As {@link salsa20At} for data in pieces of any size, from the start: give them to the function in order. */
export function salsa20Stream(key: Uint8Array, nonce: Uint8Array): (piece: Uint8Array) => Uint8Array {
  let position = 0;
  return (piece) => {
    const out = salsa20At(key, nonce, piece, position);
    position += piece.length;
    return out;
  };
}

/**
 * Encrypts or decrypts with Salsa20/20.
 * @param key 16 bytes (the "expand 16-byte k" form) or 32, @param nonce 8 bytes
 * @param position of the data in the whole, in bytes
 */
export function salsa20At(key: Uint8Array, nonce: Uint8Array, data: Uint8Array, position: number): Uint8Array {
  if (position + data.length > maxPosition)
    throw formatError('E_FORMAT_RANGE', 'Salsa20', 'data beyond its key stream');
  const skip = position % blockSize;
  // A copy that starts at a block: the cipher is fast only on whole, aligned words, and works in place then.
  const blocks = new Uint8Array(skip + data.length);
  blocks.set(data, skip);
  xorKeystream(key, nonce, blocks, blocks, Math.floor(position / blockSize));
  return blocks.subarray(skip);
}
