import { readdirSync, readlinkSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { look } from '../../../src/sources/look.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { quakePak } from '../../support/quake-pak.ts';

/** More than are kept in memory, and their names more than are sorted there. */
const count = 220_000;

/** Temporary files that are open, whether they have a name or not. */
function temporaries(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`);
      return file.includes('.pakrat-') ? [file] : [];
    } catch {
      return [];
    }
  });
}

interface File {
  name: string;
  content: string;
}

function manyFiles(): File[] {
  const files = Array.from({ length: count }, (_, i) => ({
    name: `maps/${(i * 40_503) % 65_521}/${['Z', 'a', 'é'][i % 3]}-a-name-that-is-long-${i}.bsp`,
    content: String(i),
  }));
  // The engine gives the first of two.
  return [...files, { ...files[0]!, content: 'again' }];
}

const open = async (files: File[]) => pakSource(await openPak(bytesSource(quakePak(files))), 'many');

test('rows of a PAK of very many files come by the bytes of their names, each with all that is known of it', async () => {
  const files = manyFiles();
  const source = await open(files);
  const before = temporaries();
  const found: { name: string; index: number | undefined; size: number | undefined; hidden: boolean }[] = [];
  for await (const rows of look(source, { names: [], recursive: true, onMissing() {} })) {
    for (const row of rows) {
      if (!('index' in row)) continue;
      found.push({ name: row.name, index: row.index, size: row.size, hidden: row.hidden !== undefined });
    }
  }
  const expected = files.map(({ name, content }, index) => ({
    name,
    index,
    size: content.length,
    hidden: index === count,
  }));
  const key = Buffer.from;
  expected.sort((a, b) => Buffer.compare(key(a.name), key(b.name)) || a.index - b.index);
  expect(found).toHaveLength(expected.length);
  // To tell all that differs of so many takes minutes.
  const differs = found.findIndex((row, i) => !isDeepStrictEqual(row, expected[i]));
  expect([found[differs], differs]).toEqual([expected[differs], -1]);
  expect(temporaries()).toEqual(before);
});

test('nothing is left behind by who takes the first of very many rows and no more', async () => {
  const source = await open(manyFiles());
  const before = temporaries();
  for await (const [row] of look(source, { names: [], recursive: true, onMissing() {} })) {
    expect(row).toBeDefined();
    expect(temporaries()).toHaveLength(before.length + 1);
    break;
  }
  expect(temporaries()).toEqual(before);
});
