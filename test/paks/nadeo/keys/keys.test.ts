import { describe, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../../../src/core/bytes.ts';
import {
  decodeKeyFile,
  headerKey,
  keyCandidates,
  keyFromBase,
  keyFromMasterServer,
  withoutPackEnding,
} from '../../../../src/paks/nadeo/keys/keys.ts';

describe('pack keys', () => {
  test('from a base key: two independent lists agree on this one', () => {
    expect(toHex(keyFromBase(fromHex('21DA8E75B00B33FD68EFA7182FD2163F')))).toBe('f0415ea5352011e9c76ff5a97c6fd5d6');
  });

  test('from a key of the master server', () => {
    const contents = fromHex('25FA258CC701591F13702EAC817318D86ED3907404A2C5A84E663D2DCE52C67D');
    const key = keyFromMasterServer(fromHex('59D87AEFB33C595D00A864F27E591C54'), contents);
    expect(toHex(key)).toBe('71e67cf23565f11f338aacc7ebd81df1');
  });

  test('of the header, by its flags', () => {
    const packKey = fromHex('ffffffffffffffffffffffffffffffff');
    expect(headerKey(0, packKey)).toBeUndefined();
    expect(headerKey(4, packKey)).toBeUndefined();
    expect(toHex(headerKey(1, packKey)!)).toBe(toHex(packKey));
    expect(toHex(headerKey(2, undefined)!)).toBe('56eecbbbdeb6bc90a17dfceb761d59ce');
    expect(toHex(headerKey(3, packKey)!)).toBe('a91134442149436f5e82031489e2a631');
    expect(() => headerKey(1, undefined)).toThrow(expect.objectContaining({ code: 'E_KEY_MISSING' }));
  });
});

describe('key files', () => {
  test('a name and 32 digits a line', () => {
    const keys = decodeKeyFile(
      `\uFEFF# games\r\nStadium 21DA8E75B00B33FD68EFA7182FD2163F\n\nSome Pack.pak\t${'0'.repeat(32)}\n`,
    );
    expect(keys.map(({ name, key }) => [name, toHex(key)])).toEqual([
      ['Stadium', '21da8e75b00b33fd68efa7182fd2163f'],
      ['Some Pack', '0'.repeat(32)],
    ]);
  });

  test('another line is refused with its number', () => {
    expect(() => decodeKeyFile('Stadium 21DA\n')).toThrow(
      expect.objectContaining({ code: 'E_FORMAT', message: expect.stringContaining('line 1') }),
    );
  });
});

describe('the keys to try', () => {
  const named = (name: string, digit: string) => ({ name, key: fromHex(digit.repeat(32)) });

  test('those named like the pack first, all of them, then keys without a name, then the rest', () => {
    const ring = {
      namedKeys: [named('Other', '1'), named('stadium', '2'), named('Stadium.pak', '3')],
      keys: [fromHex('4'.repeat(32))],
    };
    const candidates = keyCandidates(ring, '/games/tm/STADIUM.PAK');
    expect(candidates.map(({ kind, packName }) => `${kind} ${packName ?? ''}`)).toEqual([
      'base key stadium',
      'base key Stadium.pak',
      'base key ',
      'final key ',
      'base key Other',
    ]);
  });

  test('a key as 32 hex digits is a key; other lengths are not', () => {
    const text = new TextEncoder().encode('00112233445566778899AABBCCDDEEFF');
    expect(toHex(keyCandidates({ keys: [text] }, 'x')[0]!.key)).toBe('661b61b07517cad5d713b69991fdb06f');
    expect(keyCandidates({ keys: [new Uint8Array(32), new Uint8Array(5)] }, 'x')).toEqual([]);
  });

  test('pack names lose folders and endings', () => {
    expect(withoutPackEnding('C:\\Packs\\Stadium.pak')).toBe('Stadium');
    expect(withoutPackEnding('a/b/Title@me.Title.Pack.Gbx')).toBe('Title@me.Title');
  });
});
