import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { importListfile } from '../../../src/builds/listfile/listfile-import.ts';
import { ListfileIndex } from '../../../src/builds/listfile/listfile-index.ts';
import { listfilePaths, listfilePointer, listfileVersion } from '../../../src/builds/listfile/listfile-paths.ts';
import { neededInLine, neededStart, neededText } from '../../../src/core/glob.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { type StoreLayout, storeLayout } from '../../../src/store/layout.ts';
import { randomSource } from '../../support/hostile.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const random = randomSource(5);
const of = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

/** Names of a few folders in any case, with either slash, in no order; some of them long. */
function someNames(count: number): string[] {
  const inAnyCase = (text: string): string =>
    Array.from(text, (one) => (random() < 0.5 ? one : one.toUpperCase())).join('');
  const folders = [
    'world/maps',
    'World\\Maps',
    'WORLD/MAPS',
    'world/map',
    'world',
    'w',
    'zebra/k',
    'ärger/x',
    'world/maps2',
  ];
  return Array.from({ length: count }, (_, i) => {
    const folder = random() < 0.1 ? inAnyCase('world/maps') : of(folders);
    const end = random() < 0.01 ? 'long'.repeat(200) : of(['.blp', '.M2', ' k.adt', '[1].x', '']);
    return `${folder}${of(['/', '\\'])}${of(['zone', 'Zone', 'other_', ''])}${i}${end}`;
  });
}

async function imported(layout: StoreLayout, names: readonly string[]): Promise<void> {
  const list = names.map((name, i) => `${i + 1};${name}\n`).join('');
  await importListfile(layout, Readable.from([Buffer.from(list)]));
}

/** Offsets that the list finds for globs. */
async function offsetsFor(layout: StoreLayout, globs: readonly string[]): Promise<number[]> {
  const index = (await ListfileIndex.open(layout))!;
  try {
    return [...(await index.offsetsOf(globs.map((glob) => neededInLine(glob)!)))];
  } finally {
    index.close();
  }
}

test('a sorted list is searched where the names begin as they must: what is found is the same as in all of it', async () => {
  const layout = storeLayout(scratch('parts'));
  await imported(layout, someNames(30_000));
  const globs = [
    ['world/maps/zone*7*'],
    ['WORLD/MAPS/*long*'],
    ['world/*'],
    ['w*/**'],
    ['zebra/k/**'],
    ['ärger/*'],
    ['nothing/*'],
    ['world/maps/zone12*', 'zebra/*', 'world/maps/**'],
    ['world\\maps/*[[]1*'],
    ['a/*'],
    ['zzz/*'],
  ];
  const inParts: number[][] = [];
  for (const some of globs) inParts.push(await offsetsFor(layout, some));
  // As an earlier version wrote it: nothing says that all of it is sorted.
  const { base } = listfileVersion(layout)!;
  writeDerived(listfilePointer(layout), Buffer.from(JSON.stringify({ base })), layout.temporary);
  for (const [i, some] of globs.entries()) {
    expect({ some, found: inParts[i] }).toEqual({ some, found: await offsetsFor(layout, some) });
  }
  expect(inParts.filter((found) => found.length > 0).length).toBeGreaterThan(6);
});

test('what is gone through is checked, and of a sorted list nothing else', async () => {
  const layout = storeLayout(scratch('damage'));
  await imported(
    layout,
    Array.from({ length: 60_000 }, (_, i) => `folder${String(Math.floor(i / 10_000))}/name${i}`),
  );
  const { text } = listfilePaths(layout, listfileVersion(layout)!.base);
  const at = readFileSync(text, 'latin1').indexOf('folder4/name45000');
  const file = openSync(text, 'r+');
  writeSync(file, 'F', at);
  closeSync(file);
  expect(await offsetsFor(layout, ['folder1/*123*'])).not.toEqual([]);
  await expect(offsetsFor(layout, ['folder4/*123*'])).rejects.toMatchObject({ code: 'E_FORMAT_CHECKSUM' });
  await expect(offsetsFor(layout, ['*name123*'])).rejects.toMatchObject({ code: 'E_FORMAT_CHECKSUM' });
});

test('the start of a needed text is the text that it was made of', () => {
  const start = (glob: string): string => neededStart(neededInLine(glob) ?? neededText(glob)!);
  expect(start('World/maps/*_5791*')).toBe('World/maps');
  expect(start('a\\b/c.d+(x)$/*longest*')).toBe('a/b/c.d+(x)$');
  expect(start('*5791*')).toBe('');
  expect(start('maps')).toBe('');
});
