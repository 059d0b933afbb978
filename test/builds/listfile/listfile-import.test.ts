import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, jest, test } from '@jest/globals';
import {
  importListfile,
  type ListfileChange,
  lockListfile,
  replaceListfile,
} from '../../../src/builds/listfile/listfile-import.ts';
import { ListfileIndex } from '../../../src/builds/listfile/listfile-index.ts';
import { listfilePaths } from '../../../src/builds/listfile/listfile-paths.ts';
import { nameHash, normalizeName } from '../../../src/core/jenkins.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { type StoreLayout, storeLayout } from '../../../src/store/layout.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
const store = (): StoreLayout => storeLayout(scratch(`s${number++}`));
const text = (list: string): AsyncIterable<Uint8Array> => Readable.from([Buffer.from(list)]);
const add = (layout: StoreLayout, list: string): Promise<ListfileChange> => importListfile(layout, text(list));
const url = 'http://names.test/list';
const update = (layout: StoreLayout, list: string, from = url): Promise<ListfileChange> =>
  replaceListfile(layout, text(list), { url: from });

/** The name that a list has for an id. */
function nameOf(index: ListfileIndex, id: number): string | undefined {
  const listed = index.find(id);
  return listed && index.nameAt(listed);
}

/** All names by id, and which of `plain` are known without one. */
async function known(layout: StoreLayout, plain: readonly string[] = []): Promise<Record<string, string | boolean>> {
  const index = (await ListfileIndex.open(layout))!;
  const ids: Record<string, string | boolean> = Object.fromEntries(
    Array.from(index.listedIds(), (listed) => [listed.fileDataId, index.nameAt(listed)]),
  );
  for (const name of plain) ids[name] = index.namesOfHash(nameHash(name)).length > 0;
  for (const [id, name] of Object.entries(ids)) {
    if (typeof name === 'string')
      expect([nameOf(index, Number(id)), index.idOf(normalizeName(name))]).toEqual([name, Number(id)]);
  }
  index.close();
  return ids;
}

describe('imported names', () => {
  test('newer names stand in for older, others stay, and the counts say so', async () => {
    const layout = store();
    expect(await add(layout, '5;e\n2;b\n')).toEqual({ rows: 2, ids: 2, added: 2, changed: 0, removed: 0 });
    expect(await add(layout, '2;B2\n9;ü/n\n5;e\n')).toEqual({ rows: 3, ids: 3, added: 1, changed: 1, removed: 0 });
    expect(await known(layout)).toEqual({ 2: 'B2', 5: 'e', 9: 'ü/n' });
  });

  test('names without an id are kept, once each', async () => {
    const layout = store();
    expect(await add(layout, 'x/a\nx/b\n')).toMatchObject({ rows: 2, ids: 0, added: 2 });
    expect(await add(layout, 'X\\B\nx/c\n;x/c\n')).toMatchObject({ ids: 0, added: 1 });
    expect(await add(layout, '4;x/d\n4;d\n')).toMatchObject({ ids: 1, added: 1 });
    expect(await add(layout, 'x/a\nx/b\nx/c\n')).toMatchObject({ added: 0 });
    expect(await known(layout, ['x/a', 'x/b', 'x/c', 'x/d'])).toEqual({
      4: 'd',
      'x/a': true,
      'x/b': true,
      'x/c': true,
      'x/d': false,
    });
    const index = (await ListfileIndex.open(layout))!;
    expect(index.hashes.count).toBe(4);
    index.close();
  });

  test('of an id that is twice in a list the last counts', async () => {
    const layout = store();
    await add(layout, '7;one\n3;three\n7;two\n');
    expect(await known(layout)).toEqual({ 3: 'three', 7: 'two' });
  });

  test('of an id that is three times in a list, with others between, the last counts, be it the first by name', async () => {
    const layout = store();
    await add(layout, '7;b\n5;e\n7;c\n7;a\n4;b\n');
    expect(await known(layout)).toEqual({ 4: 'b', 5: 'e', 7: 'a' });
    const index = (await ListfileIndex.open(layout))!;
    expect(index.hashes.count).toBe(3);
    index.close();
  });

  test('what is derived of a text with two lines of an id has the last of them, also where pieces of many rows meet', async () => {
    const layout = store();
    const lines = Array.from({ length: 6900 }, (_, i) => `${i >> 1};n${String(i).padStart(5, '0')}\n`);
    await add(layout, '1;a\n');
    const [text = ''] = readdirSync(layout.names).filter((name) => name.endsWith('.names'));
    writeDerived(join(layout.names, text), Buffer.from(lines.join('')), layout.temporary);
    const names = Object.entries(await known(layout));
    expect(names).toHaveLength(3450);
    expect(names.filter(([id, name]) => name !== `n${String(2 * Number(id) + 1).padStart(5, '0')}`)).toEqual([]);
  });

  test('lines of any kind, cut anywhere, give the same names', async () => {
    const list = Buffer.from(
      `\ufeff1;a/b.blp\r\n\r\n2;ü ñ/c.m2\n# no name\n3;#d\n4; e \n00000000005;f\n4294967296;g\n6;${'h'.repeat(1024)}\n7;${'h'.repeat(1025)}\n8;i;j\n9;last`,
    );
    const wanted = { 1: 'a/b.blp', 2: 'ü ñ/c.m2', 3: '#d', 4: ' e ', 5: 'f', 6: 'h'.repeat(1024), 8: 'i;j', 9: 'last' };
    for (const size of [1, 7, 1000, 10_000]) {
      const chunks = Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
        list.subarray(i * size, (i + 1) * size),
      );
      const layout = store();
      const { bad } = await importListfile(layout, Readable.from(chunks));
      expect(bad?.lines).toBe(2);
      expect(await known(layout)).toEqual(wanted);
    }
  });

  test('an import keeps what it does not name, and says nothing of names that stay', async () => {
    const layout = store();
    const line = (id: number, mark = ''): string => `${id};folder ${id % 7}/${mark}${id}.blp\n`;
    const ids = Array.from({ length: 9000 }, (_, i) => i * 3);
    await add(layout, ids.map((id) => line(id)).join(''));
    await add(layout, 'plain/name\n');
    const half = ids.filter((id) => id % 2 === 0);
    const list = `${half.map((id) => line(id, id % 100 === 0 ? 'new ' : '')).join('')}${line(1)}`;
    const change = { rows: 4501, ids: 9001, added: 1, changed: 90, removed: 0 };
    expect(await add(layout, list)).toEqual(change);
    const names = await known(layout, ['plain/name']);
    expect(names).toMatchObject({
      0: 'folder 0/new 0.blp',
      3: 'folder 3/3.blp',
      1: 'folder 1/1.blp',
      'plain/name': true,
    });
    expect(Object.keys(names)).toHaveLength(9002);
  });

  test('a bad line does not cost the others: the first are told with their numbers, comments are none', async () => {
    const layout = store();
    const list = '# names\n1;a\n12,comma.blp\n# comment\n;noid\n3;\nx;y\n2;b\n';
    const { rows, bad } = await add(layout, list);
    expect({ rows, lines: bad?.lines }).toEqual({ rows: 2, lines: 4 });
    expect(bad?.first.map(({ line }) => line)).toEqual([3, 6, 7]);
    expect(bad?.first.map(({ message }) => message)).toEqual([
      'listfile: line 3: no file data id: "12,comma.blp"',
      'listfile: line 6: no name',
      'listfile: line 7: no file data id before the \';\': "x;y"',
    ]);
    expect(await known(layout)).toEqual({ 1: 'a', 2: 'b' });
    expect((await add(layout, 'plain/a.blp\n# a comment\n#a/name.blp\n')).rows).toBe(2);
  });

  test('what has more bad lines than names is no list', async () => {
    const layout = store();
    await expect(add(layout, `1;a\n${'x;y\n'.repeat(1001)}`)).rejects.toMatchObject({ code: 'E_FORMAT' });
    await expect(add(layout, 'x;y\n')).rejects.toMatchObject({ message: expect.stringContaining('line 1') });
  });

  test('the list of an earlier version, in the order in which it came, is sorted when it is opened', async () => {
    const layout = store();
    await add(layout, '1;a\n2;b\n');
    const [text = ''] = readdirSync(layout.names).filter((name) => name.endsWith('.names'));
    rmSync(join(layout.names, text));
    const unsorted = join(layout.names, text.replace('.names', '.txt'));
    writeDerived(unsorted, Buffer.from('7;z\n3;y\n;x/n\n7;b\n'), layout.temporary);
    expect(await known(layout, ['x/n'])).toEqual({ 3: 'y', 7: 'b', 'x/n': true });
    const index = (await ListfileIndex.open(layout))!;
    expect(Array.from(index.names(), ({ name }) => name)).toEqual(['b', 'x/n', 'y']);
    expect(index.idOf('Z')).toBeUndefined();
    index.close();
    expect(existsSync(unsorted)).toBe(false);
  });

  test('a list that is bad in its last line changes nothing and leaves nothing behind', async () => {
    const layout = store();
    await add(layout, '1;a\n');
    const before = readdirSync(layout.names);
    await expect(add(layout, '1;b\n2;c\nx\0y\n')).rejects.toMatchObject({ code: 'E_FORMAT' });
    await expect(add(layout, '\n\n')).rejects.toMatchObject({ code: 'E_FORMAT' });
    expect(await known(layout)).toEqual({ 1: 'a' });
    expect(readdirSync(layout.names)).toEqual(before);
    expect(readdirSync(layout.temporary)).toEqual([]);
  });

  test('without the file that names the version the newest is in use', async () => {
    const layout = store();
    await add(layout, '1;a\n');
    await add(layout, '2;b\n');
    await add(layout, 'plain\n');
    const pointer = `${layout.names}/listfile.json`;
    for (const damage of [() => rmSync(pointer), () => writeFileSync(pointer, '{"base": "listfile"}')]) {
      damage();
      expect(await known(layout, ['plain'])).toEqual({ 1: 'a', 2: 'b', plain: true });
    }
    expect(await add(layout, '3;c\n')).toEqual({ rows: 1, ids: 3, added: 1, changed: 0, removed: 0 });
  });

  test('a first list of which not all gets to its place is none', async () => {
    const layout = store();
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000);
    const { text, ids } = listfilePaths(layout, `listfile-${(1_700_000_000_000).toString(36)}-${process.pid}`);
    const list = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('1;a\n2;b\n');
      mkdirSync(`${text}/in the way`, { recursive: true });
    };
    await expect(importListfile(layout, list())).rejects.toMatchObject({ code: 'E_STORE' });
    now.mockRestore();
    rmSync(text, { recursive: true });
    // What it is found by is there.
    expect(existsSync(ids)).toBe(true);
    expect(await ListfileIndex.open(layout)).toBeUndefined();
    expect(await add(layout, '1;a\n')).toEqual({ rows: 1, ids: 1, added: 1, changed: 0, removed: 0 });
    expect(await known(layout)).toEqual({ 1: 'a' });
  });

  test('a list in any order of ids is read back whole', async () => {
    const layout = store();
    const ids = Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 20_011);
    await add(layout, ids.map((id) => `${id};name/of/${id}.blp\n`).join(''));
    const index = (await ListfileIndex.open(layout))!;
    let last = -1;
    for (const listed of index.listedIds()) {
      const { fileDataId } = listed;
      expect(fileDataId).toBeGreaterThan(last);
      if (index.nameAt(listed) !== `name/of/${fileDataId}.blp`) throw new Error(`${fileDataId}`);
      last = fileDataId;
    }
    const names = Array.from(index.names(), ({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(index.ids.count).toBe(20_000);
    index.close();
  });

  test('two processes do not change the names at once', async () => {
    const layout = store();
    const release = lockListfile(layout);
    await expect(add(layout, '1;a\n')).rejects.toMatchObject({ code: 'E_STORE_LOCKED' });
    release();
    await add(layout, '1;a\n');
  });
});

describe('names of a list that is updated', () => {
  test('what its next version lacks goes; what was imported by hand stays', async () => {
    const layout = store();
    await add(layout, '1;hand\n2;hand2\n');
    await add(layout, 'plain\n');
    expect(await update(layout, '2;b\n3;c\n4;d\n')).toEqual({ rows: 3, ids: 4, added: 2, changed: 1, removed: 0 });
    await add(layout, '4;mine\n');
    expect(await update(layout, '3;c3\n5;e\n')).toEqual({ rows: 2, ids: 4, added: 1, changed: 1, removed: 1 });
    expect(await known(layout, ['plain'])).toEqual({ 1: 'hand', 3: 'c3', 4: 'mine', 5: 'e', plain: true });
  });

  test('a list from elsewhere removes nothing', async () => {
    const layout = store();
    await update(layout, '1;a\n2;b\n');
    expect(await update(layout, '1;a\n', 'http://other.test/')).toMatchObject({ ids: 2, removed: 0 });
  });

  test('one that lost more than half of its names is not believed', async () => {
    const layout = store();
    const list = Array.from({ length: 5000 }, (_, i) => `${i};n${i}\n`);
    await update(layout, list.join(''));
    await expect(update(layout, list.slice(0, 2000).join(''))).rejects.toMatchObject({ code: 'E_INTEGRITY' });
    expect(Object.keys(await known(layout))).toHaveLength(5000);
    expect(readdirSync(layout.names).filter((name) => name.endsWith('.names'))).toHaveLength(1);
    expect(await update(layout, list.slice(0, 3000).join(''))).toMatchObject({ ids: 3000, removed: 2000 });
  });

  test.each(['<html>\nno\n</html>\n', '{"error": "gone"}\n', '', '\n'])(
    'what is no list is refused: %j',
    async (page) => {
      const layout = store();
      await add(layout, '1;a\n');
      await expect(update(layout, page)).rejects.toMatchObject({ code: 'E_FORMAT' });
      expect(await known(layout)).toEqual({ 1: 'a' });
    },
  );
});
