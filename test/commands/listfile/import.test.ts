import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { importListfile } from '../../../src/builds/listfile/listfile-import.ts';
import { listfilePaths, listfileVersion } from '../../../src/builds/listfile/listfile-paths.ts';
import { readDerived } from '../../../src/store/derived/derived-file.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { randomSource } from '../../support/hostile.ts';
import { pakratJson, runPakrat } from '../../support/run-pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { someOf } from '../../support/some-of.ts';
import { describeTmpfs, withTmpfs } from '../../support/tmpfs.ts';

// Lists that are long enough for a thread. The built program, as a person would run it.
jest.setTimeout(60_000);
const scratch = scratchFolder();
const count = 70_000;

/** A list, in order by its ids or not, some ids twice, and some names that differ in what a hash does not see. */
function listOf(kind: 'ascending' | 'mixed' | 'names alone'): string {
  const random = randomSource(5);
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    const folder = ['world/maps/a', 'World\\Maps\\a', 'sound/ä', '', 'world/maps/b/c'][Math.floor(random() * 5)]!;
    const name = `${folder}${folder && '/'}${String(Math.floor(random() * count)).padStart(6, '0')}.blp`;
    const id = { ascending: i, mixed: Math.floor(random() * count), 'names alone': '' }[kind];
    lines.push(`${id};${name}\n`);
  }
  return lines.join('');
}

/** What a store has of its list: the bytes of the text and of both look-up files. */
function filesOf(store: string): Buffer[] {
  const layout = storeLayout(store);
  const { text, ids, hashes } = listfilePaths(layout, listfileVersion(layout)!.base);
  return [text, ids, hashes].map((path) => Buffer.from(readDerived(path)));
}

/** The same with the library, in one thread. */
async function importHere(store: string, lists: readonly string[]): Promise<Buffer[]> {
  mkdirSync(store);
  for (const list of lists) {
    const chunks = (async function* () {
      yield Buffer.from(list);
    })();
    await importListfile(storeLayout(store), chunks, { threads: 0 });
  }
  return filesOf(store);
}

function written(name: string, list: string): string {
  const path = scratch(name);
  writeFileSync(path, list);
  return path;
}

describe('a long list', () => {
  const kinds = ['ascending', 'mixed', 'names alone'] as const;
  const chosen = someOf(kinds, (kind) => kind !== 'ascending');
  test.each(chosen)('%s: is the same by a thread and without', async (kind) => {
    const [list, store] = [listOf(kind), scratch(`store-${kind}`)];
    const lines = list.split('\n').slice(0, -1);
    // Some names change, some are new.
    const next = lines.map((line, i) => (i % 100 ? line : `${line}2`)).concat('4000000000;new/name.m2', '');
    // One of them from Windows: its lines are not copied as they are.
    const ended = (text: string): string => (kind === 'mixed' ? text.replaceAll('\n', '\r\n') : text);
    const import_ = (name: string, text: string): Promise<{ value: unknown }> =>
      pakratJson(['listfile', 'import', written(name, ended(text)), '--store', store]);
    const ids = new Set(lines.map((line) => line.split(';')[0]).filter((id) => id !== '')).size;
    expect((await import_(`${kind}-1`, list)).value).toMatchObject({ rows: count, ids, changed: 0, removed: 0 });
    const [text, byId, byHash] = filesOf(store);
    expect([text, byId, byHash]).toEqual(await importHere(scratch(`here-${kind}`), [list]));
    // By the definition: the last line of each id, by the bytes of the names.
    const last = new Map(lines.map((line, i) => [line.split(';')[0], i]));
    const kept = lines.filter((line, i) => line.startsWith(';') || last.get(line.split(';')[0]) === i);
    const nameOf = (line: string): Buffer => Buffer.from(line.slice(line.indexOf(';') + 1));
    kept.sort((a, b) => Buffer.compare(nameOf(a), nameOf(b)));
    expect(text!.toString()).toBe(`${kept.join('\n')}\n`);
    expect([byId!.length / 19, byHash!.length / 19]).toEqual([ids, kept.length]);
    expect((await import_(`${kind}-2`, next.join('\n'))).value).toMatchObject({ rows: count + 1 });
    expect(filesOf(store)).toEqual(await importHere(scratch(`both-${kind}`), [list, next.join('\n')]));
  });

  test('that is none after millions of bytes is told, and the names stay', async () => {
    const [list, store] = [listOf('ascending'), scratch('store-bad')];
    runPakrat(['listfile', 'import', written('good', list), '--store', store]);
    const before = filesOf(store);
    const { status, value } = await pakratJson(['listfile', 'import', written('bad', `${list}\0`), '--store', store]);
    expect([status, value]).toMatchObject([5, { error: { code: 'E_FORMAT' } }]);
    expect(filesOf(store)).toEqual(before);
    expect(readdirSync(join(store, 'tmp'))).toEqual([]);
  });
});

describeTmpfs('a long list on a small disk', () => {
  // Full while the text is written, and while both look-up files are.
  const sizes = someOf(['2m', '3m', '4m'], (size) => size !== '3m');
  test.each(sizes)('of %s: is told, the names stay, and are there when there is room', async (size) => {
    await withTmpfs(size, async (folder, resize) => {
      const store = join(folder, 'store');
      const short = written(`short-${size}`, '1;a\n');
      const long = written(`long-${size}`, listOf('ascending'));
      expect(runPakrat(['listfile', 'import', short, '--store', store]).status).toBe(0);
      const before = filesOf(store);
      const { status, value } = await pakratJson(['listfile', 'import', long, '--store', store]);
      expect([status, value]).toMatchObject([1, { error: { code: 'E_STORE_FULL' } }]);
      expect(filesOf(store)).toEqual(before);
      expect(readdirSync(join(store, 'tmp'))).toEqual([]);
      resize('64m');
      expect(runPakrat(['listfile', 'import', long, '--store', store])).toMatchObject({ status: 0 });
      expect(filesOf(store)[1]!.length).toBe(19 * count);
    });
  });
});
