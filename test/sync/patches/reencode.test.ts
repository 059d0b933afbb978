import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { deflateExact } from '../../../src/codecs/compression/deflate-exact.ts';
import { fromHex } from '../../../src/core/bytes.ts';
import { decodeBlte } from '../../../src/formats/blte/decode.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { parseEspec } from '../../../src/formats/blte/espec.ts';
import { emptyKeyRing, type KeyRing } from '../../../src/formats/blte/keys.ts';
import { applyZbsdiff } from '../../../src/formats/patches/zbsdiff.ts';
import { canEncode, encodeAgain } from '../../../src/sync/patches/reencode.ts';
import { sameZlib, zlibPart } from '../../../src/sync/patches/zlib-trial.ts';
import { words } from '../../codecs/ciphers/words.ts';
import { conformanceBytes, conformancePath, describeConformance } from '../../support/conformance.ts';

const plain = { keys: emptyKeyRing };
const wireName = '0011223344556677';
const keys: KeyRing = { find: (name) => (name === '7766554433221100' ? fromHex('ab'.repeat(16)) : undefined) };
const reading = (bytes: Uint8Array) => async (offset: number, size: number) => bytes.subarray(offset, offset + size);

describeConformance('files of WoW and their patches', () => {
  const folder = 'tact/cascette-rs/zbsdiff';
  const real = (key: string, end: string) => conformanceBytes(folder, `${key}.${end}`);
  const known = (key: string): Record<string, string> =>
    JSON.parse(readFileSync(conformancePath('tact/MANIFEST.json'), 'utf8'))[`cascette-rs/zbsdiff/${key}.new`]
      .peer_expects;

  test('the patched content, encoded again, has the ekey that the CDN has it under', async () => {
    const key = '35dc55e39ec07e21e9f9dd83c41ec208';
    const content = applyZbsdiff(real(key, 'old'), real(key, 'zbsdiff'), { maxSize: 1 << 20 });
    const { bytes, ekey } = await encodeAgain(content, parseEspec('b:256K*=z'), plain);
    expect(ekey).toBe(known(key).target_ekey);
    expect(decodeBlte(bytes, { ckey: known(key).target_ckey! })).toEqual(content);
  });

  test.each(['35dc55e39ec07e21e9f9dd83c41ec208', 'b3c9bd1bcc8d6e581f70b50b300ec446'])(
    'so has the old content of %s',
    async (key) => {
      const { ekey } = await encodeAgain(real(key, 'old'), parseEspec('b:256K*=z'), plain);
      expect(ekey).toBe(known(key).source_ekey);
    },
  );

  test('the zlib here is that of a manifest of 2026, and at another level it is not', async () => {
    const bytes = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    expect(await sameZlib(reading(bytes), bytes.length, { type: 'z', level: 9 })).toBe(true);
    expect(await sameZlib(reading(bytes), bytes.length, { type: 'z', level: 6 })).toBe(false);
  });
});

describe('encodeAgain', () => {
  const content = words(230_000);

  test.each(['n', 'z', 'z:6', 'b:{100K*=z}', 'b:{1000=n,5K=z:3,64K*=n}', `b:{64K*=e:{${wireName},01020304,z}}`])(
    '%s gives what encodeBlte gives',
    async (spec) => {
      expect(await encodeAgain(content, parseEspec(spec), { keys })).toEqual(encodeBlte(content, spec, { keys }));
    },
  );

  test('no bytes make what encodeBlte makes of them', async () => {
    const none = new Uint8Array();
    expect(await encodeAgain(none, parseEspec('b:{256K*=z}'), plain)).toEqual(encodeBlte(none, 'b:{256K*=z}'));
  });

  test('an interruption is heard between the chunks', async () => {
    const controller = new AbortController();
    const running = encodeAgain(words(3_000_000), parseEspec('b:64K*=n'), { ...plain, signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'E_ABORTED' });
  });
});

describe('canEncode', () => {
  test.each([
    ['n', true],
    ['z:{9,mpq}', true],
    ['z:{9,lz4hc}', false],
    ['c:{1}', false],
    ['b:{4K=n,*=g:{5}}', false],
    [`b:{4K=n,*=e:{${wireName},01020304,z}}`, true],
    ['b:{4K=n,*=e:{FF11223344556677,01020304,z}}', false],
  ])('%s: %s', (spec, expected) => {
    expect(canEncode(parseEspec(spec), keys)).toBe(expected);
  });
});

describe('sameZlib', () => {
  test.each([
    ['n', 'z'],
    ['b:{1K*=n}', 'z'],
  ])('an entry of %s has nothing to compare with', async (spec) => {
    const { bytes } = encodeBlte(words(5000), spec);
    expect(await sameZlib(reading(bytes), bytes.length, { type: 'z', level: 9 })).toBeUndefined();
  });

  test('the first zlib chunk is compared, wherever it is', async () => {
    const { bytes } = encodeBlte(words(5000), 'b:{1000=n,*=z:6}');
    expect(await sameZlib(reading(bytes), bytes.length, { type: 'z', level: 6 })).toBe(true);
    expect(await sameZlib(reading(bytes), bytes.length, { type: 'z', level: 9 })).toBe(false);
    expect(deflateExact(words(5000), { level: 6 })).not.toEqual(deflateExact(words(5000), { level: 9 }));
  });
});

test.each([
  ['n', undefined],
  ['z', { type: 'z', level: 9 }],
  ['b:{1K=n,*=e:{0011223344556677,01020304,z:{6,12}}}', { type: 'z', level: 6, bits: 12 }],
])('the zlib part of %s', (spec, part) => {
  expect(zlibPart(parseEspec(spec))).toEqual(part);
});
