import { salsa20 as xorKeystream } from '@noble/ciphers/salsa.js';

const blockSize = 64;

/**
 * Encrypts or decrypts with Salsa20/20.
 * @param key 16 bytes (the "expand 16-byte k" form) or 32
 * @param nonce 8 bytes
 * @param counter number of the 64-byte block at which `data` begins, so that a range can be decrypted
 */
export function salsa20(key: Uint8Array, nonce: Uint8Array, data: Uint8Array, counter = 0): Uint8Array {
  return salsa20Stream(key, nonce, counter)(data);
}

/** As {@link salsa20} for data in pieces of any size: give them to the function in order. */
export function salsa20Stream(key: Uint8Array, nonce: Uint8Array, counter = 0): (piece: Uint8Array) => Uint8Array {
  let position = counter * blockSize;
  return (piece) => {
    const skip = position % blockSize;
    // A copy that starts at a block: the cipher is fast only on whole, aligned words, and works in place then.
    const blocks = new Uint8Array(skip + piece.length);
    blocks.set(piece, skip);
    xorKeystream(key, nonce, blocks, blocks, Math.floor(position / blockSize));
    position += piece.length;
    return blocks.subarray(skip);
  };
}
