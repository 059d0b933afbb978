import { describe, expect, test } from '@jest/globals';
import {
  decodePackageManifest,
  encodePackageManifest,
  packageManifestFormat,
} from '../../../src/formats/roots/package-manifest.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const key = (digit: string) => digit.repeat(32);
const u64 = (last: string) => `${last}00000000000000`;
const entry = `01000000 ${u64('aa')} ${u64('bb')}`;
const guid = '12000000 0000800d';

const byHand = {
  'build 24919, with contents': hex(
    `${u64('07')} 57610000 01000000 01000000 636d6612 01000000 ${u64('aa')}
     ${u64('00')} ${u64('00')} ${u64('00')} ${u64('05')} ${guid} 00000000 09000000 ${u64('00')} ${key('c')}`.replaceAll(
      '\n',
      '',
    ),
  ),
  'build 47161': hex(
    `39b80000 00000000 ${'00'.repeat(12)} 01000000 00000000 01000000 636d6615 ${entry} ${guid} ${'00'.repeat(24)}`,
  ),
  'build 60000': hex(
    `60ea0000 00000000 ${'00'.repeat(16)} 01000000 00000000 01000000 78563412 ${entry} ${guid} ${u64('05')} ${u64('00')}`,
  ),
};
const expected = {
  'build 24919, with contents': {
    form: { headerSize: 24, packageSize: 72, build: 24919 },
    packages: [{ guid: '0d80000000000012', keyName: '0000000000000005', content: { size: 9, ckey: key('c') } }],
  },
  'build 47161': { form: { headerSize: 36, packageSize: 32, build: 47161 }, packages: [{ guid: '0d80000000000012' }] },
  'build 60000': {
    form: { headerSize: 40, packageSize: 24, build: 60000 },
    packages: [{ guid: '0d80000000000012', keyName: '0000000000000005' }],
  },
};

describe.each(Object.entries(byHand))('a manifest of %s', (name, bytes) => {
  const { form, packages } = expected[name as keyof typeof expected];

  test('gives its packages', () => {
    expect(packageManifestFormat.matches(bytes)).toBe(true);
    const manifest = decodePackageManifest(bytes);
    expect(manifest).toMatchObject(form);
    expect([...manifest.packages]).toMatchObject(packages);
    expect(manifest.entries.count).toBe(1);
  });

  test('comes back byte for byte', () => {
    expect(encodePackageManifest(decodePackageManifest(bytes))).toEqual(bytes);
  });

  test('keeps fields that nobody knows', () => {
    const odd = bytes.slice();
    odd[form.packageSize === 32 ? odd.length - 1 : odd.length - form.packageSize + 16] = 0x77;
    expect(encodePackageManifest(decodePackageManifest(odd))).toEqual(odd);
  });

  test('that is cut or goes on is none', () => {
    expectHostileSafe((input) => [...decodePackageManifest(input).packages], bytes);
    expect(codeThrownBy(() => decodePackageManifest(Uint8Array.of(...bytes, 0)))).toBe('E_FORMAT');
  });
});

test('what does not fit a form is not written', () => {
  const form = { headerSize: 24, packageSize: 72, build: 24919 } as const;
  const bare = { guid: '0'.repeat(16) };
  for (const content of [
    { ...form, packages: [bare] },
    { ...form, packages: [{ ...bare, guid: 'x', content: { size: 1, ckey: key('1') } }] },
    { ...form, packages: [], entries: [new Uint8Array(20)] },
    { ...form, packages: [], header: new Uint8Array(36) },
  ]) {
    expect(codeThrownBy(() => encodePackageManifest(content))).toBe('E_FORMAT_RANGE');
  }
});
