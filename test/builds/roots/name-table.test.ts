import { expect, test } from '@jest/globals';
import { openNameTable } from '../../../src/builds/roots/name-table.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const key = 'b'.repeat(32);

test('a table of names lists those that are asked for, whatever their characters, and however many', async () => {
  const odd = ['a"b', 'a\\b', 'new\nline', 'ü/\u{1f600}', '\u2028', '"', '\\', 'a', `z/${'long/'.repeat(300_000)}`];
  const many = Array.from({ length: 30_000 }, (_, i) => `folder ${i % 7}/file "${i}" ü.dat`);
  const names = [...odd, ...many];
  const rows = names.map((name, i) => ({ name, parts: [{ ckey: key, size: i }] }));
  const folders = storeLayout(scratch('store'));
  const root = await openNameTable({ folders, kind: 'text', ckey: key, rows: () => rows });
  await root.checkAll();
  const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  for (const matches of [() => true, (name: string) => odd.includes(name), (name: string) => name.includes('3/')]) {
    const asked: string[] = [];
    const listed = Array.from(
      root.list((name) => asked.push(name) > 0 && matches(name)),
      ({ name, parts }) => [name, names[parts[0]!.size!]],
    );
    const expected = sorted.filter(matches);
    expect(listed).toEqual(expected.map((name) => [name, name]));
    expect(asked).toEqual(sorted);
    expect(expected.length).toBeGreaterThan(0);
  }
  root.close();
});
