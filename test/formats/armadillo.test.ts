import { expect, test } from '@jest/globals';
import { salsa20At } from '../../src/codecs/ciphers/salsa20.ts';
import { fromHex } from '../../src/core/bytes.ts';
import { armadillo, decodeArmadilloKey, encodeArmadilloKey } from '../../src/formats/armadillo.ts';
import { expectHostileSafe } from '../support/hostile.ts';
import { codeOf } from '../support/thrown-code.ts';

const key = fromHex('000102030405060708090a0b0c0d0e0f');
// md5 of these 16 bytes: 1ac1ef01e96caf1be0d329331a4fc2a8
const file = fromHex('000102030405060708090a0b0c0d0e0f1ac1ef01');

test('a key file: the key, and the first bytes of its MD5', () => {
  expect(decodeArmadilloKey(file)).toEqual(key);
  expect(encodeArmadilloKey(key)).toEqual(file);
  expect(codeOf(() => decodeArmadilloKey(file.subarray(0, 16)))).toBe('E_FORMAT');
  expect(codeOf(() => decodeArmadilloKey(new Uint8Array(20)))).toBe('E_FORMAT_CHECKSUM');
  expectHostileSafe(decodeArmadilloKey, file);
});

const hash = '00112233445566778899aabbccddeeff';

test('the nonce is the last 8 bytes of the name', () => {
  const data = Uint8Array.from({ length: 300 }, (_, i) => i);
  expect(armadillo(data, { key, hash, offset: 0 })).toEqual(salsa20At(key, fromHex('8899aabbccddeeff'), data, 0));
});

test.each([0, 1, 63, 64, 65, 1000])('a stretch from byte %i on is decrypted by its offset', (offset) => {
  const data = Uint8Array.from({ length: 2000 }, (_, i) => i * 7);
  const whole = armadillo(data, { key, hash, offset: 0 });
  expect(armadillo(whole.subarray(offset, offset + 500), { key, hash, offset })).toEqual(
    data.subarray(offset, offset + 500),
  );
});

test('a stretch that no object reaches is refused', () => {
  expect(codeOf(() => armadillo(new Uint8Array(9), { key, hash, offset: 2 ** 39 }))).toBe('E_FORMAT_RANGE');
});
