import { describe, expect, test } from '@jest/globals';
import { aesCtr, aesEcbDecrypt, aesEcbEncrypt, alignToBlock } from '../../../src/codecs/ciphers/aes.ts';
import { fromHex, toHex } from '../../../src/core/bytes.ts';

/** NIST SP 800-38A, F.1.5 and F.5.5. */
const key = fromHex('603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4');
const plain = fromHex('6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51');

describe('AES-256', () => {
  test('ECB', () => {
    const sealed = 'f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870';
    expect(toHex(aesEcbEncrypt(plain, key))).toBe(sealed);
    expect(toHex(aesEcbDecrypt(fromHex(sealed), key))).toBe(toHex(plain));
  });

  test('CTR, from the start and from a later block', () => {
    const iv = fromHex('f0f1f2f3f4f5f6f7f8f9fafb');
    const sealed = fromHex('601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5');
    const block = 0xfcfdfeff;
    expect(aesCtr(sealed, key, { iv, block })).toEqual(plain);
    expect(aesCtr(sealed.subarray(16), key, { iv, block: block + 1 })).toEqual(plain.slice(16));
  });

  test('bytes that are no whole blocks are an error', () => {
    expect(() => aesEcbDecrypt(plain.subarray(1), key)).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
    expect([0, 1, 16, 17].map(alignToBlock)).toEqual([0, 16, 16, 32]);
  });
});
