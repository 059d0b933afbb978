import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ImportOptions, ImportReport } from '../../../src/app/import.ts';
import { codeOf, valueUnless } from '../../../src/core/errors.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import type { Pakrat } from '../../../src/pakrat.ts';
import { makeEncryptedTree, writeTreeKey } from '../../support/armadillo-tree.ts';
import { checkHeldBytes } from '../../support/held-bytes.ts';
import { syntheticCdn } from '../../support/own-cdn.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { SyntheticCdn } from '../../support/served-cdn.ts';
import { flipBytes } from '../../support/synced-store.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

const scratch = scratchFolder();
let cdn: SyntheticCdn;
let number = 0;
beforeAll(async () => {
  const make = ['--files', '60', '--total-bytes', '500K', '--archives', '3', '--loose', '.1', '--local'];
  cdn = await syntheticCdn({ make });
});
afterAll(() => cdn.close());

const www = (): string => join(cdn.root, 'www');
const within = <Result>(store: string, work: (pakrat: Pakrat) => Promise<Result>, offline = false): Promise<Result> =>
  withPakrat({ store, patchUrl: cdn.url, offline }, work);
const fresh = (name: string): string => {
  number += 1;
  return scratch(`${name}${number}`);
};
const importInto = (store: string, folder: string, options: ImportOptions = {}): Promise<ImportReport> =>
  within(store, (pakrat) => pakrat.import(folder, options), true);
const wrongBytes = (store: string): string[] => checkHeldBytes(store, www()).wrong;

/** What a sync asks of the CDN, and what it fetches. */
async function syncInto(store: string, name = 'wow', all = true): Promise<{ asked: string[]; bytes: number }> {
  const before = cdn.requests().length;
  await within(store, (pakrat) => pakrat.sync(name, { all }));
  const own = cdn
    .requests()
    .slice(before)
    .filter(({ path }) => path.startsWith('/tpr/'));
  return { asked: own.map(({ path }) => path.slice(1)), bytes: own.reduce((sum, { bytes }) => sum + bytes, 0) };
}

interface Mirror {
  root: string;
  /** Paths below tpr/wow. */
  archives: string[];
  configs: string[];
  loose: string[];
  file: (path: string) => string;
  flip: (path: string, first: number, step?: number) => void;
}

/** A copy of the CDN folder of both builds, without the tables of the version service. */
function mirror(root = fresh('mirror')): Mirror {
  fs.cpSync(join(www(), 'tpr'), join(root, 'tpr'), { recursive: true });
  const own = join(root, 'tpr/wow');
  const paths = fs
    .readdirSync(own, { recursive: true, encoding: 'utf8' })
    .filter((path) => /[0-9a-f]{32}(\.index)?$/.test(path))
    .sort();
  const isArchive = (path: string): boolean => paths.includes(`${path}.index`);
  const file = (path: string): string => join(own, path);
  return {
    root,
    file,
    archives: paths.filter((path) => path.startsWith('data') && isArchive(path)),
    configs: paths.filter((path) => path.startsWith('config')),
    loose: paths.filter((path) => path.startsWith('data') && !path.endsWith('.index') && !isArchive(path)),
    flip: (path, first, step) => fs.writeFileSync(file(path), flipBytes(fs.readFileSync(file(path)), first, step)),
  };
}

const hashes = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => fs.lstatSync(join(folder, path)).isFile())
    .map((path) => `${path} ${md5Hex(fs.readFileSync(join(folder, path)))}`)
    .sort();

describe('a raw CDN folder', () => {
  test('with the tables of its builds: a sync of each fetches nothing, and reading needs no network', async () => {
    const store = fresh('store');
    const report = await importInto(store, www());
    expect(report).toMatchObject({ damaged: [], unknown: [] });
    expect(report.builds.map(({ product, name }) => `${product}@${name}`).sort()).toEqual([
      'wow@11.2.0.60100',
      'wow_old@11.2.0.60000',
    ]);
    const readAll = async (pakrat: Pakrat): Promise<number> => {
      let read = 0;
      const source = await pakrat.open('wow');
      for await (const { name } of source.list()) {
        const bytes = await valueUnless((error) => codeOf(error) === 'E_KEY_MISSING', source.bytes(name));
        if (bytes !== undefined) read += 1;
      }
      return read;
    };
    expect(await within(store, readAll, true)).toBeGreaterThan(50);
    expect((await syncInto(store)).asked).toEqual([]);
    expect((await syncInto(store, 'wow_old')).asked).toEqual([]);
    expect(wrongBytes(store)).toEqual([]);
    expect(fs.existsSync(join(store, 'partial')) && hashes(join(store, 'partial'))).toEqual([]);
  });

  test.each(['tpr/wow', 'tpr', '.'])(
    'without tables, named by %s: its builds are told by their configs',
    async (part) => {
      const store = fresh('store');
      const { root } = mirror();
      const report = await importInto(store, join(root, part));
      expect(report.builds.map(({ product, name }) => `${product}@${name}`).sort()).toEqual([
        'wow@11.2.0.60000',
        'wow@11.2.0.60100',
      ]);
      expect(report).toMatchObject({ damaged: [], unknown: [] });
      const { asked } = await syncInto(store);
      expect(asked.filter((path) => !path.startsWith('tpr/configs/'))).toEqual([]);
    },
  );

  test('twice: the second time takes nothing', async () => {
    const store = fresh('store');
    const { root } = mirror();
    const first = await importInto(store, root);
    const second = await importInto(store, root);
    expect(second.taken).toEqual({ objects: 0, entries: 0, bytes: 0 });
    expect(second.held.bytes).toBe(first.taken.bytes);
  });

  test('again, of which the store has lost a file of each kind by now, and the end of one: they are taken again', async () => {
    const store = fresh('store');
    await importInto(store, www());
    const { archives, configs, loose } = mirror();
    const held = (path: string): string => join(store, 'tpr/wow', path);
    for (const path of [archives[0]!, configs[0]!, loose[0]!, `${archives[1]!}.index`]) fs.rmSync(held(path));
    fs.truncateSync(held(archives[2]!), 100);
    const planned = await importInto(store, www(), { dryRun: true });
    const done = await importInto(store, www());
    expect(done.taken.entries).toBeGreaterThan(10);
    expect({ ...planned, dryRun: false }).toEqual(done);
    expect((await within(store, (pakrat) => pakrat.verify(), true)).bad).toEqual([]);
    expect((await syncInto(store)).asked).toEqual([]);
    expect((await syncInto(store, 'wow_old')).asked).toEqual([]);
  });

  test('looked at with --dry-run: the report of an import, and nothing taken', async () => {
    const { root } = mirror();
    const [dry, store] = [fresh('store'), fresh('store')];
    const planned = await importInto(dry, root, { dryRun: true });
    const done = await importInto(store, root);
    expect({ ...planned, dryRun: false }).toEqual(done);
    expect(checkHeldBytes(dry, www()).bytes).toBe(0);
    expect((await within(dry, (pakrat) => pakrat.status(), true)).builds).toEqual([]);
  });

  test('with damage of each kind: it is told, nothing of it is taken, and a sync fetches just that', async () => {
    const store = fresh('store');
    const { root, archives, loose, configs, flip } = mirror();
    flip(archives[0]!, 300);
    flip(loose[0]!, 20);
    const config = configs.find((path) => path.endsWith(String((cdn.summary.configs as { keyring: string }).keyring)))!;
    flip(config, 3);
    const { damaged, taken } = await importInto(store, root);
    expect(damaged.map(({ name }) => name.replace(/ .*/, '').replace('tpr/wow/', '')).sort()).toEqual(
      [archives[0]!, loose[0]!, config].sort(),
    );
    expect(taken.entries).toBeGreaterThan(50);
    expect(wrongBytes(store)).toEqual([]);
    for (const name of ['wow', 'wow_old']) await syncInto(store, name);
    expect((await within(store, (pakrat) => pakrat.verify())).bad).toEqual([]);
    const before = checkHeldBytes(store, www());
    expect(before.wrong).toEqual([]);
  });

  test('of which an archive is cut and one has a hole: what is not there is no damage, and is all that a sync fetches', async () => {
    const store = fresh('store');
    const { root, archives, loose, file } = mirror();
    fs.truncateSync(file(loose[0]!), fs.statSync(file(loose[0]!)).size - 1);
    const [cut, holed] = archives as [string, string];
    const { size } = fs.statSync(file(cut));
    fs.truncateSync(file(cut), Math.floor(size / 2));
    const bytes = fs.readFileSync(file(holed));
    fs.writeFileSync(file(holed), bytes.fill(0, 0, Math.floor(bytes.length / 2)));
    const { lacking, damaged } = await importInto(store, root);
    expect(lacking.entries).toBeGreaterThan(1);
    // The entry in which the hole ends begins with zeros.
    expect(damaged).toEqual([]);
    const { bytes: first } = await syncInto(store);
    const { bytes: second } = await syncInto(store, 'wow_old');
    expect(first + second).toBeGreaterThanOrEqual(lacking.bytes);
    expect(first + second).toBeLessThan(lacking.bytes * 1.2 + 20_000);
    expect(wrongBytes(store)).toEqual([]);
  });

  test('of which an index is damaged: it is fetched, and the archive taken', async () => {
    const { root, archives, flip } = mirror();
    flip(`${archives[1]!}.index`, 10);
    const offline = await importInto(fresh('store'), root);
    expect(offline.unknown.map(({ name }) => name)).toEqual([`tpr/wow/${archives[1]}`]);
    const store = fresh('store');
    const report = await within(store, (pakrat) => pakrat.import(root));
    expect(report.unknown).toEqual([]);
    expect(report.damaged.map(({ name }) => name)).toEqual([`tpr/wow/${archives[1]}.index`]);
    const { asked } = await syncInto(store);
    expect(asked.filter((path) => path.includes('/data/') && !path.startsWith('tpr/configs/'))).toEqual([]);
  });
});

describe('hard links', () => {
  test('are made of what is whole and right, and outlive damage and repair of the store: the folder keeps every byte', async () => {
    const store = fresh('store');
    const { root, archives, loose, flip } = mirror();
    flip(archives[0]!, 300);
    const before = hashes(root);
    const { linked } = await importInto(store, root, { link: true });
    expect(linked.objects).toBeGreaterThan(archives.length + loose.length - 2);
    expect(fs.statSync(join(store, 'tpr/wow', archives[1]!)).nlink).toBe(2);
    expect(wrongBytes(store)).toEqual([]);
    // The store forgets a part of what it shares, and fetches it into the file.
    const { openStore } = await import('../../../src/store/store.ts');
    const opened = openStore(store, { create: false });
    const paths = [...archives.slice(1), ...loose].map((path) => `tpr/wow/${path}`);
    opened.files.withdraw(paths, () => {
      for (const path of paths) opened.ledger.removeSpans(path, [{ start: 0, end: 40_000 }]);
    });
    for (const path of paths) {
      const file = opened.file(path);
      // Damage that a disk did to the file of the store alone cannot be made here: both names are one file.
      expect(fs.statSync(file).nlink).toBe(2);
    }
    opened.close();
    for (const name of ['wow', 'wow_old']) await syncInto(store, name);
    await within(store, (pakrat) => pakrat.repair());
    expect(wrongBytes(store)).toEqual([]);
    expect(hashes(root)).toEqual(before);
    expect(fs.statSync(join(store, 'tpr/wow', archives[1]!)).nlink).toBe(1);
  });
});

describe('another store', () => {
  const other = async (all: boolean): Promise<string> => {
    const root = fresh('other');
    await within(root, (pakrat) => pakrat.sync('wow', all ? { all } : { tags: ['Windows', 'enUS'] }));
    return root;
  };

  test('that is full: its builds, its history and all of its bytes', async () => {
    const [from, store] = [await other(true), fresh('store')];
    const before = hashes(join(from, 'tpr'));
    const report = await importInto(store, from);
    expect(report).toMatchObject({ damaged: [], unknown: [] });
    expect(report.builds).toMatchObject([{ product: 'wow', name: '11.2.0.60100' }]);
    const seenIn = (root: string) => within(root, (pakrat) => pakrat.history('wow'), true);
    expect((await seenIn(store)).builds).toHaveLength(1);
    expect(await seenIn(store)).toEqual(await seenIn(from));
    expect((await syncInto(store)).asked).toEqual([]);
    expect(wrongBytes(store)).toEqual([]);
    expect(hashes(join(from, 'tpr'))).toEqual(before);
  });

  test('that holds a part: a sync of the same part fetches nothing, and nothing is called damaged', async () => {
    const [from, store] = [await other(false), fresh('store')];
    const { damaged, unknown } = await importInto(store, from);
    expect({ damaged, unknown }).toEqual({ damaged: [], unknown: [] });
    const before = cdn.requests().length;
    await within(store, (pakrat) => pakrat.sync('wow', { tags: ['Windows', 'enUS'] }));
    expect(
      cdn
        .requests()
        .slice(before)
        .filter(({ path }) => path.startsWith('/tpr/')),
    ).toEqual([]);
    expect(checkHeldBytes(store, www())).toEqual(checkHeldBytes(from, www()));
  });

  test('with damage, and with a ledger that is lost: what is right is taken', async () => {
    const from = await other(true);
    const archive = mirror().archives[0]!;
    const file = join(from, 'tpr/wow', archive);
    fs.writeFileSync(file, flipBytes(fs.readFileSync(file), 300));
    const store = fresh('store');
    const { damaged } = await importInto(store, from);
    expect(damaged).toHaveLength(1);
    fs.writeFileSync(join(from, 'ledger.db'), 'no database');
    const again = fresh('store');
    const report = await importInto(again, from);
    expect(report.damaged).toHaveLength(1);
    expect(report.unknown).toMatchObject([{ name: 'ledger.db' }]);
    for (const each of [store, again]) {
      expect(wrongBytes(each)).toEqual([]);
      const { asked, bytes } = await syncInto(each);
      expect(asked.filter((path) => path.includes('/data/') && !path.includes('configs'))).toEqual([
        `tpr/wow/${archive}`,
      ]);
      expect(bytes).toBeLessThan(fs.statSync(file).size);
    }
  });

  test('with a loose object that it holds in part: so much is taken', async () => {
    const from = await other(true);
    const { openStore } = await import('../../../src/store/store.ts');
    const opened = openStore(from, { create: false });
    const sizeOf = (path: string): number => fs.statSync(join(from, 'tpr/wow', path)).size;
    const [largest = ''] = mirror()
      .loose.filter((path) => fs.existsSync(join(from, 'tpr/wow', path)))
      .sort((a, b) => sizeOf(b) - sizeOf(a));
    const [path, size] = [`tpr/wow/${largest}`, sizeOf(largest)];
    const { decodeBlteHeader } = await import('../../../src/formats/blte/header.ts');
    const bytes = new Uint8Array(fs.readFileSync(join(from, path)));
    const { headerSize } = decodeBlteHeader(bytes);
    opened.files.withdraw([path], () => opened.ledger.removeSpans(path, [{ start: headerSize, end: size }]));
    fs.truncateSync(opened.file(path), headerSize);
    opened.close();
    const store = fresh('store');
    const { damaged, unknown, lacking } = await importInto(store, from);
    expect({ damaged, unknown, lacking }).toEqual({
      damaged: [],
      unknown: [],
      lacking: { entries: 1, bytes: size - headerSize },
    });
    const { asked } = await syncInto(store);
    expect(asked.filter((each) => each.includes('/wow/data/'))).toEqual([path]);
    expect(wrongBytes(store)).toEqual([]);
  });

  test('that is the store itself is refused', async () => {
    const from = await other(false);
    await expect(importInto(from, from)).rejects.toMatchObject({ code: 'E_USAGE' });
    await expect(importInto(from, join(from, 'tpr'))).rejects.toMatchObject({ code: 'E_USAGE' });
  });
});

test('a mirror of keg: objects, and entries in files of their own, which go where archives have them', async () => {
  const root = fresh('keg');
  const { archives, file } = mirror();
  fs.cpSync(join(www(), 'tpr/wow'), join(root, '.ngdp/objects'), { recursive: true });
  const { archiveEntries } = await import('../../../src/keep/store-checks.ts');
  // Of one archive there are its index and some of its entries.
  const [, , , hash = ''] = archives[0]!.split('/');
  const index = new Uint8Array(fs.readFileSync(`${file(archives[0]!)}.index`));
  const entries = [...archiveEntries(index, { kind: 'data', hash })];
  const bytes = fs.readFileSync(file(archives[0]!));
  for (const { ekey, offset, size } of entries.slice(5)) {
    const fragment = join(root, '.ngdp/fragments', ekey.slice(0, 2), ekey.slice(2, 4), ekey);
    fs.mkdirSync(dirname(fragment), { recursive: true });
    fs.writeFileSync(fragment, bytes.subarray(offset, offset + size));
  }
  fs.rmSync(join(root, '.ngdp/objects', archives[0]!));
  await expect(importInto(fresh('store'), root)).rejects.toMatchObject({ code: 'E_USAGE' });
  const store = fresh('store');
  const report = await importInto(store, root, { cdnPath: 'tpr/wow' });
  expect(report).toMatchObject({ damaged: [], unknown: [] });
  const named = await within(fresh('store'), (pakrat) => pakrat.import(root, { product: 'wow' }));
  expect(named.taken).toEqual(report.taken);
  const lacking = entries.slice(0, 5).reduce((sum, { size }) => sum + size, 0);
  const first = await syncInto(store);
  const second = await syncInto(store, 'wow_old');
  const ofArchive = [...first.asked, ...second.asked].filter((path) => path.endsWith(hash));
  expect(ofArchive.length).toBeGreaterThan(0);
  const productConfigs = fs.readdirSync(join(www(), 'tpr/configs'), { recursive: true, encoding: 'utf8' });
  expect(productConfigs.length).toBeGreaterThan(0);
  expect(first.bytes + second.bytes).toBeLessThan(lacking + 5_000);
  expect(wrongBytes(store)).toEqual([]);
});

describe('an installed game', () => {
  test('with a network: its entries lie where the CDN has them, and a sync fetches only what was not installed', async () => {
    const store = fresh('store');
    const local = join(cdn.root, 'local');
    const before = hashes(local);
    const report = await within(store, (pakrat) => pakrat.import(local));
    expect(report.damaged).toEqual([]);
    expect(report.builds).toMatchObject([{ product: 'wow', name: '11.2.0.60100' }]);
    expect(report.taken.entries).toBeGreaterThan(40);
    expect(wrongBytes(store)).toEqual([]);
    expect((await syncInto(store, 'wow', false)).asked.filter((path) => path.includes('/wow/data/'))).toEqual([]);
    expect(hashes(local)).toEqual(before);
  });

  test('again, of which the store has lost files by now: they are taken again', async () => {
    const store = fresh('store');
    const local = join(cdn.root, 'local');
    await within(store, (pakrat) => pakrat.import(local));
    const { taken } = await within(store, (pakrat) => pakrat.import(local));
    expect(taken).toEqual({ objects: 0, entries: 0, bytes: 0 });
    for (const place of ['tpr', 'partial/tpr']) {
      const lost = join(store, place, 'wow/data');
      for (const path of fs.existsSync(lost) ? fs.readdirSync(lost, { recursive: true, encoding: 'utf8' }) : []) {
        if (/[0-9a-f]{32}$/.test(path)) fs.rmSync(join(lost, path));
      }
    }
    await within(store, (pakrat) => pakrat.import(local));
    expect((await syncInto(store, 'wow', false)).asked.filter((path) => path.includes('/wow/data/'))).toEqual([]);
  });

  test('of which a part was never downloaded, and a byte is wrong: a sync fetches just that', async () => {
    const local = fresh('local');
    fs.cpSync(join(cdn.root, 'local'), local, { recursive: true });
    const data = join(local, 'Data/data/data.000');
    const bytes = fs.readFileSync(data);
    fs.writeFileSync(data, flipBytes(bytes.fill(0, Math.floor(bytes.length * 0.8)), 300));
    const store = fresh('store');
    const { lacking, damaged } = await within(store, (pakrat) => pakrat.import(local));
    expect(damaged).toHaveLength(2);
    expect(wrongBytes(store)).toEqual([]);
    const { wanted, missing } = await within(store, (pakrat) => pakrat.plan('wow'));
    expect(missing.entries).toBeGreaterThan(2);
    expect(missing.bytes).toBeLessThan(wanted.bytes * 0.4);
    expect(lacking.entries).toBeLessThan(missing.entries);
    await syncInto(store, 'wow', false);
    expect(wrongBytes(store)).toEqual([]);
  });

  test('whose CDN config is damaged: it is fetched; offline nothing is taken, for nothing says where it belongs', async () => {
    const local = fresh('local');
    fs.cpSync(join(cdn.root, 'local'), local, { recursive: true });
    const { cdn: keys } = cdn.summary.configs as { cdn: { b: string } };
    const file = join(local, 'Data/config', keys.b.slice(0, 2), keys.b.slice(2, 4), keys.b);
    fs.writeFileSync(file, flipBytes(fs.readFileSync(file), 30));
    const offline = await importInto(fresh('store'), local);
    expect(offline).toMatchObject({ taken: { entries: 0 }, damaged: [{ code: 'E_INTEGRITY' }] });
    expect(offline.unknown.at(-1)).toMatchObject({ message: expect.stringContaining('with a network') });
    const store = fresh('store');
    const { taken, unknown } = await within(store, (pakrat) => pakrat.import(local));
    expect(taken.entries).toBeGreaterThan(40);
    expect(unknown).toEqual([]);
    expect((await syncInto(store, 'wow', false)).asked.filter((path) => path.includes('/wow/data/'))).toEqual([]);
  });

  test('offline, with the indices that its client keeps: what they list goes where they say', async () => {
    const local = fresh('local');
    fs.cpSync(join(cdn.root, 'local'), local, { recursive: true });
    const data = join(www(), 'tpr/wow/data');
    for (const path of fs.readdirSync(data, { recursive: true, encoding: 'utf8' }))
      if (path.endsWith('.index'))
        fs.copyFileSync(join(data, path), join(local, 'Data/indices', path.split('/').at(-1)!));
    const store = fresh('store');
    const report = await importInto(store, local);
    expect(report).toMatchObject({ damaged: [], unknown: [] });
    expect((await syncInto(store, 'wow', false)).asked.filter((path) => path.includes('/wow/data/'))).toEqual([]);
    expect(wrongBytes(store)).toEqual([]);
  });

  test('offline, where nothing says which archives its entries belong to: it is told', async () => {
    const { taken, unknown } = await importInto(fresh('store'), join(cdn.root, 'local'));
    expect(taken.entries).toBe(0);
    expect(unknown).toMatchObject([{ message: expect.stringContaining('with a network') }]);
  });
});

test('links are not followed, pipes not opened, and other files passed over', async () => {
  const store = fresh('store');
  const { root, file, archives, loose } = mirror();
  const outside = fresh('outside');
  fs.mkdirSync(outside);
  fs.renameSync(file(loose[0]!), join(outside, 'loose'));
  fs.symlinkSync(join(outside, 'loose'), file(loose[0]!));
  fs.rmSync(file(loose[1]!));
  spawnSync('mkfifo', [file(loose[1]!)]);
  fs.symlinkSync('/', join(root, 'tpr/wow/data/ff00'));
  fs.writeFileSync(join(root, 'README'), 'no object');
  fs.truncateSync(`${file(archives[0]!)}.index`, 2 ** 40);
  const { unknown, damaged, others } = await importInto(store, root);
  expect(unknown.map(({ name }) => name).sort()).toEqual(
    [`tpr/wow/${loose[0]}`, 'tpr/wow/data/ff00', `tpr/wow/${archives[0]}`].sort(),
  );
  expect(damaged).toMatchObject([{ name: `tpr/wow/${archives[0]}.index`, code: 'E_FORMAT_RANGE' }]);
  expect(others).toBe(1);
  expect(wrongBytes(store)).toEqual([]);
});

test('a product whose objects are encrypted one by one: checked with its key, and kept as the CDN has them', async () => {
  const root = fresh('encrypted');
  makeEncryptedTree(root, 9, ['--files', '30', '--total-bytes', '100K', '--archives', '2', '--local']);
  const folder = join(root, 'www');
  const locked = await importInto(fresh('store'), folder);
  expect(locked.taken.entries).toBe(0);
  expect(locked.unknown[0]!.message).toMatch(/TestKey\.ak/);
  const keyFile = fresh('TestKey.ak').replace(/TestKey\.ak\d+$/, 'TestKey.ak');
  writeTreeKey(keyFile);
  const [first, second] = [fresh('store'), fresh('store')];
  await within(first, (pakrat) => pakrat.keys.import([keyFile]), true);
  const report = await importInto(first, folder);
  expect(report).toMatchObject({ damaged: [], unknown: [] });
  expect(report.taken.entries).toBeGreaterThan(20);
  expect(checkHeldBytes(first, folder).wrong).toEqual([]);
  // Another store has the key with its objects.
  const again = await importInto(second, first);
  expect(again).toMatchObject({ damaged: [], unknown: [], taken: { entries: report.taken.entries } });
  expect(checkHeldBytes(second, folder).wrong).toEqual([]);
});

test('a folder without any object is no source of one', async () => {
  const empty = fresh('empty');
  fs.mkdirSync(empty);
  await expect(importInto(fresh('store'), empty)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(importInto(fresh('store'), join(empty, 'no'))).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});

test('an install with pipes in the place of its files is not waited for', async () => {
  const local = fresh('local');
  fs.cpSync(join(cdn.root, 'local'), local, { recursive: true });
  const files = ['Data/data/data.000', '.flavor.info', `Data/data/0000000009.idx`].map((path) => join(local, path));
  for (const file of files) fs.rmSync(file, { force: true });
  spawnSync('mkfifo', files);
  const { taken, unknown } = await within(fresh('store'), (pakrat) => pakrat.import(local));
  expect(taken.entries).toBe(0);
  expect(unknown.some(({ message }) => message.includes('no plain file'))).toBe(true);
});

describe('what gc keeps', () => {
  const gcIn = (store: string) => within(store, (pakrat) => pakrat.gc(), true);

  test('all of a mirror: its builds are known to have been wanted whole, and are complete', async () => {
    const store = fresh('store');
    const { root } = mirror();
    await importInto(store, root);
    const { builds } = await within(store, (pakrat) => pakrat.status(), true);
    expect(builds).toHaveLength(2);
    for (const { wanted, held } of builds) expect(held).toEqual(wanted);
    expect(builds[0]!.wanted.entries).toBeGreaterThan(50);
    // Indices of whole groups, which some mirrors have, can be made again.
    expect((await gcIn(store)).objects).toBeLessThan(4);
    for (const name of ['wow', 'wow_old'])
      expect((await syncInto(store, name)).asked.filter((path) => !path.startsWith('tpr/configs/'))).toEqual([]);
  });

  test('with hard links: what goes leaves the store, and never the folder', async () => {
    const store = fresh('store');
    const { root } = mirror();
    const before = hashes(root);
    await importInto(store, root, { link: true });
    const [old] = (await within(store, (pakrat) => pakrat.status(), true)).builds.filter(({ name }) =>
      name.endsWith('60000'),
    );
    const gone = await within(store, (pakrat) => pakrat.forget([`wow@${old!.buildConfig}`]), true);
    expect(gone.bytes).toBeGreaterThan(0);
    expect(wrongBytes(store)).toEqual([]);
    expect(hashes(root)).toEqual(before);
    const again = await importInto(store, root, { link: true });
    expect(again.taken.bytes).toBe(gone.bytes);
    expect(hashes(root)).toEqual(before);
  });

  test('what another store wanted, and had pinned', async () => {
    const [from, store] = [fresh('other'), fresh('store')];
    await within(from, async (pakrat) => {
      await pakrat.sync('wow', { tags: ['Windows', 'enUS'] });
      await pakrat.pin(['wow']);
    });
    await importInto(store, from);
    const statusOf = (root: string) => within(root, (pakrat) => pakrat.status(), true);
    const { builds } = await statusOf(store);
    expect(builds).toMatchObject((await statusOf(from)).builds.map(({ wanted, held }) => ({ wanted, held })));
    const { openStore } = await import('../../../src/store/store.ts');
    const { ledger, close } = openStore(store, { create: false });
    expect(ledger.keeping.pins()).toHaveLength(1);
    expect(ledger.keeping.selections({ product: 'wow', buildConfig: builds[0]!.buildConfig })).toHaveLength(1);
    close();
  });
});
