import { expect, test } from '@jest/globals';
import { salsa20At, salsa20Stream } from '../../../src/codecs/ciphers/salsa20.ts';
import { concatBytes, fromHex, toHex } from '../../../src/core/bytes.ts';

const key = fromHex('80000000000000000000000000000000');
const nonce = new Uint8Array(8);

test('gives the keystream of the estream vectors (128-bit key, set 1, vector 0)', () => {
  const stream = salsa20At(key, nonce, new Uint8Array(512), 0);
  expect(toHex(stream.subarray(0, 64))).toBe(
    '4dfa5e481da23ea09a31022050859936da52fcee218005164f267cb65f5cfd7f2b4f97e0ff16924a52df269515110a07f9e460bc65ef95da58f740b7d1dbb0aa',
  );
  expect(toHex(stream.subarray(192, 256))).toBe(
    'da9c1581f429e0a00f7d67e23b730676783b262e8eb43a25f55fb90b3e753aef8c6713ec66c51881111593ccb3e8cb8f8de124080501eeeb389c4bcb6977cf95',
  );
});

test('begins at any block', () => {
  const data = Uint8Array.from({ length: 300 }, (_, i) => i);
  expect(salsa20At(key, nonce, data.subarray(128), 128)).toEqual(salsa20At(key, nonce, data, 0).subarray(128));
});

test('decrypts what it encrypts, and leaves its input alone', () => {
  const data = Uint8Array.from({ length: 100 }, (_, i) => i);
  const secret = salsa20At(key, nonce, data, 0);
  expect(secret).not.toEqual(data);
  expect(salsa20At(key, nonce, secret, 0)).toEqual(data);
  expect(data[1]).toBe(1);
});

test.each([1, 63, 64, 65, 200])('pieces of %i bytes give what the whole gives', (size) => {
  const data = Uint8Array.from({ length: 1000 }, (_, i) => i);
  const decrypt = salsa20Stream(key, nonce);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < data.length; at += size) parts.push(decrypt(data.subarray(at, at + size)));
  expect(concatBytes(parts)).toEqual(salsa20At(key, nonce, data, 0));
});

test.each([0, 5, 64, 191, 192])('begins at any byte: %i', (position) => {
  const stream = salsa20At(key, nonce, new Uint8Array(512), 0);
  expect(salsa20At(key, nonce, new Uint8Array(100), position)).toEqual(stream.subarray(position, position + 100));
});
