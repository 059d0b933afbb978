import * as zlib from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { arc4Stream } from '../../../src/codecs/ciphers/arc4.ts';
import { concatBytes, fromHex } from '../../../src/core/bytes.ts';
import { md5, md5Hex } from '../../../src/core/hash.ts';
import { decodeChunk, verifyChunk } from '../../../src/formats/blte/chunk.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { decodeBlteHeader } from '../../../src/formats/blte/header.ts';
import { words } from '../../codecs/ciphers/words.ts';
import { foreignKey, foreignKeys as keys, wireName } from './gencdn.ts';

const text = (value: string) => new Uint8Array(Buffer.from(value));
const zip = (bytes: Uint8Array) => new Uint8Array(zlib.deflateSync(bytes));
const chunk = (mode: string, body: Uint8Array) => concatBytes([text(mode), body]);
const code = (name: string) => expect.objectContaining({ code: name });
const index = 0;

describe('decodeChunk', () => {
  test('N is a view, not a copy', () => {
    const encoded = chunk('N', text('hello'));
    const decoded = decodeChunk(encoded, { index, decodedSize: 5 });
    expect(decoded).toEqual(text('hello'));
    expect(decoded.buffer).toBe(encoded.buffer);
    expect(decodeChunk(text('N'), { index, decodedSize: 0 })).toHaveLength(0);
  });

  test('Z, with the size known or not', () => {
    const encoded = chunk('Z', zip(words(5000)));
    expect(decodeChunk(encoded, { index, decodedSize: 5000 })).toEqual(words(5000));
    expect(decodeChunk(encoded, { index })).toEqual(words(5000));
  });

  test('F, an object in a chunk', () => {
    const inner = encodeBlte(words(5000), 'b:{1K*=z}').bytes;
    expect(decodeChunk(chunk('F', inner), { index, decodedSize: 5000 })).toEqual(words(5000));
    const damaged = inner.slice();
    damaged[damaged.length - 1]! ^= 1;
    expect(() => decodeChunk(chunk('F', damaged), { index })).toThrow(code('E_INTEGRITY'));
    expect(() => decodeChunk(chunk('F', inner), { index, decodedSize: 5001 })).toThrow(code('E_INTEGRITY'));
  });

  test('E with ARC4 uses the key as it is', () => {
    const head = fromHex(`45 08 ${wireName(foreignKey.name)} 04 01020304 41`.replaceAll(' ', ''));
    const encoded = concatBytes([head, arc4Stream(fromHex(foreignKey.key))(chunk('N', text('hello')))]);
    expect(decodeChunk(encoded, { index: 3, keys, decodedSize: 5 })).toEqual(text('hello'));
  });

  test('E with the number of another chunk gives nothing', () => {
    const { bytes } = encodeBlte(words(200), `b:{100*=e:{${wireName(foreignKey.name)},01020304,z}}`, { keys });
    const second = decodeBlteHeader(bytes, bytes.length).chunk(1);
    const encoded = bytes.subarray(second.offset);
    expect(decodeChunk(encoded, { ...second, keys })).toEqual(words(200).subarray(100));
    expect(() => decodeChunk(encoded, { ...second, keys, index: 0 })).toThrow(/decrypted with key fa505078126acb3e/);
  });

  test.each([
    ['no bytes', new Uint8Array(0), {}, 'E_FORMAT_TRUNCATED'],
    ['an unknown mode', text('Xabc'), {}, 'E_FORMAT'],
    ['N of another size', text('Nabc'), { decodedSize: 2 }, 'E_FORMAT'],
    ['Z that gives more', chunk('Z', zip(words(100))), { decodedSize: 99 }, 'E_FORMAT_RANGE'],
    ['Z that gives less', chunk('Z', zip(words(100))), { decodedSize: 101 }, 'E_FORMAT_TRUNCATED'],
    ['Z with bytes behind it', chunk('Z', concatBytes([zip(words(100)), text('x')])), { decodedSize: 100 }, 'E_FORMAT'],
    ['Z beyond the cap', chunk('Z', zip(words(100))), { maxSize: 99 }, 'E_FORMAT_RANGE'],
    ['E with a long name', fromHex('45090011223344556677880401020304530000'), {}, 'E_FORMAT'],
    ['E with an odd IV', fromHex('450800112233445566770501020304055300'), {}, 'E_FORMAT'],
    ['E with an unknown cipher', fromHex('45080011223344556677040102030454aa'), {}, 'E_FORMAT'],
    ['E cut short', fromHex('450800112233445566'), {}, 'E_FORMAT_TRUNCATED'],
    ['E with nothing below', fromHex(`4508${wireName(foreignKey.name)}040102030453`), {}, 'E_FORMAT_TRUNCATED'],
    ['E of an unknown key', fromHex('450800112233445566770401020304530000'), {}, 'E_KEY_MISSING'],
    ['F that is no object', text('Fabcdefghijkl'), {}, 'E_FORMAT_MAGIC'],
  ] as const)('refuses %s', (_case, encoded, options, name) => {
    expect(() => decodeChunk(encoded, { index, keys, ...options })).toThrow(code(name));
  });

  test('a bomb ends at the promised size, without memory for more', () => {
    const bomb = chunk('Z', zip(new Uint8Array(50_000_000)));
    expect(() => decodeChunk(bomb, { index, decodedSize: 1000 })).toThrow(code('E_FORMAT_RANGE'));
    expect(() => decodeChunk(chunk('Z', zip(words(10))), { index, decodedSize: 2 ** 30 })).toThrow(
      code('E_FORMAT_RANGE'),
    );
  });

  test('chunks in one another end somewhere', () => {
    let object = encodeBlte(text('core'), 'n').bytes;
    for (let i = 0; i < 100; i++) object = concatBytes([fromHex('424c544500000000'), chunk('F', object)]);
    expect(() => decodeBlte(object)).toThrow(code('E_FORMAT_RANGE'));
  });

  test('a promised MD5 of the decoded bytes is checked', () => {
    const encoded = text('Nhello');
    expect(decodeChunk(encoded, { index, decodedMd5: md5(text('hello')) })).toEqual(text('hello'));
    expect(() => decodeChunk(encoded, { index, decodedMd5: md5(text('Hello')) })).toThrow(code('E_INTEGRITY'));
  });
});

describe('verifyChunk', () => {
  test('tells a damaged chunk, by number', () => {
    const encoded = text('Nhello');
    verifyChunk(encoded, { index: 7, md5: md5(encoded) });
    verifyChunk(encoded, { index: 7, md5: undefined });
    expect(() => verifyChunk(text('Nhallo'), { index: 7, md5: md5(encoded) })).toThrow(
      expect.objectContaining({
        code: 'E_INTEGRITY',
        data: { index: 7, expected: md5Hex(encoded), found: md5Hex(text('Nhallo')) },
      }),
    );
  });
});
