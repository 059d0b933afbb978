import { expect, test } from '@jest/globals';
import { concatBytes } from '../../../../src/core/bytes.ts';
import { ByteReader } from '../../../../src/core/reader.ts';
import { diablo3Group, diablo4Group } from '../../../../src/formats/roots/sno/asset-groups.ts';
import { readSnoGroups, readWords, writeSnoGroups } from '../../../../src/formats/roots/sno/entries.ts';
import { codeThrownBy } from '../../text.ts';

const groups = [
  [],
  [
    { group: 1, snoId: 7, name: 'Rock' },
    { group: 1, snoId: 8, name: '' },
  ],
  [{ group: 5, snoId: 9, name: 'Wind' }],
];

test('groups are read as they were written, by counts and offsets from the end of a header', () => {
  const { counts, offsets, body } = writeSnoGroups(groups);
  const words = (bytes: Uint8Array): number[] => readWords(new ByteReader(bytes, 'test'), 3);
  const reader = new ByteReader(concatBytes([new Uint8Array(5), body]), 'test', 5);
  const places = { counts: words(counts), offsets: words(offsets), maxName: 10 };
  expect(places).toMatchObject({ counts: [0, 2, 1], offsets: [0, 0, 30] });
  expect(readSnoGroups(reader, places)).toEqual(groups);
});

test('more entries than bytes, and names without an end, are refused', () => {
  const { body } = writeSnoGroups(groups);
  const read = (count: number, maxName: number) => () =>
    readSnoGroups(new ByteReader(body, 'test'), { counts: [count], offsets: [0], maxName });
  expect(codeThrownBy(read(1e9, 10))).toBe('E_FORMAT_TRUNCATED');
  expect(codeThrownBy(read(2, 3))).toBe('E_FORMAT_TRUNCATED');
});

test('a kind of asset without an extension gets one of its number, one that nobody knows a name', () => {
  expect([diablo3Group(1), diablo3Group(3), diablo3Group(99)]).toEqual([
    { folder: 'Actor', extension: 'acr' },
    { folder: 'AiBehavior', extension: 'a03' },
    { folder: 'Asset99', extension: 'a99' },
  ]);
  expect([diablo4Group(71), diablo4Group(160), diablo4Group(50)]).toEqual([
    { folder: 'wWiseSoundBank', extension: 'wsb' },
    { folder: 'DeathKit', extension: '160' },
    { folder: '050', extension: '050' },
  ]);
});
