import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { IdSet } from '../../../../src/core/tables/id-set.ts';
import { SortedDiskFiles } from '../../../../src/sources/paks/make/disk-files.ts';
import { filesOf, originsOf } from '../../../../src/sources/paks/make/pack-inputs.ts';
import { gather } from '../../../support/pak-sources.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const scratch = scratchFolder();
const stat = { size: 3, mtimeMs: 1_000_000.6 };

function reading() {
  const read: number[] = [];
  return {
    read,
    reading: { signal: undefined, made: 0, counted: new IdSet(), onRead: (size: number) => read.push(size) },
  };
}

test('files of several origins come in the order of their names, and count once however often they are read', async () => {
  mkdirSync(scratch('in/a'), { recursive: true });
  writeFileSync(scratch('in/a/x'), 'one');
  writeFileSync(scratch('single'), 'two');
  const { read, reading: how } = reading();
  const origins = originsOf([
    { path: scratch('single'), name: 'z' },
    { path: scratch('in'), name: 'below\\' },
  ]);
  const files = new SortedDiskFiles(scratch('out.pak'), origins, how);
  for (const { name, origin } of filesOf(origins, { out: scratch('out.pak'), onPassed: () => {} }))
    files.add(name, origin, stat);
  expect([files.count, files.bytes]).toEqual([2, 6]);
  for (const _ of [1, 2]) {
    const seen: unknown[] = [];
    for (const file of files)
      seen.push([file.name, file.size, file.mtime.getTime(), Buffer.from(await gather(file.open())).toString()]);
    expect(seen).toEqual([
      ['below/a/x', 3, 1_000_001, 'one'],
      ['z', 3, 1_000_001, 'two'],
    ]);
  }
  expect(read).toEqual([3, 3]);
  files.close();
});

test('very many lie in a file beside the PAK, which is not packed, and is gone afterwards', () => {
  const [folder, out] = [scratch('many'), scratch('many/out.pak')];
  mkdirSync(folder);
  const origins = originsOf([{ path: folder }]);
  const files = new SortedDiskFiles(out, origins, reading().reading);
  const nameOf = (i: number): string => `folder/${'x'.repeat(100)}${(i * 7919) % 100_003}`;
  for (let i = 0; i < 100_003; i++) files.add(nameOf(i), 0, { size: i, mtimeMs: i });
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\.pakrat-.*\.tmp$/)]);
  writeFileSync(scratch('many/other'), '');
  writeFileSync(out, '');
  expect(Array.from(filesOf(origins, { out, onPassed: () => {} }), ({ name }) => name)).toEqual(['other']);
  let last = '';
  let sum = 0;
  for (const { name, size } of files) {
    if (name <= last || name !== nameOf(size)) throw new Error(`${last} ${name}`);
    last = name;
    sum += size;
  }
  expect(sum).toBe((100_003 * 100_002) / 2);
  files.close();
  expect(readdirSync(folder).sort()).toEqual(['other', 'out.pak']);
  expect(existsSync(out)).toBe(true);
});
