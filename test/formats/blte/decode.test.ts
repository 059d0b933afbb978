import { beforeAll, describe, expect, test } from '@jest/globals';
import { concatBytes, fromHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeChunk } from '../../../src/formats/blte/chunk.ts';
import { chunkKeyName } from '../../../src/formats/blte/cipher.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { decodeBlteHeader, ekeyOfBlte } from '../../../src/formats/blte/header.ts';
import { words } from '../../codecs/ciphers/words.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { lz4Literals } from '../../support/lz4-literals.ts';
import { type ForeignBlte, foreignBltes, foreignKey, foreignKeys as keys, wireName } from './gencdn.ts';

const text = (value: string) => new Uint8Array(Buffer.from(value));
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

  test('refuses little that becomes very much, with a table and without; whoever knows the size has it', () => {
    const size = 70 << 20;
    const [zeros, refused] = [new Uint8Array(size), code('E_FORMAT_RANGE')];
    for (const spec of ['z', 'b:{1M*=z}']) {
      const bomb = encodeBlte(zeros, spec, { zlib: 'fast' }).bytes;
      expect(bomb.length).toBeLessThan(size / 200);
      expect(() => decodeBlte(bomb)).toThrow(refused);
      expect(decodeBlte(bomb, { decodedSize: size }).length).toBe(size);
    }
  });

  test('checks the decoded MD5 of format 0x10', () => {
    const extended = encodeBlte(content, 'b:{1K*=z}', { table: '0x10' }).bytes;
    expect(decodeBlte(extended)).toEqual(content);
    extended[12 + 24]! ^= 1;
    expect(() => decodeBlte(extended)).toThrow(code('E_INTEGRITY'));
  });

  test('survives hostile input', () => {
    expectHostileSafe((input) => decodeBlte(input, { keys }), bytes);
    const locked = encodeBlte(words(300), `b:{100*=e:{${wireName(foreignKey.name)},01020304,z}}`, { keys }).bytes;
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
