import * as zlib from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { arc4 } from '../../../src/codecs/ciphers/arc4.ts';
import { concatBytes, fromHex } from '../../../src/core/bytes.ts';
import { md5, md5Hex } from '../../../src/core/hash.ts';
import { decodeChunk, verifyChunk } from '../../../src/formats/blte/chunk.ts';
import { chunkKeyName } from '../../../src/formats/blte/cipher.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { decodeBlteHeader, ekeyOfBlte } from '../../../src/formats/blte/header.ts';
import { words } from '../../codecs/ciphers/words.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { lz4Literals } from '../../support/lz4-literals.ts';
import { type ForeignBlte, foreignBltes, foreignKey, foreignKeys as keys } from './gencdn.ts';

const text = (value: string) => new Uint8Array(Buffer.from(value));
const zip = (bytes: Uint8Array) => new Uint8Array(zlib.deflateSync(bytes));
const chunk = (mode: string, body: Uint8Array) => concatBytes([text(mode), body]);
const code = (name: string) => expect.objectContaining({ code: name });
const index = 0;

describeConformance('real objects', () => {
  test('a TVFS manifest of a 2026 build: one zlib chunk in a table', () => {
    const bytes = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    const decoded = decodeBlte(bytes, {
      ekey: '2a6f1a538227094c04a4c364b1dda995',
      ckey: '04ca19154f0c48b1a0ed06dc342fa6b1',
      decodedSize: 14641,
    });
    expect(decoded).toEqual(conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin'));
  });

  test('two files of a 2014 client: without a table, and with one of two plain chunks', () => {
    const data = conformanceBytes('tact/heksesang-CascLib/data');
    const first = decodeBlte(data.subarray(30, 3656), { ekey: 'ef25268fe3b67ecb2e5fc79052174a9d' });
    expect(first).toHaveLength(8691);
    expect(md5Hex(first)).toBe('47610bed5ce729d94abd01fc3b2d1c8d');
    // The client itself had encoded this one anew: it is not the object that its ekey names.
    const second = decodeBlte(data.subarray(3656 + 30));
    expect(second).toHaveLength(58 + 16576);
    expect(Buffer.from(second.subarray(0, 4)).toString()).toBe('OggS');
  });
});

describeConformance("another encoder's objects", () => {
  let objects: ForeignBlte[] = [];
  beforeAll(() => {
    objects = foreignBltes();
  });

  test.each(['n', 'z', 'bz', 'bn', 'mix', 'ez', 'en'])('of kind %s', (kind) => {
    const ofKind = objects.filter(({ how }) => how === kind);
    expect(ofKind.length).toBeGreaterThan(2);
    for (const { content, bytes, ekey } of ofKind) {
      expect(ekeyOfBlte(bytes)).toBe(ekey);
      const decoded = decodeBlte(bytes, { keys, ekey, ckey: md5Hex(content), decodedSize: content.length });
      expect(Buffer.compare(decoded, content)).toBe(0);
    }
  });

  test('without the key, the name of the missing one', () => {
    const locked = objects.filter(({ how }) => how.startsWith('e'));
    expect(locked.length).toBeGreaterThan(4);
    for (const { bytes } of locked) {
      expect(() => decodeBlte(bytes)).toThrow(
        expect.objectContaining({ code: 'E_KEY_MISSING', data: expect.objectContaining({ keyName: foreignKey.name }) }),
      );
    }
  });

  test('the keys that lock an object show in the first bytes of its chunks', () => {
    const { bytes } = objects.find(({ how, content }) => how === 'en' && content.length > 10)!;
    const header = decodeBlteHeader(bytes, bytes.length);
    const names = [0, 1].map((i) => chunkKeyName(bytes.subarray(header.chunk(i).offset).subarray(0, 32)));
    expect(names).toEqual([undefined, foreignKey.name]);
  });
});

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

  test('4 in both layouts that are described', () => {
    const content = words(257);
    const little = chunk('4', concatBytes([fromHex('0101000000000000'), lz4Literals(content)]));
    const blocks = [content.subarray(0, 128), content.subarray(128, 256), content.subarray(256)].map(lz4Literals);
    const big = chunk('4', concatBytes([fromHex('01000000000000010107'), ...blocks]));
    expect(decodeChunk(little, { index, decodedSize: 257 })).toEqual(content);
    expect(decodeChunk(big, { index, decodedSize: 257 })).toEqual(content);
    expect(decodeChunk(big, { index })).toEqual(content);
    expect(() => decodeChunk(big.subarray(0, -1), { index })).toThrow(code('E_FORMAT_TRUNCATED'));
    expect(() => decodeChunk(concatBytes([big, text('x')]), { index, decodedSize: 257 })).toThrow(code('E_FORMAT'));
    const ambiguous = chunk('4', fromHex('01000000000000001008'));
    expect(decodeChunk(ambiguous, { index, decodedSize: 1 })).toEqual(Uint8Array.of(8));
    expect(() => decodeChunk(little, { index, decodedSize: 258 })).toThrow(code('E_FORMAT'));
    expect(() => decodeChunk(little, { index, maxSize: 256 })).toThrow(code('E_FORMAT_RANGE'));
  });

  test('E with ARC4 uses the key as it is', () => {
    const head = fromHex(`45 08 ${wire(foreignKey.name)} 04 01020304 41`.replaceAll(' ', ''));
    const encoded = concatBytes([head, arc4(fromHex(foreignKey.key), chunk('N', text('hello')))]);
    expect(decodeChunk(encoded, { index: 3, keys, decodedSize: 5 })).toEqual(text('hello'));
  });

  test('E with the number of another chunk gives nothing', () => {
    const { bytes } = encodeBlte(words(200), `b:{100*=e:{${wire(foreignKey.name)},01020304,z}}`, { keys });
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
    ['E with nothing below', fromHex(`4508${wire(foreignKey.name)}040102030453`), {}, 'E_FORMAT_TRUNCATED'],
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

describe('chunkKeyName', () => {
  test('is printed as in key lists, and absent for what is not encrypted', () => {
    expect(chunkKeyName(fromHex('45083ecb6a12785050fa0401020304530000'))).toBe('fa505078126acb3e');
    expect(chunkKeyName(text('Nabc'))).toBeUndefined();
    expect(chunkKeyName(new Uint8Array(0))).toBeUndefined();
    expect(() => chunkKeyName(text('E'))).toThrow(code('E_FORMAT_TRUNCATED'));
  });
});

describe('decodeBlte', () => {
  const content = words(10_000);
  const { bytes, ekey } = encodeBlte(content, 'b:{1K*=z}');

  test.each([
    ['the last byte', () => bytes.length - 1],
    ['a byte of the first chunk', () => decodeBlteHeader(bytes, bytes.length).dataOffset + 20],
    ['a chunk MD5', () => 12 + 8],
  ])('%s changed is E_INTEGRITY', (_case, offset) => {
    const damaged = bytes.slice();
    damaged[offset()]! ^= 1;
    expect(() => decodeBlte(damaged)).toThrow(code('E_INTEGRITY'));
  });

  test('a wrong ekey, ckey or size is E_INTEGRITY', () => {
    expect(decodeBlte(bytes, { ekey: ekey.toUpperCase(), ckey: md5Hex(content) })).toEqual(content);
    const other = '00'.repeat(16);
    expect(() => decodeBlte(bytes, { ekey: other })).toThrow(code('E_INTEGRITY'));
    expect(() => decodeBlte(bytes, { ckey: other })).toThrow(code('E_INTEGRITY'));
    expect(() => decodeBlte(bytes, { decodedSize: 9999 })).toThrow(code('E_INTEGRITY'));
  });

  test('refuses an object cut short, and one that goes on', () => {
    expect(() => decodeBlte(bytes.subarray(0, -1))).toThrow(code('E_FORMAT_TRUNCATED'));
    expect(() => decodeBlte(concatBytes([bytes, text('x')]))).toThrow(code('E_FORMAT'));
  });

  test('refuses more than may come out', () => {
    expect(() => decodeBlte(bytes, { maxSize: 9999 })).toThrow(code('E_FORMAT_RANGE'));
    expect(() => decodeBlte(encodeBlte(content, 'z').bytes, { maxSize: 9999 })).toThrow(code('E_FORMAT_RANGE'));
  });

  test('checks the decoded MD5 of format 0x10', () => {
    const extended = encodeBlte(content, 'b:{1K*=z}', { table: '0x10' }).bytes;
    expect(decodeBlte(extended)).toEqual(content);
    extended[12 + 24]! ^= 1;
    expect(() => decodeBlte(extended)).toThrow(code('E_INTEGRITY'));
  });

  test('survives hostile input', () => {
    expectHostileSafe((input) => decodeBlte(input, { keys }), bytes);
    const locked = encodeBlte(words(300), `b:{100*=e:{${wire(foreignKey.name)},01020304,z}}`, { keys }).bytes;
    expectHostileSafe((input) => decodeBlte(input, { keys }), locked);
    expectHostileSafe((input) => decodeBlte(input, { keys, maxSize: 1e6 }), encodeBlte(words(300), 'z').bytes);
    for (const encoded of [
      chunk('4', concatBytes([fromHex('2c01000000000000'), lz4Literals(words(300))])),
      chunk('F', bytes),
    ]) {
      expectHostileSafe((input) => decodeChunk(input, { index, keys, maxSize: 1e6 }), encoded);
    }
  });
});

/** A key name as it lies in a chunk and in a spec. */
function wire(name: string): string {
  return Buffer.from(name, 'hex').reverse().toString('hex');
}
