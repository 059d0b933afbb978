import { describe, expect, test } from '@jest/globals';
import { toHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { parseEspec } from '../../../src/formats/blte/espec.ts';
import { decodeBlteHeader } from '../../../src/formats/blte/header.ts';
import { words } from '../../codecs/ciphers/words.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { foreignBltes, foreignKey, foreignKeys as keys } from './gencdn.ts';

const code = (name: string) => expect.objectContaining({ code: name });
const wireName = '3ecb6a12785050fa';

describeConformance('encoding to the bytes that others made', () => {
  test('an encoding file of Hearthstone, to its ekey', () => {
    const content = conformanceBytes('tact/keg/blte/2a6168d8a7122a8dd9b61fb92af3d3f4.in');
    const { bytes, ekey } = encodeBlte(content, 'b:{22=n,54=z,192=n,24576=n,128=n,16384=n,*=z}');
    expect(ekey).toBe('2a6168d8a7122a8dd9b61fb92af3d3f4');
    expect(md5Hex(bytes)).toBe('39c6c6b7b1fecd09a1d6514470988700');
    expect(decodeBlte(bytes, { ckey: '06363a3c85f5e0a847076c1b5e35b661' })).toEqual(content);
  });

  test('a TVFS manifest of a 2026 build, to its ekey', () => {
    const content = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin');
    const { bytes, ekey } = encodeBlte(content, 'b:{256K*=z}');
    expect(ekey).toBe('2a6f1a538227094c04a4c364b1dda995');
    expect(bytes).toEqual(conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte'));
  });

  test('a file of a 2014 client, without a table', () => {
    const bytes = conformanceBytes('tact/heksesang-CascLib/data').slice(30, 3656);
    expect(encodeBlte(decodeBlte(bytes), 'z').bytes).toEqual(bytes);
  });

  test('everything that gencdn.py makes', () => {
    for (const object of foreignBltes()) {
      // That generator prints key names in its specs; on real CDNs a spec has them as on the wire.
      const spec = object.espec.replace(foreignKey.name.toUpperCase(), wireName);
      const { bytes, ekey } = encodeBlte(object.content, spec, { keys });
      expect([object.how, ekey]).toEqual([object.how, object.ekey]);
      expect(Buffer.compare(bytes, object.bytes)).toBe(0);
    }
  });
});

describe('encodeBlte', () => {
  const content = words(5000);

  test.each(['n', 'z', 'z:1', 'z:{6,9}', `e:{${wireName},01020304,z}`])(
    '%s makes one chunk without a table',
    (spec) => {
      const { bytes } = encodeBlte(content, spec, { keys });
      expect(decodeBlteHeader(bytes, bytes.length)).toMatchObject({ headerSize: 0, count: 1 });
      expect(decodeBlte(bytes, { keys })).toEqual(content);
    },
  );

  test.each([
    ['b:1K*=z', 5],
    ['b:{1K*=z:{6,mpq}}', 5],
    ['b:{1K*2=n,*=z}', 3],
    ['b:{1000=b:{100*=z},*=n}', 2],
    [`b:{1K*=e:{${wireName},0102030405060708,b:{100*=z}}}`, 5],
  ])('%s makes a table of %i', (spec, count) => {
    const { bytes } = encodeBlte(content, spec, { keys });
    expect(decodeBlteHeader(bytes, bytes.length)).toMatchObject({ format: 0x0f, count, decodedSize: 5000 });
    expect(decodeBlte(bytes, { keys })).toEqual(content);
  });

  test('no bytes make a chunk of none', () => {
    for (const spec of ['n', 'z', 'b:{256K*=z}', 'b:{*=n}', 'b:{16K*=z:{6,mpq}}']) {
      expect(decodeBlte(encodeBlte(new Uint8Array(0), spec).bytes)).toHaveLength(0);
    }
  });

  test('mpq makes the window as large as the chunk needs', () => {
    const windowOf = (size: number) => {
      const { bytes } = encodeBlte(words(size), 'z:{6,mpq}');
      return toHex(bytes.subarray(8, 10));
    };
    expect([512, 513, 16_384, 16_385].map(windowOf)).toEqual(['5a18', '5a28', '5a68', '5a78']);
  });

  test('takes a parsed spec, and the fast zlib', () => {
    const spec = parseEspec('b:{1K*=z}');
    expect(decodeBlte(encodeBlte(content, spec, { zlib: 'fast' }).bytes)).toEqual(content);
    expect(encodeBlte(content, spec).ekey).toBe(encodeBlte(content, 'b:{1K*=z}').ekey);
  });

  test.each([
    ['c', 'E_UNSUPPORTED'],
    ['b:{*=g:{5}}', 'E_UNSUPPORTED'],
    ['z:{9,lz4hc}', 'E_UNSUPPORTED'],
    ['b:{4999=n}', 'E_FORMAT'],
    ['e:{0011223344556677,01020304,z}', 'E_KEY_MISSING'],
    ['what', 'E_FORMAT'],
  ])('%s is refused', (spec, name) => {
    expect(() => encodeBlte(content, spec, { keys })).toThrow(code(name));
  });
});
