import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { importListfile } from '../../../../src/builds/listfile/listfile-import.ts';
import type { FileVariant, PickVariant, Root } from '../../../../src/builds/roots/root.ts';
import { fromHex, toHex } from '../../../../src/core/bytes.ts';
import { nameMatcher, neededText } from '../../../../src/core/glob.ts';
import { nameHash } from '../../../../src/core/jenkins.ts';
import { decodeWowRoot, fillFileDataIds, rowCkey } from '../../../../src/formats/roots/wow/decode.ts';
import { encodeWowRoot } from '../../../../src/formats/roots/wow/encode.ts';
import { folderOf } from '../../../../src/sources/folders.ts';
import { DerivedFile } from '../../../../src/store/derived/derived-file.ts';
import { LookupFile, writeLookupFile } from '../../../../src/store/derived/lookup-file.ts';
import { storeLayout } from '../../../../src/store/layout.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { aliveBufferBytes } from '../../../support/garbage.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { openSmallRoot } from '../small-build.ts';

const scratch = scratchFolder();
const apart = scratchFolder();
const key = (digit: string) => digit.repeat(32);
const row = (fileDataId: number, digit: string, name?: string) => ({
  fileDataId,
  ckey: fromHex(key(digit)),
  ...(name !== undefined && { nameHash: nameHash(name) }),
});
const blocks = [
  { contentFlags: 0x80, localeFlags: 2, rows: [row(5, '9', 'a/one.m2')] },
  { contentFlags: 0, localeFlags: 2, rows: [row(5, '1', 'a/one.m2'), row(300, '2', 'a/two.m2')] },
  { contentFlags: 0, localeFlags: 0x20, rows: [row(5, '3', 'a/one.m2')] },
  { contentFlags: 0x10000000, localeFlags: 2, rows: [row(7, '4'), row(4_000_000_000, '5')] },
];
const found = (root: Root, name: string) =>
  root.find(name).map(({ fileDataId, parts, localeFlags }) => `${fileDataId} ${parts[0]!.ckey![0]} ${localeFlags}`);

test.each(['headerless', 'tsfm0', 'tsfm1', 'tsfm2'] as const)(
  'a WoW root of form %s: names by their hashes, with the ids of their rows; every id',
  async (format) => {
    const content = format === 'headerless' ? blocks.slice(0, 3) : blocks;
    const root = await openSmallRoot(scratch, { root: encodeWowRoot({ form: format, blocks: content }) });
    expect(found(root, 'A\\ONE.m2').sort()).toEqual(['5 1 2', '5 3 32', '5 9 2']);
    expect(found(root, 'a/two.m2')).toEqual(['300 2 2']);
    expect(root.find('a/three.m2')).toEqual([]);
    expect(root.findId(300).map(({ parts }) => parts[0]!.ckey)).toEqual([key('2')]);
    if (format !== 'headerless') expect(root.findId(4_000_000_000)[0]?.parts[0]?.ckey).toBe(key('5'));
    expect(root.findId(6)).toEqual([]);
    const ids = Array.from(
      root.list(() => true),
      ({ fileDataId }) => fileDataId,
    );
    expect(ids).toEqual(
      [5, 5, 5, ...(format === 'headerless' ? [] : [7]), 300].concat(format === 'headerless' ? [] : [4_000_000_000]),
    );
    root.close();
  },
);

test.each(['headerless', 'tsfm2'] as const)(
  'rows of a root of form %s that are listed by their ids have their ckeys, of which few are in memory at a time',
  async (form) => {
    const count = 60_000;
    const ckeyOf = (id: number): Uint8Array => fromHex(id.toString(16).padStart(32, '7'));
    const everyThird = (first: number) =>
      Array.from({ length: count / 3 }, (_, i) => ({
        fileDataId: 3 * i + first,
        ckey: ckeyOf(3 * i + first),
        nameHash: new Uint8Array(8),
      }));
    const block = (first: number) => ({ contentFlags: 0, localeFlags: 2, rows: everyThird(first) });
    const bytes = encodeWowRoot({ form, blocks: [block(2), block(0), block(1)] });
    const root = await openSmallRoot(scratch, { root: bytes });
    await root.checkAll();
    const before = aliveBufferBytes();
    let [listed, most] = [0, 0];
    let askedLater: FileVariant[] = [];
    for (const variant of root.list(() => true)) {
      askedLater.push(variant);
      if (askedLater.length < 2500) continue;
      const ids = askedLater.map((_, i) => listed + i);
      const ckeys = askedLater.toReversed().map(({ parts }) => parts[0]?.ckey);
      expect(askedLater.map(({ fileDataId }) => fileDataId)).toEqual(ids);
      expect(ckeys).toEqual(ids.toReversed().map((id) => toHex(ckeyOf(id))));
      most = Math.max(most, aliveBufferBytes() - before);
      listed += askedLater.length;
      askedLater = [];
    }
    expect(listed).toBe(count);
    // Of the ids some are, too.
    expect(most).toBeLessThan(bytes.length / 2);
    root.close();
  },
);

test.each(['headerless', 'tsfm2'] as const)(
  'of each of thousands of rows of form %s its own hash tells whether a listed name is that of the file',
  async (form) => {
    const count = 6000;
    const ids = Array.from({ length: count }, (_, id) => id);
    const isOther = (id: number): boolean => id % 7 === 3;
    const nameOf = (id: number): string | undefined => (isOther(id) ? undefined : `a/${id}.m2`);
    const rowOf = (id: number) => ({ ...row(id, (id % 16).toString(16)), nameHash: nameHash(nameOf(id) ?? `b/${id}`) });
    const rest = (value: number) => ids.filter((id) => id % 2 === value).map(rowOf);
    const list = new TextEncoder().encode(ids.map((id) => `${id};a/${id}.m2\n`).join(''));
    await importListfile(storeLayout(apart('store')), [list] as never);
    const block = { contentFlags: 0, localeFlags: 2 };
    const bytes = encodeWowRoot({
      form,
      blocks: [
        { ...block, rows: rest(1) },
        { ...block, rows: rest(0) },
      ],
    });
    const root = await openSmallRoot(apart, { root: bytes });
    await root.checkAll();
    const found = Array.from(
      root.list(() => true),
      ({ name, fileDataId, parts }) => ({ name, fileDataId, ckey: parts[0]?.ckey }),
    );
    const byId = found.sort((a, b) => a.fileDataId! - b.fileDataId!);
    expect(byId).toEqual(ids.map((id) => ({ name: nameOf(id), fileDataId: id, ckey: key((id % 16).toString(16)) })));
    expect(root.misfits).toBe(ids.filter(isOther).length);
    root.close();
  },
);

test('rows without a hash are found by the listfile, and listed under its names', async () => {
  const list = new TextEncoder().encode('7;World/Seven.adt\n300;a/two.m2\n');
  await importListfile(storeLayout(scratch('store')), [list] as never);
  const root = await openSmallRoot(scratch, { root: encodeWowRoot({ form: 'tsfm2', blocks }) });
  expect(found(root, 'world/seven.ADT')).toEqual(['7 4 2']);
  const names = Array.from(
    root.list((name) => name.startsWith('World')),
    ({ name }) => name,
  );
  expect(names).toEqual(['World/Seven.adt']);
  root.close();
});

test('a listed name whose hash is not that of the row is another file, and is not used', async () => {
  const list = new TextEncoder().encode('5;x/other.m2\n7;World/Seven.adt\n8;a/two.m2\n300;a/two.dds\n');
  await importListfile(storeLayout(scratch('store')), [list] as never);
  const root = await openSmallRoot(scratch, { root: encodeWowRoot({ form: 'tsfm2', blocks }) });
  expect(root.misfits).toBe(0);
  expect(root.find('x/other.m2')).toEqual([]);
  expect(root.misfits).toBe(1);
  expect(root.findId(5).map(({ name }) => name)).toEqual([undefined, undefined, undefined]);
  // The list has the right name of the row, at another id.
  expect(root.findId(300).map(({ name }) => name)).toEqual(['a/two.m2']);
  expect(root.findId(7).map(({ name }) => name)).toEqual(['World/Seven.adt']);
  expect(found(root, 'a/one.m2')).toHaveLength(3);
  root.close();
  // The second time the order is there.
  for (const _ of [1, 2]) {
    const whole = await openSmallRoot(scratch, { root: encodeWowRoot({ form: 'tsfm2', blocks }) });
    await whole.checkAll();
    const names = Array.from(
      whole.list(() => true),
      ({ name, fileDataId }) => `${fileDataId} ${name}`,
    );
    expect([...new Set(names)]).toEqual(['7 World/Seven.adt', '300 a/two.m2', '5 undefined', '4000000000 undefined']);
    expect(whole.misfits).toBe(2);
    whole.close();
  }
});

test('listed names that are of other files are told by a search, too, whatever it finds', async () => {
  const list = new TextEncoder().encode('5;x/other.m2\n7;World/Seven.adt\n8;a/two.m2\n300;a/two.dds\n');
  const layout = storeLayout(scratch('store'));
  await importListfile(layout, [list] as never);
  // First they are counted; then that is read, or counted again where it is damaged.
  for (const turn of [1, 2, 3]) {
    const root = await openSmallRoot(scratch, { root: encodeWowRoot({ form: 'tsfm2', blocks }) });
    const searched = await root.narrow?.({ needed: [neededText('World/*')!] });
    expect(Array.from(searched!(nameMatcher(['World/*'])), ({ name }) => name)).toEqual(['World/Seven.adt']);
    expect(root.misfits).toBe(2);
    root.close();
    const [counted] = readdirSync(layout.names).filter((name) => name.endsWith('.misfits'));
    if (turn === 2) appendFileSync(join(layout.names, counted!), 'x');
  }
});

test('an order as an earlier version had it, without ckeys, is made again', async () => {
  const layout = storeLayout(apart('store'));
  await importListfile(layout, [new TextEncoder().encode('7;b.adt\n4000000000;c.adt\n300;d.adt\n')] as never);
  const listed = async (): Promise<string[]> => {
    const root = await openSmallRoot(apart, { root: encodeWowRoot({ form: 'tsfm2', blocks }) });
    await root.checkAll();
    const rows = Array.from(
      root.list(() => true),
      ({ name, parts }) => `${name} ${parts[0]!.ckey?.[0]}`,
    );
    root.close();
    return rows;
  };
  const expected = await listed();
  const pathOf = (ending: string): string =>
    join(
      layout.names,
      readdirSync(layout.names).find((name) => name.endsWith(ending) && !/^listfile.*ids$/.test(name))!,
    );
  const markOf = (path: string): number => {
    const file = new DerivedFile(path);
    file.close();
    return file.mark;
  };
  const path = pathOf('.order');
  const order = new LookupFile(path, { stride: 32 });
  const rows = [...order].map((row) => row.slice(0, 16));
  order.close();
  const of = (markOf(pathOf('.names')) ^ markOf(pathOf('.ids'))) >>> 0;
  // As many as make whole rows of the size that they have now.
  expect(rows.length % 2).toBe(0);
  await writeLookupFile(path, { stride: 16, rows, of }, layout.temporary);
  expect(await listed()).toEqual(expected);
});

test('another list brings another order', async () => {
  const listed = async (list: string): Promise<string[]> => {
    await importListfile(storeLayout(scratch('store')), [new TextEncoder().encode(list)] as never);
    const root = await openSmallRoot(scratch, { root: encodeWowRoot({ form: 'tsfm2', blocks }) });
    await root.checkAll();
    const names = Array.from(
      root.list(() => true),
      ({ name, fileDataId }) => name ?? `${fileDataId}`,
    );
    root.close();
    return names.filter((name) => name.endsWith('.adt'));
  };
  expect(await listed('7;b.adt\n4000000000;c.adt\n')).toEqual(['b.adt', 'c.adt']);
  expect(await listed('7;d.adt\n')).toEqual(['c.adt', 'd.adt']);
});

test('names that are gone through for a text are all that have it, and those without a name', async () => {
  const names = [
    'World/Äpfel/51.adt',
    'a\\b/C.blp',
    'x;world/51',
    'WORLD/maps/a.m2',
    'y/51.blp',
    'µ/K51.blp',
    `${'z'.repeat(60_000)}/51`,
  ];
  const many = Array.from({ length: 20_000 }, (_, i) => `many/in/a/folder/${i}.dat`);
  const listed = [...names, ...many].map((name, i) => `${i + 1};${name}\n`).join('');
  await importListfile(storeLayout(scratch('store')), [
    new TextEncoder().encode(`${listed};world/unnamed51\n`),
  ] as never);
  const ids = [...names, ...many, 'fdid'].map((_, i) => row(i + 1, 'a'));
  const rows = [{ contentFlags: 0x10000000, localeFlags: 2, rows: ids }];
  const root = await openSmallRoot(scratch, { root: encodeWowRoot({ form: 'tsfm2', blocks: rows }) });
  await root.checkAll();
  const namesOf = (list: Root['list'], matches: (name: string) => boolean): unknown[] =>
    Array.from(list(matches), ({ name, fileDataId, parts }) => [name ?? fileDataId, parts[0]!.ckey]);
  const globs = [
    '*51*',
    'world/**',
    'World/Ä*/*',
    'a/b/*',
    '**/*.blp',
    'µ/K*',
    'many/*/*/folder/*7*',
    '*.DAT',
    'fdid:*',
    'no/*',
  ];
  for (const glob of globs) {
    const needed = neededText(glob);
    const list = needed && (await root.narrow?.({ needed: [needed] }));
    expect(list).toBeDefined();
    const matches = nameMatcher([glob]);
    const asked: string[] = [];
    const found = namesOf(list!, (name) => asked.push(name) > 0 && matches(name));
    expect(found).toEqual(namesOf(root.list.bind(root), matches));
    if (glob === 'no/*') expect(asked).toEqual([`fdid:${ids.length}`]);
    else expect(found).not.toEqual([]);
  }
  root.close();
});

test('of a folder that is listed one file is looked at that the locale has, and those that are listed by themselves', async () => {
  const few = [
    'a.txt',
    'a/0',
    'a/1',
    'a/b/2',
    'a0',
    'B/x',
    'b/x',
    'c\\d',
    'many',
    'many/x',
    'z\\z/y',
    'z\\z/z/y',
    'Ä/ß',
    'ä/ß',
  ];
  const many = Array.from({ length: 20_000 }, (_, i) => `many/in/a/folder/${i}.dat`);
  const names = [...few, ...many].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  // The first of a folder that the locale has is neither its first nor its last.
  const isOther = (name: string): boolean => /^a\/0|^B\/|folder\/0/.test(name);
  const list = new TextEncoder().encode(names.map((name, i) => `${i + 1};${name}\n`).join(''));
  await importListfile(storeLayout(scratch('store')), [list] as never);
  const rowsOf = (locale: boolean) => names.flatMap((name, i) => (isOther(name) === locale ? [row(i + 1, 'a')] : []));
  const root = await openSmallRoot(scratch, {
    root: encodeWowRoot({
      form: 'tsfm2',
      blocks: [
        { contentFlags: 0x10000000, localeFlags: 2, rows: [...rowsOf(false), row(50_000, 'b')] },
        { contentFlags: 0x10000000, localeFlags: 4, rows: rowsOf(true) },
      ],
    }),
  });
  await root.checkAll();
  const pick: PickVariant = (variants) => variants.find(({ localeFlags }) => localeFlags === 2);
  for (const path of ['', 'a/', 'b/', 'many/', 'many/in/', 'z\\z/', 'ä/', 'none/']) {
    const { start, needed } = folderOf(path === '' ? '/' : path);
    const asked: string[] = [];
    const rowOf = (name: string): string | undefined => {
      if (start(name) < 0) return undefined;
      const end = name.indexOf('/', start(name));
      return end < 0 ? name : name.slice(0, end + 1);
    };
    const folder = (name: string): string | undefined => {
      asked.push(name);
      const listed = rowOf(name);
      return listed === name ? undefined : listed;
    };
    const rowsIn = (rows: Iterable<FileVariant>): unknown[] => {
      const shown = Array.from(rows, (one) => one.localeFlags === 2 && rowOf(one.name ?? `fdid:${one.fileDataId}`));
      return [...new Set(shown)].filter((one) => typeof one === 'string');
    };
    const whole = rowsIn(root.list((name) => rowOf(name) !== undefined));
    const narrowed = await root.narrow?.({ needed: needed && [needed], folders: { folderOf: folder, pick } });
    expect([path, ...rowsIn(narrowed!(() => true))]).toEqual([path, ...whole]);
    if (path !== 'none/') expect(whole).not.toEqual([]);
    // What a folder begins with that is no ASCII is not searched for.
    expect(asked.length).toBeLessThan(path === 'ä/' ? 21_000 : 30);
  }
  root.close();
});

describeConformance('the real roots', () => {
  test.each(['classic_era_v1_2blocks', 'retail_11.2.7_v2_3blocks'])('%s: every row by its id', async (name) => {
    const bytes = conformanceBytes(`tact/cascette-rs/root/${name}.root`);
    const decoded = decodeWowRoot(bytes);
    const ids = fillFileDataIds(decoded);
    const root = await openSmallRoot(scratch, { root: bytes });
    for (let i = 0; i < decoded.rowCount; i += 37) {
      const ckeys = root.findId(ids[i]!).map(({ parts }) => parts[0]!.ckey);
      expect(ckeys).toContain(toHex(rowCkey(decoded, i)));
    }
    root.close();
  });

  test('the MNDX root that other readers read', async () => {
    const root = await openSmallRoot(scratch, { root: conformanceBytes('mndx', 'mini.mndx') });
    const listed = Array.from(
      root.list(() => true),
      ({ name, parts }) => `${name} ${parts[0]!.ckey?.[0]} ${parts[0]!.size}`,
    );
    expect([root.kind, ...listed.sort()]).toEqual([
      'mndx',
      'p0/a/x 2 101',
      'p0/b 1 100',
      'p1/a/x 3 102',
      'p1/a/y 4 103',
    ]);
    root.close();
  });
});
