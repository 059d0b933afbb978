import { describe, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { chunkKeyName, decodeCipherHead, encodeCipherHead, openCipher } from '../../../src/formats/blte/cipher.ts';
import { emptyKeyRing } from '../../../src/formats/blte/keys.ts';
import { codeThrownBy } from '../text.ts';

const text = (value: string) => new Uint8Array(Buffer.from(value));
const code = (name: string) => expect.objectContaining({ code: name });

describe('chunkKeyName', () => {
  test('is printed as in key lists, and absent for what is not encrypted', () => {
    expect(chunkKeyName(fromHex('45083ecb6a12785050fa0401020304530000'))).toBe('fa505078126acb3e');
    expect(chunkKeyName(text('Nabc'))).toBeUndefined();
    expect(chunkKeyName(new Uint8Array(0))).toBeUndefined();
    expect(() => chunkKeyName(text('E'))).toThrow(code('E_FORMAT_TRUNCATED'));
  });
});

describe('the head of an encrypted chunk', () => {
  const bytes = fromHex('45083ecb6a12785050fa040102030453');

  test('has the name of its key as lists print it, backwards on the wire', () => {
    const head = decodeCipherHead(Uint8Array.of(...bytes, 1, 2, 3));
    expect(head).toEqual({ keyName: 'fa505078126acb3e', iv: fromHex('01020304'), cipher: 'salsa20', size: 16 });
    expect(encodeCipherHead(head)).toEqual(bytes);
  });

  test('opens its body with the number of the chunk in the nonce, and the key of the ring alone', () => {
    const head = decodeCipherHead(bytes);
    const keys = { find: () => fromHex('00'.repeat(16)) };
    const streams = [0, 0, 1].map((index) => toHex(openCipher(head, index, keys)(new Uint8Array(16))));
    expect(streams[1]).toBe(streams[0]);
    expect(streams[2]).not.toBe(streams[0]);
    expect(codeThrownBy(() => openCipher(head, 0, emptyKeyRing))).toBe('E_KEY_MISSING');
    expect(codeThrownBy(() => openCipher(head, 0, { find: () => new Uint8Array(3) }))).toBe('E_FORMAT');
  });
});
