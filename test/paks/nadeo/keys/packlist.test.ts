import { describe, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../../../src/core/bytes.ts';
import { keyFromBase, packlistKeys } from '../../../../src/paks/nadeo/keys/keys.ts';
import { decodePacklist, encodePacklist, type Packlist, productCrc } from '../../../../src/paks/nadeo/keys/packlist.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';

interface ExpectedList {
  version: number;
  product: string;
  productCrc32: string;
  salt: number;
  entries: Record<string, { flags: number; keyString: string; key: string }>;
}

describeConformance('packlist.dat', () => {
  const bytes = () => conformanceBytes('pak', 'nadeo', 'packlist.dat');
  const expected = (): ExpectedList =>
    JSON.parse(new TextDecoder().decode(conformanceBytes('pak', 'nadeo', 'expected.json')))['packlist.dat'];

  test('every key, those bound to the product included', () => {
    const list = decodePacklist(bytes(), expected().product);
    expect(list).toMatchObject({ version: 1, game: 'trackmania', signed: true, salt: expected().salt });
    expect(list.productCrc.toString(16)).toBe(expected().productCrc32);
    const found = Object.fromEntries(list.entries.map(({ name, flags, keyString }) => [name, { flags, keyString }]));
    for (const [name, { flags, keyString }] of Object.entries(expected().entries)) {
      expect(found[name]).toEqual({ flags, keyString });
    }
    expect(Object.fromEntries(packlistKeys(list).map(({ name, key }) => [name, toHex(keyFromBase(key))]))).toEqual(
      Object.fromEntries(Object.entries(expected().entries).map(([name, { key }]) => [name, key])),
    );
  });

  test('the product in any case; without it its entries are listed without a key', () => {
    expect(decodePacklist(bytes(), expected().product.toUpperCase()).entries[2]?.keyString).toMatch(/^[0-9A-F]{32}$/);
    expect(decodePacklist(bytes()).entries.map(({ name, keyString }) => [name, keyString === undefined])).toEqual([
      ['Synth', false],
      ['other', false],
      ['prod', true],
    ]);
  });

  test('another product is refused by name', () => {
    expect(() => decodePacklist(bytes(), 'other game')).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  });

  test('any changed byte shows in the signature', () => {
    for (let at = 6; at < bytes().length; at++) {
      const changed = bytes();
      changed[at]! ^= 1;
      expect(() => decodePacklist(changed)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^E_FORMAT/) }),
      );
    }
    const last = bytes();
    last[last.length - 1]! ^= 1;
    expect(() => decodePacklist(last)).toThrow(expect.objectContaining({ code: 'E_FORMAT_CHECKSUM' }));
  });

  test('encodes back to the same bytes', () => {
    expect(toHex(encodePacklist(decodePacklist(bytes(), expected().product), expected().product))).toBe(toHex(bytes()));
  });

  test('hostile input', () => expectHostileSafe((input) => decodePacklist(input), bytes()));
});

describe('packlist.dat of Virtual Skipper', () => {
  const list: Packlist = {
    version: 1,
    game: 'skipper',
    productCrc: 0,
    salt: 42,
    signed: false,
    entries: [{ name: 'game', flags: 0, keyString: '0123456789ABCDEF0123456789ABCDEF' }],
  };

  test('is told by its own secrets, its signature left unchecked', () => {
    expect(decodePacklist(encodePacklist(list))).toEqual(list);
  });

  test('a list of neither game is refused', () => {
    const bytes = encodePacklist(list);
    bytes[20]! ^= 0x80;
    expect(() => decodePacklist(bytes)).toThrow(expect.objectContaining({ code: 'E_FORMAT_CHECKSUM' }));
  });
});

test('an empty list has to be signed', () => {
  const list: Packlist = { version: 1, game: 'trackmania', productCrc: 0, salt: 1, signed: true, entries: [] };
  const bytes = encodePacklist(list);
  expect(decodePacklist(bytes).entries).toEqual([]);
  bytes[bytes.length - 1]! ^= 1;
  expect(() => decodePacklist(bytes)).toThrow(expect.objectContaining({ code: 'E_FORMAT_CHECKSUM' }));
});

test('what cannot be stored is refused', () => {
  const list = (name: string, keyString: string | undefined, flags = 0): Packlist => ({
    version: 1,
    game: 'trackmania',
    productCrc: productCrc('tm'),
    salt: 1,
    signed: true,
    entries: [{ name, flags, keyString }],
  });
  const key = toHex(fromHex('00112233445566778899aabbccddeeff'));
  for (const bad of [
    list('', key),
    list('x'.repeat(32), key),
    list('x', 'short'),
    list('x', undefined),
    list('x', key, 1),
  ]) {
    expect(() => encodePacklist(bad)).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  }
});
