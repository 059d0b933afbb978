import { describe, expect, test } from '@jest/globals';
import { toHex } from '../../../src/core/bytes.ts';
import { formatError } from '../../../src/core/errors.ts';
import {
  type ContentManifestForm,
  contentManifestFormat,
  decodeContentManifest,
  encodeContentManifest,
  type PlainContentManifest,
} from '../../../src/formats/roots/content-manifest.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const u32 = (value: number) => toHex(Uint8Array.from([value, value >>> 8, value >>> 16, value >>> 24]));
const key = (digit: string) => digit.repeat(32);
const entry = '01000000 1111111111111111 2222222222222222';
const asset = `12000000 0000800d 05000000`;

/** By hand: the header of a form, an entry, an asset. */
const byHand = {
  oldest: hex(
    `${u32(24919)} ${'00000000'.repeat(4)} 01000000 00000000 01000000 636d6612 01000000 1111111111111111 ${asset} ${key('a')}`,
  ),
  '1.22': hex(
    `${u32(52320)} ${'00000000'.repeat(5)} 01000000 00000000 01000000 636d6619 ${entry} ${asset} ${key('a')}`,
  ),
  '1.48': hex(
    `${u32(70000)} ${'00000000'.repeat(6)} 07000000 01000000 08000000 01000000 636d661a ${entry} ${asset} 09 ${key('a')}`,
  ),
};

function plain(bytes: Uint8Array): PlainContentManifest {
  const manifest = decodeContentManifest(bytes);
  if (manifest.encrypted) throw formatError('E_FORMAT', 'test', 'encrypted');
  return manifest;
}

describe.each(Object.entries(byHand) as [ContentManifestForm, Uint8Array][])('a manifest of form %s', (form, bytes) => {
  test('gives its contents by their ids', () => {
    expect(contentManifestFormat.matches(bytes)).toBe(true);
    const manifest = plain(bytes);
    expect(manifest).toMatchObject({ form, encrypted: false, assetCount: 1, entryCount: 1 });
    const unknown = form === '1.48' ? { unknown: 9 } : {};
    expect([...manifest.assets]).toEqual([{ guid: '0d80000000000012', size: 5, ckey: key('a'), ...unknown }]);
    expect(manifest.entries.stride).toBe(form === 'oldest' ? 12 : 20);
  });

  test('comes back byte for byte', () => {
    expect(encodeContentManifest(decodeContentManifest(bytes))).toEqual(bytes);
  });

  test('that is encrypted says so, and no more than its header', () => {
    const locked = bytes.slice();
    const at = bytes.findIndex((byte, i) => byte === 0x63 && bytes[i + 1] === 0x6d && bytes[i + 2] === 0x66);
    locked.set([bytes[at + 3]!, 0x66, 0x6d, 0x63], at);
    locked.fill(0x5a, at + 4);
    const manifest = decodeContentManifest(locked);
    expect(manifest).toMatchObject({ form, encrypted: true, version: bytes[at + 3]!, assetCount: 1 });
    expect(manifest).not.toHaveProperty('assets');
    expect(encodeContentManifest(manifest)).toEqual(locked);
  });

  test('that is cut, changed or goes on is refused', () => {
    expectHostileSafe((input) => [...plain(input).assets], bytes);
    expect(codeThrownBy(() => decodeContentManifest(Uint8Array.of(...bytes, 0)))).toMatch(/^E_FORMAT/);
  });
});

test('build 68309 goes by where the magic stands', () => {
  for (const form of ['1.22', '1.48'] as const) {
    const bytes = encodeContentManifest({ form, build: 68309, version: 26, assets: [] });
    expect(decodeContentManifest(bytes)).toMatchObject({ form, build: 68309, version: 26 });
  }
});

test('other bytes are none, and what does not fit is not written', () => {
  expect(contentManifestFormat.matches(new Uint8Array(100))).toBe(false);
  expect(codeThrownBy(() => decodeContentManifest(new Uint8Array(100)))).toBe('E_FORMAT_MAGIC');
  const content = { form: '1.22' as const, build: 60000, version: 1 };
  expect(
    codeThrownBy(() => encodeContentManifest({ ...content, assets: [{ guid: 'x', size: 1, ckey: key('1') }] })),
  ).toBe('E_FORMAT_RANGE');
  expect(codeThrownBy(() => encodeContentManifest({ ...content, entries: [new Uint8Array(12)], assets: [] }))).toBe(
    'E_FORMAT_RANGE',
  );
});
