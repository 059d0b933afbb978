import { expect, test } from '@jest/globals';
import { arc4Stream } from '../../../src/codecs/ciphers/arc4.ts';
import { concatBytes, fromHex, toHex } from '../../../src/core/bytes.ts';

const text = (value: string) => new Uint8Array(Buffer.from(value));

test.each([
  ['Key', 'Plaintext', 'bbf316e8d940af0ad3'],
  ['Wiki', 'pedia', '1021bf0420'],
  ['Secret', 'Attack at dawn', '45a01f645fc35b383552544b9bf5'],
])('the well-known vector of key %s', (key, plain, secret) => {
  expect(toHex(arc4Stream(text(key))(text(plain)))).toBe(secret);
  expect(arc4Stream(text(key))(fromHex(secret))).toEqual(text(plain));
});

test('the keystream of RFC 6229 for a 16-byte key', () => {
  const stream = arc4Stream(fromHex('0102030405060708090a0b0c0d0e0f10'))(new Uint8Array(272));
  expect(toHex(stream.subarray(0, 16))).toBe('9ac7cc9a609d1ef7b2932899cde41b97');
  expect(toHex(stream.subarray(256))).toBe('d39d566bc6bce3010768151549f3873f');
});

test('pieces give what the whole gives', () => {
  const data = Uint8Array.from({ length: 1000 }, (_, i) => i);
  const decrypt = arc4Stream(text('Key'));
  const parts = [data.subarray(0, 1), data.subarray(1, 300), data.subarray(300)].map(decrypt);
  expect(concatBytes(parts)).toEqual(arc4Stream(text('Key'))(data));
});
