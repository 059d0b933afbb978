import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

import { cleanName } from '../../src/paks/names.ts';
import { writeUnrealPak } from '../../src/paks/unreal/write/write.ts';
import { buildTree } from '../../src/sources/mount/file-tree.ts';
import { packed, packFile } from '../support/pak-sources.ts';
import { unrealPak } from '../support/pak-unreal.ts';
import { quakePak } from '../support/quake-pak.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';
import { baseKey, packWithMixes } from './nadeo/synthetic.ts';

const scratch = scratchFolder();

test.each([
  ['a', 'a'],
  ['./a', 'a'],
  ['/a', 'a'],
  ['a/./b', 'a/b'],
  ['d/./x', 'd/x'],
  ['\\x', 'x'],
  ['.\\d\\.\\x', 'd/x'],
  ['/./././a', 'a'],
  ['.hidden', '.hidden'],
  ['a/.hidden', 'a/.hidden'],
  ['../x', '../x'],
  ['a/../../x', 'a/../../x'],
  ['a//b', 'a//b'],
  ['', ''],
])('%j is called %j', (stored, name) => expect(cleanName(stored)).toBe(name));

/** Names as tools store them, in the order in which they stand; the last leads out of the folder. */
const stored = ['./a.txt', '/b.txt', 'd/./x.txt', '\\y.txt', './d/./z.txt', '../x.txt'];
const clean = ['a.txt', 'b.txt', 'd/x.txt', 'y.txt', 'd/z.txt', '../x.txt'];
const content = (name: string): string => `content of ${name}`;

/** A PAK of another tool, by names of the same length in place of those that our writers refuse. */
async function withNames(make: (names: string[]) => Promise<Uint8Array>): Promise<Uint8Array> {
  const stand = stored.map((name, i) => `${i}`.repeat(name.length));
  const bytes = Buffer.from(await make(stand));
  for (const [i, name] of stand.entries()) {
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) bytes.write(stored[i]!, at, 'latin1');
  }
  return bytes;
}

const paks: [string, () => Promise<Uint8Array>][] = [
  ['quake', async () => quakePak(stored.map((name, i) => ({ name, content: content(clean[i]!) })))],
  [
    'unreal of version 3',
    () =>
      withNames((names) =>
        packed((sink) =>
          writeUnrealPak(
            names.map((name, i) => packFile(name, content(clean[i]!))),
            sink,
            { version: 3 },
          ),
        ),
      ).then(withoutIndexHash),
  ],
  [
    'unreal of version 11',
    async () =>
      unrealPak(
        stored.map((name, i) => ({ name, content: Buffer.from(content(clean[i]!)) })),
        { version: 11 },
      ),
  ],
];

/** An empty hash says nothing: the index was changed by hand. */
function withoutIndexHash(bytes: Uint8Array): Uint8Array {
  return bytes.fill(0, bytes.length - 20);
}

describe.each(paks)('names that only have to be cleaned, in %s', (family, make) => {
  const inside = clean.filter((name) => !name.startsWith('..'));
  const path = async (): Promise<string> => {
    const file = scratch(`${family}.pak`);
    writeFileSync(file, await make());
    return file;
  };

  test('are listed clean, found both ways, extracted inside, verified, mounted and compared', async () => {
    const pak = await path();
    await withPakrat({}, async (pakrat) => {
      const source = await pakrat.open(pak);
      const listed: string[] = [];
      for await (const { name } of source.list()) listed.push(name);
      expect(listed.toSorted()).toEqual([...clean].sort());
      for (const name of inside) {
        for (const asked of [name, `./${name}`, `/${name}`, name.replaceAll('/', '\\')]) {
          expect(Buffer.from(await source.bytes(asked)).toString()).toBe(content(name));
        }
      }
      const to = scratch(`${family} out`);
      const { files, failed } = await pakrat.extract(pak, { to });
      expect(files).toBe(inside.length);
      expect(failed).toMatchObject([{ name: '../x.txt', code: 'E_UNSAFE_PATH' }]);
      expect((await pakrat.verify(pak)).bad).toEqual([]);
      for (const name of inside) expect(readFileSync(scratch(`${family} out`, name), 'utf8')).toBe(content(name));
      const { added, removed, changed } = await pakrat.diff(pak, to);
      expect([[...added], [...changed], [...removed].map(({ name }) => name)]).toEqual([[], [], ['../x.txt']]);
    });
    expect(readdirSync(scratch())).not.toContain('x.txt');
  });
});

test('a NadeoPak has them, too', async () => {
  const file = scratch('names.pak');
  const text = new TextEncoder().encode('text');
  writeFileSync(
    file,
    await packWithMixes({ version: 8, name: '.\\d\\.\\x.txt', content: text, method: 'none', mixes: [] }),
  );
  await withPakrat({}, async (pakrat) => {
    const source = await pakrat.open(file, { pak: { key: Buffer.from(baseKey).toString('hex'), ignoreHashes: true } });
    for (const name of ['d/x.txt', './d/x.txt', '.\\d\\.\\x.txt'])
      expect(Buffer.from(await source.bytes(name)).toString()).toBe('text');
  });
});

test('two entries that clean to one name are told apart as duplicates are', async () => {
  const file = scratch('twice.pak');
  writeFileSync(
    file,
    quakePak([
      { name: './a', content: 'first' },
      { name: 'a', content: 'second' },
    ]),
  );
  await withPakrat({}, async (pakrat) => {
    const source = await pakrat.open(file);
    const rows: [string, string | undefined][] = [];
    for await (const { name, hidden } of source.list()) rows.push([name, hidden]);
    expect(rows).toEqual([
      ['a', undefined],
      ['a', 'shadowed'],
    ]);
    expect(Buffer.from(await source.bytes('./a')).toString()).toBe('first');
    expect(Buffer.from(await source.bytes('index:1')).toString()).toBe('second');
    expect(await pakrat.extract(file, { to: scratch('twice') })).toMatchObject({ files: 1, failed: [] });
  });
});

test('a mounted PAK has them in its folders', async () => {
  const file = scratch('mounted.pak');
  writeFileSync(file, quakePak(stored.map((name) => ({ name, content: 'x' }))));
  await withPakrat({}, async (pakrat) => {
    const source = await pakrat.open(file);
    const tree = await buildTree(source as never, { temporary: scratch('tmp') });
    expect(tree).toMatchObject({ files: 5, skipped: { count: 1, first: '../x.txt' } });
    expect(tree.find('/d/x.txt')).toBeDefined();
    tree.close();
  });
});

test('a name longer than any path costs only itself', async () => {
  const long = `${'n'.repeat(200)}/`.repeat(25);
  const rows = [`${long}a.txt`, `${'m'.repeat(70_000)}`, 'short.txt'].map((name) => ({
    name,
    content: Buffer.from(name.slice(-9)),
  }));
  const legacy = await packed((sink) =>
    writeUnrealPak(
      rows.map(({ name, content: text }) => packFile(name, text)),
      sink,
      { version: 7 },
    ),
  );
  for (const [label, bytes] of Object.entries({ v7: legacy, v11: unrealPak(rows, { version: 11 }) })) {
    const file = scratch(`${label}.pak`);
    writeFileSync(file, bytes);
    await withPakrat({}, async (pakrat) => {
      const source = await pakrat.open(file);
      const notes: (string | undefined)[] = [];
      for await (const { name, note } of source.list()) if (name.length > 4096) notes.push(note);
      expect(notes.sort()).toEqual([
        'not extracted: its name has 5030 characters',
        'not extracted: its name has 70000 characters',
      ]);
      const report = await pakrat.extract(file, { to: scratch(label) });
      expect(report).toMatchObject({ files: 1, failed: [{ code: 'E_UNSAFE_PATH' }, { code: 'E_UNSAFE_PATH' }] });
      expect(readdirSync(scratch(label))).toEqual(['short.txt']);
      expect((await pakrat.verify(file)).bad).toEqual([]);
    });
  }
});

test('a path is written as far as the system takes it', async () => {
  const name = `${`${'p'.repeat(100)}/`.repeat(20)}end.txt`;
  const file = scratch('deep.pak');
  writeFileSync(file, unrealPak([{ name, content: Buffer.from('deep') }], { version: 11 }));
  await withPakrat({}, async (pakrat) => {
    expect(await pakrat.extract(file, { to: scratch('deep') })).toMatchObject({ files: 1, failed: [] });
    expect(readFileSync(scratch('deep', name), 'utf8')).toBe('deep');
  });
});
