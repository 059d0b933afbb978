import { describe, expect, test } from '@jest/globals';
import { blowfishEncrypt } from '../../../../src/codecs/ciphers/blowfish.ts';
import { concatBytes, fromHex, toHex } from '../../../../src/core/bytes.ts';
import { sha1 } from '../../../../src/core/hash.ts';
import { CipherStream, decryptCounted, packCipherKey } from '../../../../src/paks/nadeo/entries/cipher-stream.ts';

const key = fromHex('000102030405060708090a0b0c0d0e0f');
const iv = fromHex('1122334455667788');
const mix = fromHex('6d006500');
const plain = () => Uint8Array.from({ length: 600 }, (_, i) => i & 255);

function encrypted(version: number): Uint8Array {
  const bytes = plain();
  const stream = new CipherStream(packCipherKey(key, version), iv, version);
  stream.encrypt(bytes.subarray(0, 256));
  stream.mix(mix);
  stream.encrypt(bytes.subarray(256));
  return bytes;
}

describe('the cipher of NadeoPak', () => {
  test.each([
    ['6d006500', 0x00007782a81de0aan],
    ['00100001', 0x00005502e81540abn],
  ])('mixing %s into no feedback', (bytes, feedback) => {
    const stream = new CipherStream(packCipherKey(key, 3), iv, 3);
    stream.mix(fromHex(bytes));
    expect(stream.feedback).toBe(feedback);
  });

  test.each([
    [3, 'b8b481373d027624a577855aebb59b43', '7f67c6821b18675c', '39fc132a22d4312015e33f65afdcc144cd9cba3f'],
    [12, 'b8b481373d0276242a58a35fd42bafa8', '264f70ff19b0bca3', 'ef955547f386e3fb66093b70a3951aab45a0a442'],
    [18, '01f3bbcbe6764cd2f369de356b183616', '1cafc4d1bb2cd884', '81b95edf2d6c4ed713842850278ca2da887f1692'],
  ])('version %i', (version, start, page, hash) => {
    const bytes = encrypted(version);
    expect(toHex(bytes.subarray(0, 16))).toBe(start);
    expect(toHex(bytes.subarray(256, 264))).toBe(page);
    expect(toHex(sha1(concatBytes([iv, bytes])))).toBe(hash);
  });

  test.each([3, 11, 12, 17, 18])('version %i decrypts what it encrypts, whatever the pieces', (version) => {
    const bytes = encrypted(version);
    const stream = new CipherStream(packCipherKey(key, version), iv, version);
    for (let at = 0; at < bytes.length; at += 8) {
      if (at === 256) stream.mix(mix);
      stream.decrypt(bytes.subarray(at, at + 8));
    }
    expect(bytes).toEqual(plain());
  });

  test('feedback that is left out spoils one block below version 12, and all that follows from 12 on', () => {
    const wrongBytes = (version: number) => {
      const bytes = encrypted(version);
      new CipherStream(packCipherKey(key, version), iv, version).decrypt(bytes);
      const original = plain();
      return [...bytes.keys()].filter((i) => bytes[i] !== original[i]);
    };
    const old = wrongBytes(11);
    expect(old.length).toBeGreaterThan(0);
    expect(old.every((i) => i >= 256 && i < 264)).toBe(true);
    expect(wrongBytes(12).some((i) => i >= 592)).toBe(true);
  });

  test('the chaining changes at version 12, the rounds at 18', () => {
    expect(toHex(encrypted(11))).toBe(toHex(encrypted(3)));
    expect(toHex(encrypted(17))).toBe(toHex(encrypted(12)));
  });
});

test('counter mode: any part can be decrypted, and the pages count in steps of 256', () => {
  const cipherKey = packCipherKey(key, 18);
  const start = 0x8877665544332211n + 8n;
  const bytes = plain();
  for (let at = 0; at < bytes.length; at += 8) {
    const counter = start + BigInt(Math.floor(at / 256) * 256 + (at % 256) / 8);
    const block = Uint32Array.of(Number(counter & 0xffffffffn), Number(counter >> 32n));
    blowfishEncrypt(cipherKey, block);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < 2; i++) view.setUint32(at + 4 * i, view.getUint32(at + 4 * i, true) ^ block[i]!, true);
  }
  const whole = bytes.slice();
  decryptCounted(cipherKey, iv, 0, whole);
  expect(whole).toEqual(plain());
  const part = bytes.slice(264, 400);
  decryptCounted(cipherKey, iv, 264, part);
  expect(part).toEqual(plain().subarray(264, 400));
});
