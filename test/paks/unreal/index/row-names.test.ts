import { describe, expect, test } from '@jest/globals';
import { foldName } from '../../../../src/paks/names.ts';
import { emptyRecord } from '../../../../src/paks/unreal/entries/entry-record.ts';
import { type IndexRows, RowList } from '../../../../src/paks/unreal/index/index-rows.ts';
import { hashAscii, hashStart, hashText, noHash } from '../../../../src/paks/unreal/index/rows/name-hash.ts';
import { RowNames } from '../../../../src/paks/unreal/index/rows/row-names.ts';

function rowsOf(names: readonly string[]): RowList {
  const list = new RowList();
  for (const name of names) list.add(name, emptyRecord);
  return list;
}

/** The answers for some names and all rows: the last row of each name, and the next row of the same name. */
function answers(rows: IndexRows, asked: readonly string[], wasAsked: number): unknown {
  const names = new RowNames(rows);
  for (let i = 0; i < wasAsked; i++) names.find('nothing');
  const found = asked.map((name) => names.find(name));
  return [found, Array.from({ length: rows.count }, (_, row) => names.shadowOf(row))];
}

const tricky = ['a/b', 'A/B', './a/b', 'a\\B', '\u212a', 'k', 'K', 'é', 'É', '/lead', 'lead', 'x/./y', 'x/y', ''];

test.each([0, 1, 2, 3, 20])('a name gives its last row, whatever its case and slashes, after %i others', (wasAsked) => {
  const rows = rowsOf(tricky);
  const names = new RowNames(rows);
  for (let i = 0; i < wasAsked; i++) names.find('nothing');
  const asked = ['a/b', 'K', 'É', 'LEAD', 'X/y', '', 'none'];
  expect(asked.map((name) => names.find(name))).toEqual([3, 6, 8, 10, 12, 13, undefined]);
  const shadows = [0, 1, 2, 3, 4, 5, 6, 9].map((row) => new RowNames(rows).shadowOf(row));
  expect(shadows).toEqual([1, 2, 3, undefined, 5, 6, undefined, 10]);
});

test('a table says of many rows what going through all of them says', () => {
  const names = Array.from({ length: 5000 }, (_, i) => `dir${i % 3}/File${(i * 7919) % 3000}.uasset`);
  const asked = [...names.slice(0, 50), ...names.slice(0, 50).map((name) => name.toUpperCase()), 'nothing'];
  const truth = new Map<string, number>();
  const shadows: (number | undefined)[] = [];
  names.forEach((name, row) => {
    const earlier = truth.get(foldName(name));
    if (earlier !== undefined) shadows[earlier] = row;
    shadows[row] = undefined;
    truth.set(foldName(name), row);
  });
  expect(answers(rowsOf(names), asked, 4)).toEqual([asked.map((name) => truth.get(foldName(name))), shadows]);
});

describe('names whose hashes are all the same', () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `name ${i % 15_000} ${'x'.repeat(40)}`);

  test('are found all the same, and soon', () => {
    const list = rowsOf(names);
    let decoded = 0;
    const rows: IndexRows = {
      count: list.count,
      nameAt(row) {
        decoded += 1;
        return list.nameAt(row);
      },
      storedNameAt: (row) => list.storedNameAt(row),
      recordAt: (row) => list.recordAt(row),
      nameHashAt: () => 1,
    };
    const table = new RowNames(rows);
    for (let i = 0; i < 3; i++) table.find('nothing');
    decoded = 0;
    expect([table.find(names[0]!), table.find(names[16_000]!)]).toEqual([15_000, 16_000]);
    expect([table.shadowOf(0), table.shadowOf(15_000)]).toEqual([15_000, undefined]);
    // All against all would be 200 million.
    expect(decoded).toBeLessThan(1_000_000);
  });
});

test('bytes of ASCII have the hash of their text, in pieces too, and others have none', () => {
  const bytes = Buffer.from('Content/Maps/A.umap');
  expect(hashAscii(bytes, 0, bytes.length, hashStart)).toBe(hashText('content/maps/a.umap'));
  expect(hashAscii(bytes, 8, bytes.length, hashAscii(bytes, 0, 8, hashStart))).toBe(hashText('content/maps/a.umap'));
  for (const name of ['é', 'a\\b', '/a', './a', 'a/./b']) {
    const odd = Buffer.from(name);
    expect([name, hashAscii(odd, 0, odd.length, hashStart)]).toEqual([name, noHash]);
  }
});
