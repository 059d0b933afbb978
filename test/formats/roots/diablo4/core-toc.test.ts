import { describe, expect, test } from '@jest/globals';
import {
  type Diablo4Toc,
  decodeDiablo4Toc,
  diablo4TocFormat,
  encodeDiablo4Toc,
} from '../../../../src/formats/roots/diablo4/core-toc.ts';
import { diablo4Namer, parseDiablo4Path, printDiablo4Path } from '../../../../src/formats/roots/diablo4/names.ts';
import {
  decodeEncryptedNames,
  decodeEncryptedSnos,
  decodeSharedPayloads,
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeSharedPayloads,
} from '../../../../src/formats/roots/diablo4/side-tables.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { codeThrownBy } from '../../text.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));

const toc: Diablo4Toc = {
  newer: true,
  unknown: 0x0506,
  groups: [
    { entries: [], formatHash: 1 },
    { entries: [{ group: 1, snoId: 77, name: 'Wolf' }], formatHash: 0xdeadbeef },
    {
      entries: [
        { group: 2, snoId: 78, name: 'b' },
        { group: 2, snoId: 79, name: 'Größe' },
      ],
      formatHash: 3,
      secondCount: 5,
    },
  ],
};

describe('the layout, byte for byte as it is described', () => {
  const groups = '4d000000 00000000 576f6c6600';
  test('CoreTOC, newer form: magic, groups, four words a group, one more; offsets from behind those', () => {
    const bytes = hex(
      `1166debc 02000000 00000000 01000000 00000000 00000000 00000000 01000000 0a000000 0b000000 09000000 01000000 ${groups}`,
    );
    expect(diablo4TocFormat.matches(bytes)).toBe(true);
    const decoded = decodeDiablo4Toc(bytes);
    expect(decoded).toEqual({
      newer: true,
      unknown: 9,
      groups: [
        { entries: [], formatHash: 10 },
        { entries: [{ group: 1, snoId: 77, name: 'Wolf' }], formatHash: 11 },
      ],
    });
    expect(encodeDiablo4Toc(decoded)).toEqual(bytes);
  });

  test('CoreTOC, older form: without magic and hashes', () => {
    const bytes = hex(`01000000 01000000 00000000 02000000 09000000 01000000 ${groups}`);
    const decoded = decodeDiablo4Toc(bytes);
    expect(decoded).toEqual({
      newer: false,
      unknown: 9,
      groups: [{ entries: [{ group: 1, snoId: 77, name: 'Wolf' }], secondCount: 2 }],
    });
    expect(encodeDiablo4Toc(decoded)).toEqual(bytes);
  });

  test('the tables beside it', () => {
    const encrypted = hex('4d33bf4c 01000000 02000000 4e000000 8877665544332211');
    expect(decodeEncryptedSnos(encrypted)).toEqual([{ group: 2, snoId: 78, keyName: 0x1122334455667788n }]);
    expect(encodeEncryptedSnos(decodeEncryptedSnos(encrypted))).toEqual(encrypted);

    const names = hex('6745cdab 02000000 01000000 07000000 02000000 08000000 6100 626300');
    expect(decodeEncryptedNames(names)).toEqual([
      { group: 1, snoId: 7, name: 'a' },
      { group: 2, snoId: 8, name: 'bc' },
    ]);
    expect(encodeEncryptedNames(decodeEncryptedNames(names))).toEqual(names);

    const older = hex('0300baab 01000000 05000000 06000000');
    expect(decodeSharedPayloads(older)).toEqual({ payloads: [{ snoId: 5, payloadOf: 6 }] });
    const newer = Uint8Array.of(...older, ...hex('01000000 07000000 01000000 08000000 02000000'));
    expect(decodeSharedPayloads(newer).children).toEqual([
      { child: { snoId: 7, subId: 1 }, payloadOf: { snoId: 8, subId: 2 } },
    ]);
    for (const bytes of [older, newer]) expect(encodeSharedPayloads(decodeSharedPayloads(bytes))).toEqual(bytes);
  });
});

test('a table comes back as it was', () => {
  expect(decodeDiablo4Toc(encodeDiablo4Toc(toc))).toEqual(toc);
  const older = {
    ...toc,
    newer: false,
    groups: toc.groups.map(({ formatHash: _, ...group }) => group),
  };
  expect(decodeDiablo4Toc(encodeDiablo4Toc(older))).toEqual(older);
});

describe('paths', () => {
  test.each([
    ['Base/meta/77', { set: 'Base', kind: 'meta', snoId: 77 }],
    ['enUS_Text/child/77-3', { set: 'enUS_Text', kind: 'child', snoId: 77, subId: 3 }],
    ['Speech/paymid/0', { set: 'Speech', kind: 'paymid', snoId: 0 }],
    ['Base/paymed/4294967295', { set: 'Base', kind: 'paymed', snoId: 0xffffffff }],
  ])('%s', (path, parts) => {
    expect(parseDiablo4Path(path)).toEqual(parts);
    expect(printDiablo4Path(parts)).toBe(path);
  });

  test.each([
    'Base',
    'Base/CoreTOC.dat',
    'Base/meta/x',
    'Base/meta/4294967296',
    'Other/meta/7',
    'base/meta/7/8',
    'x/Base/meta/7',
  ])('%s is no asset', (path) => expect(parseDiablo4Path(path)).toBeUndefined());
});

describe('names', () => {
  const nameOf = diablo4Namer({
    toc: {
      newer: true,
      unknown: 0,
      groups: [
        {
          entries: [
            { group: 29, snoId: 1, name: 'Fireball' },
            { group: 29, snoId: 2, name: 'fireball' },
            { group: 44, snoId: 3, name: 'locked' },
            { group: 44, snoId: 4, name: 'locked' },
            { group: 158, snoId: 5, name: 'Kehjistan' },
            { group: 999, snoId: 6, name: 'New' },
            { group: 1, snoId: 1, name: 'twice' },
          ],
        },
      ],
    },
    encrypted: [
      { group: 44, snoId: 3, keyName: 1n },
      { group: 44, snoId: 4, keyName: 2n },
    ],
    encryptedNames: [{ group: 44, snoId: 3, name: 'Secret' }],
  });

  test.each([
    [{ snoId: 1 }, 'Base/meta/Power/Fireball.pow'],
    [{ snoId: 1, subId: 12 }, 'Base/meta/Power/Fireball-12.pow'],
    [{ snoId: 2 }, 'Base/meta/Power/fireball~2.pow'],
    [{ snoId: 3 }, 'Base/meta/Texture/Secret.tex'],
    [{ snoId: 4 }, 'Base/meta/Texture/_encrypted_4.tex'],
    [{ snoId: 5 }, 'Base/meta/Zone/Kehjistan.158'],
    [{ snoId: 6 }, 'Base/meta/999/New.999'],
    [{ snoId: 7 }, undefined],
  ])('%j is %s', (ids, name) => {
    expect(nameOf({ set: 'Base', kind: 'meta', ...ids })).toBe(name);
  });
});

test('hostile bytes', () => {
  expectHostileSafe(decodeDiablo4Toc, encodeDiablo4Toc(toc));
  expectHostileSafe(decodeDiablo4Toc, encodeDiablo4Toc({ ...toc, newer: false }));
  expectHostileSafe(decodeEncryptedSnos, encodeEncryptedSnos([{ group: 1, snoId: 2, keyName: 3n }]));
  expectHostileSafe(decodeEncryptedNames, encodeEncryptedNames([{ group: 1, snoId: 2, name: 'abc' }]));
  const shared = { payloads: [{ snoId: 1, payloadOf: 2 }], children: [] };
  // Cut behind the payloads it is the older form.
  expectHostileSafe(decodeSharedPayloads, encodeSharedPayloads(shared), { prefixesFail: false });
  expect(codeThrownBy(() => decodeDiablo4Toc(hex('ffffffff ffffffff')))).toBe('E_FORMAT_RANGE');
  // Groups that share their bytes must not multiply them.
  const many = hex(`01000000 ffffff00 00000000 00000000 00000000 ${'00'.repeat(64)}`);
  expect(codeThrownBy(() => decodeDiablo4Toc(many))).toBe('E_FORMAT_TRUNCATED');
});
