import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { toHex } from '../../src/core/bytes.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { decodePatchManifest } from '../../src/formats/patches/patch-manifest.ts';
import type { OnProgress, Pakrat, PublishReport } from '../../src/index.ts';
import { Encoder } from '../../src/publish/encode/encoder.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { lockStore } from '../../src/store/ledger/sqlite.ts';
import { randomSource } from '../support/hostile.ts';
import { scratchFolder } from '../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';
import { withPakrat } from '../support/with-pakrat.ts';
import { openPublished } from './open-published.ts';
import { treeOf } from './published.ts';

/* A folder, published by the library as the command does it, read by a sync and by decoders that were proven on real files. */

const scratch = scratchFolder();
const random = randomSource(31);
const noise = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));

type Files = Record<string, string | Uint8Array>;
let runs = 0;

/** A fresh folder of these files, and one for a CDN. */
function folders(files: Files): { game: string; cdn: string; store: string } {
  runs += 1;
  const [game, cdn, store] = ['game', 'cdn', 'store'].map((name) => scratch(`${runs}`, name)) as [
    string,
    string,
    string,
  ];
  write(game, files);
  return { game, cdn, store };
}

function write(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

const publish = (
  game: string,
  cdn: string,
  more: Partial<Parameters<Pakrat['publish']>[1]> = {},
): Promise<PublishReport> => withPakrat({}, (pakrat) => pakrat.publish(game, { product: 'mygame', to: cdn, ...more }));

const servers: StaticServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Serves a CDN folder as a plain web server does, and gives what a session needs to reach it. */
async function served(cdn: string): Promise<{ patchUrl: string; cdnHost: string[] }> {
  const server = await serveFolder(cdn);
  servers.push(server);
  return { patchUrl: server.url, cdnHost: [new URL(server.url).host] };
}

/** Syncs and extracts all of a build, and gives what came out. */
async function extracted(cdn: string, store: string, build = 'mygame'): Promise<Record<string, string>> {
  const to = join(store, '..', `out-${build}`);
  rmSync(to, { recursive: true, force: true });
  await withPakrat({ store, ...(await served(cdn)) }, async (pakrat) => {
    await pakrat.sync(build);
    const { failed } = await pakrat.extract(build, { to });
    expect(failed).toEqual([]);
  });
  return treeOf(to);
}

const sample = (): Files => ({
  'readme.txt': 'read me',
  'Data/enUS/story.txt': 'once upon a time '.repeat(50_000),
  'Data/deDE/story.txt': 'es war einmal '.repeat(50_000),
  'Data/noise.bin': noise(700_000),
  'Data/same.bin': 'twice',
  'Data/same again.bin': 'twice',
  'Data/größe und ähnliches.txt': 'umlauts',
  'bin/game.exe': noise(3000),
  'empty.dat': '',
});

test('a folder is what a sync and an extraction give back, with nothing imported', async () => {
  const { game, cdn, store } = folders(sample());
  const report = await publish(game, cdn);
  expect(report).toMatchObject({ product: 'mygame', version: '1.0.0.1', buildId: 1, unchanged: false, files: 9 });
  expect(await extracted(cdn, store)).toEqual(treeOf(game));
  await withPakrat({ store, offline: true }, async (pakrat) => {
    const source = await pakrat.open('mygame');
    const names: string[] = [];
    for await (const { name } of source.list()) names.push(name);
    expect(names).toEqual(Object.keys(sample()).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  });
});

test('the same folder gives the same bytes elsewhere; published again where it is, nothing is made', async () => {
  const { game, cdn } = folders(sample());
  const first = await publish(game, cdn);
  await publish(game, `${cdn}-2`);
  const before = treeOf(cdn);
  expect(treeOf(`${cdn}-2`)).toEqual(before);
  const { root } = openPublished(cdn, 'mygame').build;
  const encode = jest.spyOn(Encoder.prototype, 'run');
  const again = await publish(game, cdn);
  expect(encode).not.toHaveBeenCalled();
  write(game, { 'readme.txt': 'read it' });
  await publish(game, `${cdn}-2`);
  // The file, and five manifests less the install manifest: of the others nothing is encoded.
  expect(encode).toHaveBeenCalledTimes(5);
  write(game, { 'readme.txt': 'read me' });
  encode.mockRestore();
  expect(again).toEqual({ ...first, unchanged: true, added: { objects: 0, bytes: 0 } });
  expect(treeOf(cdn)).toEqual(before);
  // Another name makes a build of the same objects.
  const named = await publish(game, cdn, { buildName: '2.0' });
  expect(named).toMatchObject({ version: '2.0', buildId: 2, unchanged: false });
  expect(openPublished(cdn, 'mygame').build.root).toEqual(root);
  expect(await publish(game, cdn, { buildName: '2.0' })).toMatchObject({ unchanged: true, buildId: 2 });
});

test('a further build shares what did not change, has patches for what did, and keeps the older one', async () => {
  const long = Array.from({ length: 4000 }, (_, i) => `line ${i} ${i * i}`);
  const { game, cdn, store } = folders({ ...sample(), 'Data/long.txt': long.join('\n') });
  const first = await publish(game, cdn);
  const old = treeOf(game);
  const patched = scratch(`${runs}`, 'patched');
  const connection = await served(cdn);
  await withPakrat({ store: patched, ...connection }, (pakrat) => pakrat.sync('mygame'));
  const before = treeOf(cdn);
  write(game, { 'Data/long.txt': long.with(2000, 'another line').join('\n'), 'Data/new.txt': 'new' });
  rmSync(join(game, 'empty.dat'));
  const second = await publish(game, cdn);
  expect(second).toMatchObject({ version: '1.0.0.2', buildId: 2, patches: { objects: 1 } });
  // Two files; root, download, size and encoding.
  expect(second.added.objects).toBe(6);

  const after = treeOf(cdn);
  const isTable = (path: string): boolean => /(^|\/)(versions|cdns|summary)$/.test(path);
  for (const [path, md5] of Object.entries(before))
    if (!isTable(path)) expect([path, after[path]]).toEqual([path, md5]);
  const published = openPublished(cdn, 'mygame');
  expect(published.cdn.builds).toEqual([second.buildConfig, first.buildConfig]);
  expect(published.versions.seqn).toBe(2);
  const manifest = decodePatchManifest(readFileSync(published.path('patch', published.build.patch?.ckey ?? '')));
  const [target, ...others] = [...manifest.files];
  expect(others).toEqual([]);
  expect(target && toHex(target.targetCkey)).toBe(md5Hex(readFileSync(join(game, 'Data/long.txt'))));

  // Whoever holds the older build makes the file out of it.
  await withPakrat({ store: patched, ...connection }, async (pakrat) => {
    expect(await pakrat.sync('mygame', { patch: true })).toMatchObject({
      patched: { entries: 1 },
      missing: { entries: 0 },
    });
  });
  expect(await extracted(cdn, store)).toEqual(treeOf(game));
  // By its build config, from a CDN config that is no longer live or from this one.
  expect(await extracted(cdn, store, `mygame@${first.buildConfig}`)).toEqual(old);
});

test('names that differ in their case only are two files', async () => {
  const { game, cdn, store } = folders({ 'Data/File.txt': 'one', 'data/file.txt': 'two', 'data/FILE.txt': 'three' });
  await publish(game, cdn);
  await withPakrat({ store, ...(await served(cdn)) }, async (pakrat) => {
    await pakrat.sync('mygame');
    const source = await pakrat.open('mygame');
    const found: Record<string, string> = {};
    for await (const { name } of source.list()) found[name] = Buffer.from(await source.bytes(name)).toString();
    expect(found).toEqual({ 'Data/File.txt': 'one', 'data/file.txt': 'two', 'data/FILE.txt': 'three' });
  });
});

test('tags choose files, and what is for everyone comes with any', async () => {
  const { game, cdn, store } = folders(sample());
  const tags = scratch(`${runs}`, 'tags.txt');
  writeFileSync(
    tags,
    '# what is for whom\nWindows,x86_64,install   bin/**\nenUS  Data/enUS/**\ndeDE\tData/deDE\ncategory:Extra,priority:3  *.bin\n',
  );
  await publish(game, cdn, { tags });
  const { install, download, size } = openPublished(cdn, 'mygame');
  const table = [
    ['Windows', 1],
    ['x86_64', 2],
    ['deDE', 3],
    ['enUS', 3],
    ['Extra', 5],
  ];
  for (const { tags: found } of [install, download, size])
    expect(found.map((tag) => [tag.name, tag.type])).toEqual(table);
  expect(install.entries.map(({ path }) => path)).toEqual(['bin\\game.exe']);
  const priorities = Array.from({ length: download.count }, (_, i) => download.entry(i).priority);
  expect(priorities).toEqual([-128, -128, 0, 0, 0, 0, 0, 0, 3, 3]);

  const connection = await served(cdn);
  await withPakrat({ store, ...connection }, async (pakrat) => {
    await pakrat.sync('mygame', { tags: ['enUS'] });
  });
  await withPakrat({ store, offline: true }, async (pakrat) => {
    const to = scratch(`${runs}`, 'out');
    const { failed } = await pakrat.extract('mygame', { to });
    expect(failed.map(({ name }) => name)).toEqual(['Data/deDE/story.txt']);
    expect(readFileSync(join(to, 'Data/enUS/story.txt'))).toEqual(readFileSync(join(game, 'Data/enUS/story.txt')));
  });
});

const key = '00112233445566AA 000102030405060708090A0B0C0D0E0F';
const otherKey = 'FFEEDDCCBBAA9988 F00102030405060708090A0B0C0D0E0F';

test('a key encrypts: without it the names are known and the contents are not', async () => {
  const { game, cdn, store } = folders({ ...sample(), 'secret/a.txt': 'hidden '.repeat(100) });
  const [keys, tags] = ['keys.txt', 'tags.txt'].map((name) => scratch(`${runs}`, name)) as [string, string];
  writeFileSync(keys, `${key}\n${otherKey}\n`);
  await expect(publish(game, cdn, { keys })).rejects.toMatchObject({
    code: 'E_USAGE',
    hint: expect.stringMatching(/key:NAME/),
  });
  writeFileSync(tags, 'key:00112233445566aa secret/**\n');
  await publish(game, cdn, { keys, tags });
  await withPakrat({ store, ...(await served(cdn)) }, async (pakrat) => {
    await pakrat.sync('mygame');
    const { failed } = await pakrat.extract('mygame', { to: scratch(`${runs}`, 'locked') });
    expect(failed).toMatchObject([{ name: 'secret/a.txt', code: 'E_KEY_MISSING', key: '00112233445566aa' }]);
    await pakrat.keys.import([keys]);
    const { failed: none } = await pakrat.extract('mygame', { to: scratch(`${runs}`, 'open') });
    expect(none).toEqual([]);
  });
  expect(treeOf(scratch(`${runs}`, 'open'))).toEqual(treeOf(game));
  // Unchanged, though it is encrypted.
  expect(await publish(game, cdn, { keys, tags })).toMatchObject({ unchanged: true });
  // One key alone encrypts everything; all of it changes.
  writeFileSync(keys, key);
  expect((await publish(game, cdn, { keys })).added.objects).toBeGreaterThan(9);
});

test.each([
  ['n', 'NNN'],
  ['z:9', 'ZZZ'],
  ['b:{512K*=z}', 'ZZ'],
  ['b:{*=n}', 'N'],
])('the spec %s says how files are encoded', async (espec, modes) => {
  const { game, cdn, store } = folders({ 'a.bin': noise(700_000), 'b.txt': 'b' });
  await publish(game, cdn, { espec });
  const published = openPublished(cdn, 'mygame');
  expect(published.modesOf(md5Hex(readFileSync(join(game, 'a.bin'))))).toBe(modes);
  expect(await extracted(cdn, store)).toEqual(treeOf(game));
});

test('every answer names the build: both forms of the tables, the summary, and the channels', async () => {
  const { game, cdn, store } = folders(sample());
  await publish(game, cdn, { hosts: ['cdn.example.org'] });
  const table = (path: string): Buffer => readFileSync(join(cdn, path));
  for (const name of ['versions', 'cdns']) expect(table(`v2/products/mygame/${name}`)).toEqual(table(`mygame/${name}`));
  expect(table('mygame/cdns').toString()).toContain('|cdn.example.org|');
  expect(table('v2/summary').toString()).toContain('mygame|1|');
  const { patchUrl, cdnHost } = await served(cdn);
  await withPakrat({ store, patchUrl: `channels+${patchUrl}`, cdnHost }, async (pakrat) => {
    const report = await pakrat.sync('mygame');
    expect(report.build.name).toBe('1.0.0.1');
  });
});

test('a table that was lost, or is of a publish that was killed, is put right by the next, though nothing has changed', async () => {
  const { game, cdn } = folders({ 'a.txt': 'a' });
  await publish(game, cdn);
  const before = treeOf(cdn);
  writeFileSync(join(cdn, 'v2/products/mygame/versions'), 'of another time');
  rmSync(join(cdn, 'v2/summary'));
  rmSync(join(cdn, 'summary'));
  expect(await publish(game, cdn)).toMatchObject({ unchanged: true });
  expect(treeOf(cdn)).toEqual(before);
  // Other hosts are no other build, and yet a newer answer.
  expect(await publish(game, cdn, { hosts: ['b.example'] })).toMatchObject({ unchanged: true, buildId: 1 });
  expect(readFileSync(join(cdn, 'v2/products/mygame/cdns'), 'utf8')).toMatch(/\|b\.example\|/);
  expect(openPublished(cdn, 'mygame').versions.seqn).toBe(2);
  expect((await publish(game, cdn, { buildName: '3' })).buildId).toBe(2);
  expect(openPublished(cdn, 'mygame').versions.seqn).toBe(3);
});

test('other products in the folder stay', async () => {
  const { game, cdn, store } = folders({ 'a.txt': 'a' });
  await publish(game, cdn);
  write(game, { 'b.txt': 'b' });
  await publish(game, cdn, { product: 'other' });
  expect(Object.keys(await extracted(cdn, store))).toEqual(['a.txt']);
  expect(Object.keys(await extracted(cdn, store, 'other'))).toEqual(['a.txt', 'b.txt']);
  await withPakrat({ store, ...(await served(cdn)) }, async (pakrat) => {
    expect((await pakrat.products()).map(({ product }) => product)).toEqual(
      expect.arrayContaining(['mygame', 'other']),
    );
  });
});

test('a large file is encoded on disk, lies loose, and is shared', async () => {
  const large = Buffer.alloc((33 << 20) + 5, 'large ');
  const { game, cdn, store } = folders({ 'large.bin': large, 'small.txt': 'small' });
  const told: number[] = [];
  const steps: string[] = [];
  const onProgress: OnProgress = (event) => {
    if (event.type === 'bytes') told.push(event.done);
    if (event.type === 'step') steps.push(event.step);
  };
  await withPakrat({}, (pakrat) =>
    pakrat.publish(game, { product: 'mygame', to: cdn, espec: 'b:{4M*=n}', onProgress }),
  );
  expect(told.at(-1)).toBe(large.length + 5);
  expect(steps).toEqual(['files of the folder', 'manifests']);
  const published = openPublished(cdn, 'mygame');
  expect(published.modesOf(md5Hex(large))).toBe('N'.repeat(9));
  const { ekeys = [] } = published.encoding.findCkey(md5Hex(large)) ?? {};
  expect(readFileSync(published.path('data', ekeys[0] ?? '')).length).toBeGreaterThan(large.length);
  expect(await extracted(cdn, store)).toEqual(treeOf(game));
  expect(await publish(game, cdn, { espec: 'b:{4M*=n}' })).toMatchObject({ unchanged: true });
});

test('a live build that lacks an archive is told, and nothing is built on it', async () => {
  const { game, cdn } = folders(sample());
  await publish(game, cdn);
  const { cdn: config, path } = openPublished(cdn, 'mygame');
  rmSync(path('data', config.archives[0] ?? ''));
  write(game, { 'another.txt': 'another' });
  await expect(publish(game, cdn)).rejects.toMatchObject({
    code: 'E_NOT_FOUND',
    hint: expect.stringMatching(/empty folder/),
  });
  expect(openPublished(cdn, 'mygame').versions.seqn).toBe(1);
});

describe('a live build of which', () => {
  type Published = ReturnType<typeof openPublished>;
  const archive = ({ cdn, path }: Published): string => path('data', cdn.archives[0]!);
  const encoding = ({ build, path }: Published): string => path('data', build.encoding.ekey!);
  const config =
    (column: string) =>
    ({ versions, path }: Published): string =>
      path('config', versions.rows[0]![column]!);
  const cut = (file: string): void => truncateSync(file, statSync(file).size - 1);
  const empty = (file: string): void => truncateSync(file, 0);

  test.each([
    ['an archive is cut', archive, cut, 'E_INTEGRITY'],
    ['an archive is empty', archive, empty, 'E_INTEGRITY'],
    ['a loose object is cut', encoding, cut, 'E_INTEGRITY'],
    ['the CDN config is empty', config('CDNConfig'), empty, 'E_INTEGRITY'],
    ['the build config is cut', config('BuildConfig'), cut, 'E_INTEGRITY'],
  ])('%s is told, and nothing is built on it', async (_, find, harm, code) => {
    const { game, cdn } = folders(sample());
    await publish(game, cdn);
    harm(find(openPublished(cdn, 'mygame')));
    write(game, { 'another.txt': 'another' });
    const versions = readFileSync(join(cdn, 'mygame/versions'), 'utf8');
    await expect(publish(game, cdn)).rejects.toMatchObject({ code });
    expect(readFileSync(join(cdn, 'mygame/versions'), 'utf8')).toBe(versions);
  });
});

test('a second publish into the same folder waits for nobody, and is refused', async () => {
  const { game, cdn } = folders(sample());
  await publish(game, cdn);
  const release = lockStore(join(cdn, '.publish.lock'));
  try {
    await expect(publish(game, cdn)).rejects.toMatchObject({
      code: 'E_STORE_LOCKED',
      message: expect.stringContaining('publishing'),
    });
  } finally {
    release();
  }
});

describeTmpfs('a full disk', () => {
  test('leaves the build that was live, and nothing half-written', async () => {
    const { game } = folders({ 'a.txt': 'a' });
    await withTmpfs('4m', async (disk, resize) => {
      await publish(game, disk);
      const before = treeOf(disk);
      write(game, { 'b.bin': randomBytes(6 << 20) });
      await expect(publish(game, disk)).rejects.toMatchObject({
        code: 'E_STORE_FULL',
        hint: expect.stringMatching(/live still is/),
      });
      expect(treeOf(disk)).toEqual(before);
      resize('16m');
      await publish(game, disk);
      expect(openPublished(disk, 'mygame').files()).toEqual(treeOf(game));
    });
  });

  test('is told as such wherever it is noticed, while contents and manifests are written', async () => {
    const names = Array.from({ length: 400 }, (_, i) => `${'folder'.repeat(30)}/${'name'.repeat(40)}${i}`);
    const { game } = folders(Object.fromEntries(names.map((name) => [name, name])));
    await withTmpfs('64k', async (disk, resize) => {
      let failed = 0;
      for (let size = 64; ; size += 20) {
        resize(`${size}k`);
        const result = await publish(game, disk).catch((error: unknown) => error);
        if (!(result instanceof Error)) break;
        expect(result).toMatchObject({ code: 'E_STORE_FULL', hint: expect.stringMatching(/live still is/) });
        expect(readdirSync(disk).filter((name) => name.endsWith('.tmp'))).toEqual([]);
        failed += 1;
      }
      expect(failed).toBeGreaterThan(5);
      expect(openPublished(disk, 'mygame').files()).toEqual(treeOf(game));
    });
  }, 60_000);
});

test('links are passed over, and told, and so is a glob that matches nothing', async () => {
  const { game, cdn } = folders({ 'a.txt': 'a' });
  symlinkSync(join(game, 'a.txt'), join(game, 'b.txt'));
  const notes: string[] = [];
  const tags = pieces('enUS *.txt\ndeDE b.*\n');
  const onProgress: OnProgress = (event) => event.type === 'note' && notes.push(event.text);
  const report = await publish(game, cdn, { tags, onProgress });
  expect(report.files).toBe(1);
  expect(notes).toEqual([
    'links are not published: 1 passed over',
    'no file matches b.* of the tag file',
    expect.stringMatching(/localhost.*--host/),
  ]);
});

test.each<[string, string, (at: { game: string; cdn: string }) => Promise<unknown>]>([
  ['a CDN folder in the folder', 'E_USAGE', ({ game }) => publish(game, join(game, 'cdn'))],
  ['a folder in the CDN folder', 'E_USAGE', ({ game }) => publish(game, dirname(game))],
  ['the same folder', 'E_USAGE', ({ game }) => publish(game, relative('.', game))],
  ['no folder', 'E_NOT_FOUND', ({ game, cdn }) => publish(`${game}-none`, cdn)],
  ['a file', 'E_USAGE', ({ game, cdn }) => publish(join(game, 'a.txt'), cdn)],
  ['a product that is none', 'E_USAGE', ({ game, cdn }) => publish(game, cdn, { product: 'a b' })],
  ['a spec that is none', 'E_USAGE', ({ game, cdn }) => publish(game, cdn, { espec: 'q' })],
  ['a spec for one size', 'E_USAGE', ({ game, cdn }) => publish(game, cdn, { espec: 'b:{1K=n}' })],
  ['a spec with a key', 'E_USAGE', ({ game, cdn }) => publish(game, cdn, { espec: 'e:{0011223344556677,00112233,n}' })],
  ['a tag without a type', 'E_FORMAT', ({ game, cdn }) => publish(game, cdn, { tags: pieces('Extra **') })],
  [
    'a key that is not there',
    'E_FORMAT',
    ({ game, cdn }) => publish(game, cdn, { tags: pieces('key:0011223344556677 **') }),
  ],
  ['tags without a glob', 'E_FORMAT', ({ game, cdn }) => publish(game, cdn, { tags: pieces('enUS') })],
  ['keys that are not there', 'E_NOT_FOUND', ({ game, cdn }) => publish(game, cdn, { keys: `${game}-keys` })],
  ['an interruption', 'E_ABORTED', ({ game, cdn }) => publish(game, cdn, { signal: AbortSignal.abort() })],
])('%s is refused, and nothing is brought to life', async (_, code, work) => {
  const at = folders({ 'a.txt': 'a' });
  await expect(work(at)).rejects.toMatchObject({ code });
  expect(existsSync(join(at.cdn, 'mygame'))).toBe(false);
  expect(readdirSync(at.game)).toEqual(['a.txt']);
});

test('an empty folder is refused', async () => {
  const { game, cdn } = folders({});
  mkdirSync(game, { recursive: true });
  await expect(publish(game, cdn)).rejects.toMatchObject({ code: 'E_USAGE', message: 'there are no files to publish' });
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test('what a build that is long gone had is not stored again when it returns', async () => {
  const [small, large] = [noise(3000), randomBytes(33 << 20)];
  const { game, cdn } = folders({ 'small.bin': small, 'large.bin': large, 'always.txt': 'always' });
  const options = { espec: 'b:{1M*=n}' };
  const first = await publish(game, cdn, options);
  write(game, { 'small.bin': 'other', 'large.bin': 'other still' });
  await publish(game, cdn, options);
  write(game, { 'small.bin': small, 'large.bin': large });
  const third = await publish(game, cdn, options);
  // The manifests are those of the first build, too.
  expect(third).toMatchObject({ unchanged: false, objects: first.objects, added: { objects: 0, bytes: 0 } });
});
