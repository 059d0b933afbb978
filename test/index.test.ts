import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { md5Hex } from '../src/core/hash.ts';
import { encodeKeyList } from '../src/formats/configs/key-list.ts';
import { encodeListfile } from '../src/formats/roots/listfile.ts';
import {
  isPakratError,
  openPakrat,
  type Pakrat,
  PakratError,
  type Progress,
  type SessionOptions,
} from '../src/index.ts';
import { type PublishedBuild, type PublishFile, publishBuild } from '../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../src/serve/static-server.ts';
import { treeOf } from './publish/published.ts';
import { builtModule } from './support/built-module.ts';
import { randomSource } from './support/hostile.ts';
import { freePort, httpServer } from './support/loopback.ts';
import { quakePak } from './support/quake-pak.ts';
import { scratchFolder } from './support/scratch.ts';

/* The door of the library, as a program that uses it goes through it: nothing but `openPakrat`, on a CDN that is made and served here. */

const scratch = scratchFolder();
const workerUrl = new URL(builtModule('src/fetch/transfer/transfer-worker.ts'));
const text = (what: string): Uint8Array => new TextEncoder().encode(what);
const encodeText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Bytes that no deflate makes smaller. */
function noise(size: number, seed: number): Uint8Array {
  const random = randomSource(seed);
  return Uint8Array.from({ length: size }, () => Math.floor(random() * 256));
}

const key = { name: '00112233445566aa', key: 'ffeeddccbbaa99887766554433221100' };
/** Contents by name, of the old build; in the new one `changed.txt` is another, and `only-old.txt` is gone. */
const contents: Record<string, Uint8Array> = {
  'data/noise.bin': noise(3 << 20, 1),
  'data/words.txt': text('all work and no play '.repeat(30_000)),
  'data/changed.txt': text('as it was'),
  'data/only-old.txt': text('nobody needs it any more'),
  'secret/story.txt': text('nobody shall read this '.repeat(2000)),
  ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`many/${i}.txt`, text(`file ${i} `.repeat(i + 1))])),
};
const filesOf = (changes: Record<string, Uint8Array | undefined>): PublishFile[] =>
  Object.entries({ ...contents, ...changes }).flatMap(([name, bytes], i) => {
    const isSecret = name.startsWith('secret/');
    return bytes === undefined ? [] : { name, fileDataId: 1 + i, read: () => bytes, key: isSecret ? key : undefined };
  });

const oldName = '1.2.3.44';
const newName = '1.2.4.45';
let server: StaticServer;
let port: number;
let newBuild: PublishedBuild;
let listfile: Uint8Array;

beforeAll(async () => {
  port = await freePort();
  const place = {
    product: 'sample',
    root: 'wow',
    out: scratch('cdn'),
    hosts: [`127.0.0.1:${port}`],
    archiveBytes: 1 << 20,
  } as const;
  const { names } = await publishBuild({ ...place, files: filesOf({}), version: oldName, buildId: 44 });
  listfile = encodeListfile(names);
  server = await serveFolder(scratch('cdn'), { port });
  // A store that saw the old build, before the new one came and its names were imported.
  await using pakrat = await openPakrat({ patchUrl: server.url, threads: 0, store: scratch('store') });
  await pakrat.sync('sample');
  const changes = { 'data/changed.txt': text('as it is now'), 'data/only-old.txt': undefined };
  newBuild = await publishBuild({ ...place, files: filesOf(changes), version: newName, buildId: 45 });
  await pakrat.sync('sample');
  await pakrat.listfile.import(pieces(listfile));
});
afterAll(() => server.close());

const opened: Pakrat[] = [];
afterEach(async () => {
  for (const pakrat of opened.splice(0)) await pakrat.close();
});
async function session(options: SessionOptions = {}): Promise<Pakrat> {
  const pakrat = await openPakrat({ patchUrl: server.url, threads: 0, ...options });
  opened.push(pakrat);
  return pakrat;
}
/** A session whose store holds both builds, and their names. */
const synced = (options: SessionOptions = {}): Promise<Pakrat> => session({ store: scratch('store'), ...options });

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
}
async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for await (const piece of stream) read.push(piece);
  return new Uint8Array(Buffer.concat(read));
}
const nothing = { entries: 0, bytes: 0 };

/** Events with the times at which they came. */
function recorder(): { events: Progress[]; onProgress: (event: Progress) => void; expectCalm: () => void } {
  const seen: { event: Progress; at: number }[] = [];
  return {
    get events() {
      return seen.map(({ event }) => event);
    },
    onProgress: (event) => void seen.push({ event, at: performance.now() }),
    /** Notes come at once, everything else at most ten times a second, and what still waits (one of a type) at the end. */
    expectCalm() {
      const times = seen.flatMap(({ event, at }) => (event.type === 'note' ? [] : [at]));
      for (let rest = 0; rest < 4 && (times.at(-1) ?? 0) - (times.at(-2) ?? 0) <= 95; rest++) times.pop();
      for (const [i, at] of times.entries()) {
        const before = times[i - 1];
        if (before !== undefined) expect(at - before).toBeGreaterThan(95);
      }
    },
  };
}

describe('a product of a CDN', () => {
  test('versions and cdns are what the service says', async () => {
    const pakrat = await session({ store: scratch('asked') });
    const versions = await pakrat.versions('sample');
    expect(versions).toEqual({ product: 'sample', seqn: 45, rows: expect.any(Array) });
    expect(versions.rows[0]).toMatchObject({ Region: 'us', VersionsName: newName, BuildConfig: newBuild.buildConfig });
    expect((await pakrat.cdns('sample')).rows[0]).toMatchObject({ Hosts: `127.0.0.1:${port}`, Path: 'tpr/sample' });
    await expect(pakrat.versions('nothing')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('a plan tells what a sync would fetch, and fetches no data', async () => {
    const pakrat = await session({ store: scratch('planned') });
    const report = await pakrat.plan('sample');
    expect(report).toMatchObject({
      product: 'sample',
      build: { name: newName, buildConfig: newBuild.buildConfig, cdnConfig: newBuild.cdnConfig },
      plan: { bytes: expect.any(Number), requests: expect.any(Number) },
    });
    expect(report.missing.bytes).toBeGreaterThan(3 << 20);
    expect(report.fetched.bytes).toBeLessThan(1 << 20);
    expect((await pakrat.status()).builds).toEqual([]);
    expect((await pakrat.plan('sample', { include: ['*.nothing'] }).catch((error) => error)).code).toBe('E_NOT_FOUND');
  });

  test('a sync brings all of it and tells how far it is; status knows; the next one has nothing to do', async () => {
    const pakrat = await session({ store: scratch('fresh'), threads: 2, workerUrl });
    const slow = recorder();
    const report = await pakrat.sync('sample', { onProgress: slow.onProgress, limitRate: 4 << 20 });
    expect(report).toMatchObject({ missing: nothing, held: report.wanted });
    expect(report.wanted.entries).toBeGreaterThan(64);
    expect(report).not.toHaveProperty('plan');
    slow.expectCalm();
    const types = new Set(slow.events.map(({ type }) => type));
    expect([...types].sort()).toEqual(['bytes', 'host', 'step']);
    const last = slow.events.findLast(({ type }) => type === 'bytes');
    expect(last).toMatchObject({ phase: 'data', files: { total: expect.any(Number) } });
    expect(slow.events.find(({ type }) => type === 'host')).toMatchObject({ hosts: [`127.0.0.1:${port}`] });

    const { wanted, held } = report;
    expect(await pakrat.status()).toEqual({
      store: scratch('fresh'),
      builds: [{ product: 'sample', name: newName, buildConfig: newBuild.buildConfig, wanted, held, pinned: false }],
      bytes: expect.any(Number),
    });
    expect((await pakrat.status('other')).builds).toEqual([]);
    expect(await pakrat.sync('sample')).toMatchObject({ fetched: { entries: 0 }, held, missing: nothing });
  });

  test('with threads it is the same', async () => {
    const pakrat = await session({ store: scratch('threads'), threads: 2, workerUrl });
    const report = await pakrat.sync('sample');
    expect(report).toMatchObject({ missing: nothing, held: report.wanted });
    expect(await pakrat.verify('sample')).toMatchObject({ bad: [] });
  });

  test('a part of it is what globs choose; another build is reached by its name', async () => {
    const pakrat = await session({ store: scratch('part') });
    await pakrat.listfile.import(pieces(listfile));
    const one = await pakrat.sync('sample', { include: ['data/w*'] });
    const two = await pakrat.sync('sample', { include: ['data/ch*.txt', 'data/w*'] });
    // The manifests of the build are always among what is wanted.
    expect(two).toMatchObject({ missing: nothing, held: two.wanted, wanted: { entries: one.wanted.entries + 1 } });
    expect(two.wanted.bytes).toBeLessThan(1 << 16);
    const old = await (await synced()).plan(`sample@${oldName}`);
    expect(old).toMatchObject({ build: { name: oldName }, missing: nothing });
  });

  test('an aborted sync ends with E_ABORTED, keeps what came, and goes on from there', async () => {
    const pakrat = await session({ store: scratch('aborted') });
    const controller = new AbortController();
    const onProgress = (event: Progress): void => {
      if (event.type === 'bytes' && event.done > 1 << 19) controller.abort();
    };
    const { signal } = controller;
    const error = await pakrat.sync('sample', { signal, onProgress, limitRate: 1 << 20 }).catch((thrown) => thrown);
    expect(isPakratError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'E_ABORTED', data: { heldBytes: expect.any(Number) } });
    const before = (await pakrat.status()).builds[0]!;
    expect(before.held.bytes).toBeGreaterThan(1 << 18);
    expect(before.held.bytes).toBeLessThan(before.wanted.bytes);
    expect((await pakrat.verify('sample')).bad).toEqual([]);
    const rest = await pakrat.sync('sample');
    expect(rest).toMatchObject({ missing: nothing });
    expect(rest.fetched.bytes).toBeLessThan(rest.wanted.bytes - before.held.bytes + (1 << 19));
  });
});

describe('an open source', () => {
  test('lists, finds and reads its files', async () => {
    const pakrat = await synced({ keys: { [key.name]: key.key } });
    await using source = await pakrat.open('sample');
    expect([source.kind, source.label]).toEqual(['build', `sample ${newName}`]);
    const names: string[] = [];
    for await (const { name } of source.list('many/*')) names.push(name);
    expect(names).toHaveLength(60);
    const several: string[] = [];
    for await (const { name } of source.list(['data/w*', '**/story.txt'])) several.push(name);
    expect(several.sort()).toEqual(['data/words.txt', 'secret/story.txt']);
    const tested: string[] = [];
    for await (const { name } of source.list((name) => name.endsWith('7.txt'))) tested.push(name);
    expect(tested).toHaveLength(6);

    const file = await source.find('data/words.txt');
    const bytes = contents['data/words.txt']!;
    expect(file).toMatchObject({ name: 'data/words.txt', size: bytes.length, md5: md5Hex(bytes) });
    expect(file!.facts).toMatchObject({ ckey: md5Hex(bytes), fileDataId: expect.any(Number) });
    expect(await source.find('data/none.txt')).toBeUndefined();
    for (const name of ['data/words.txt', `fdid:${file!.facts.fileDataId}`, `ckey:${file!.facts.ckey}`]) {
      expect(md5Hex(await source.bytes(name))).toBe(md5Hex(bytes));
    }
    expect(encodeText(await source.bytes('secret/story.txt'))).toMatch(/^nobody shall read this/);
    await expect(source.bytes('data/none.txt')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(await source.info()).toMatchObject({ kind: 'build', product: 'sample', name: newName });
    expect(await source.missingKeys()).toEqual([]);
  });

  test('gives a file, or a part of it, as a stream', async () => {
    const pakrat = await synced();
    await using source = await pakrat.open('sample');
    const bytes = contents['data/noise.bin']!;
    expect(md5Hex(await readAll(source.stream('data/noise.bin')))).toBe(md5Hex(bytes));
    for (const [offset, size] of [
      [0, 10],
      [1_000_000, 700_000],
      [bytes.length - 5, undefined],
      [bytes.length, undefined],
    ] as const) {
      const part = await readAll(source.stream('data/noise.bin', { offset, size }));
      const truth = bytes.subarray(offset, size === undefined ? undefined : offset + size);
      expect([part.length, md5Hex(part)]).toEqual([truth.length, md5Hex(truth)]);
    }
    const refused = { code: 'E_USAGE' };
    await expect(source.bytes('data/noise.bin', { offset: bytes.length + 1 })).rejects.toMatchObject(refused);
    await expect(source.bytes('data/noise.bin', { size: bytes.length + 1 })).rejects.toMatchObject(refused);
    await expect(source.bytes('data/noise.bin', { offset: -1 })).rejects.toMatchObject(refused);
    // Whoever has enough ends it.
    const reader = source.stream('data/noise.bin').getReader();
    expect((await reader.read()).value!.length).toBeGreaterThan(0);
    await reader.cancel();
  });

  test('a file that is locked names its key, and so does the source', async () => {
    const pakrat = await synced();
    const source = await pakrat.open('sample');
    await expect(source.bytes('secret/story.txt')).rejects.toMatchObject({
      code: 'E_KEY_MISSING',
      data: { keyName: key.name },
    });
    expect(await source.missingKeys()).toMatchObject([{ key: key.name, files: 1, names: ['secret/story.txt'] }]);
    await source.close();
  });

  test('what the store does not hold is fetched when it is read, and only that', async () => {
    const pakrat = await session({ store: scratch('lazy') });
    await pakrat.listfile.import(pieces(listfile));
    const work = recorder();
    await using source = await pakrat.open('sample', { onProgress: work.onProgress });
    expect(work.events.some(({ type }) => type === 'step')).toBe(true);
    work.expectCalm();
    const before = server.stats.bytes;
    expect(encodeText(await source.bytes('data/changed.txt'))).toBe('as it is now');
    expect(server.stats.bytes - before).toBeLessThan(1 << 16);
  });
});

describe('the verbs', () => {
  test('verify finds what is damaged, and mends it', async () => {
    const pakrat = await synced();
    const right = await pakrat.verify();
    expect(right).toMatchObject({ bad: [], repaired: 0 });
    const held = (await pakrat.status()).builds.map((build) => build.held);
    expect(right.checked.bytes).toBeGreaterThan(held[0]!.bytes);
    const [archive] = Object.keys(treeOf(scratch('store/tpr/sample/data'))).filter((name) => !name.endsWith('.index'));
    const file = scratch('store/tpr/sample/data', archive!);
    const bytes = readFileSync(file);
    bytes.set([bytes.at(200)! ^ 1], 200);
    writeFileSync(file, bytes);
    const work = recorder();
    const { bad, repaired } = await pakrat.verify('sample', { repair: true, onProgress: work.onProgress });
    expect([bad.length, repaired]).toEqual([1, 1]);
    expect(bad[0]).toMatchObject({ code: 'E_INTEGRITY', name: expect.stringContaining(archive!.slice(-32)) });
    work.expectCalm();
    expect(await pakrat.verify()).toMatchObject({ bad: [] });
    expect((await pakrat.status()).builds.map((build) => build.held)).toEqual(held);
  });

  test('extract writes files, and a key that is imported opens what was locked', async () => {
    const pakrat = await synced();
    const work = recorder();
    const locked = await pakrat.extract('sample', { to: scratch('out'), onProgress: work.onProgress });
    expect(locked.failed).toMatchObject([{ name: 'secret/story.txt', code: 'E_KEY_MISSING' }]);
    work.expectCalm();
    const names = Object.keys(contents).filter((name) => name !== 'data/only-old.txt');
    expect(locked.files).toBe(names.length - 1);
    writeFileSync(scratch('keys.txt'), encodeKeyList([key]));
    expect(await pakrat.keys.import([scratch('keys.txt')])).toEqual({ read: 1, added: 1, changed: 0 });
    expect(await pakrat.keys.list()).toMatchObject([{ name: key.name, key: 'ffee…' }]);
    expect(await pakrat.keys.list({ show: true })).toMatchObject([{ key: key.key }]);
    expect(await pakrat.extract('sample', { to: scratch('out') })).toMatchObject({ files: 1, failed: [] });
    const hashes = names.map((name) => [name, name === 'data/changed.txt' ? 'as it is now' : contents[name]!]);
    const truth = hashes.map(([name, bytes]) => [name, md5Hex(typeof bytes === 'string' ? text(bytes) : bytes!)]);
    expect(treeOf(scratch('out'))).toEqual(Object.fromEntries(truth));
    await expect(pakrat.extract('sample', {})).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  test('diff tells what changed between two builds, and what a sync would fetch', async () => {
    const pakrat = await synced();
    const work = recorder();
    const { removed, changed, summary, items } = await pakrat.diff(`sample@${oldName}`, `sample@${newName}`, {
      onProgress: work.onProgress,
    });
    work.expectCalm();
    expect(summary).toMatchObject({
      added: { files: 0 },
      removed: { files: 1 },
      changed: { files: 1 },
      missing: { entries: 0, bytes: 0 },
    });
    expect(summary.fetch!.entries).toBeGreaterThan(0);
    expect([...items()]).toHaveLength(2);
    expect([...removed]).toMatchObject([{ name: 'data/only-old.txt', size: 24 }]);
    expect([...changed]).toMatchObject([
      { name: 'data/changed.txt', before: { size: 9 }, after: { ckey: md5Hex(text('as it is now')) } },
    ]);
    const some = await pakrat.diff(`sample@${oldName}`, 'sample', { globs: ['data/only-*'] });
    expect(some.summary).toMatchObject({ removed: { files: 1 }, changed: { files: 0 } });
  });

  test('inspect describes an object of the store, a file, and bytes', async () => {
    const pakrat = await synced();
    const config = await pakrat.inspect(newBuild.buildConfig);
    expect(config).toMatchObject({ format: 'build config' });
    const hash = newBuild.cdnConfig;
    const path = scratch('cdn/tpr/sample/config', hash.slice(0, 2), hash.slice(2, 4), hash);
    expect(await pakrat.inspect(path)).toMatchObject({ format: 'CDN config' });
    const bytes = new Uint8Array(readFileSync(path));
    await using alone = await openPakrat();
    expect(await alone.inspect(bytes)).toMatchObject({ format: 'CDN config' });
    const nowhere = { code: 'E_NOT_FOUND', message: expect.stringContaining('there is no store') };
    await expect(alone.inspect('f'.repeat(32))).rejects.toMatchObject(nowhere);
    await expect(pakrat.inspect('f'.repeat(32))).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('keys and names are updated from lists on the web, once for each version', async () => {
    const lists: Record<string, Uint8Array> = { '/keys': encodeKeyList([key]), '/names': listfile };
    const web = await httpServer((request, response) => {
      const { url = '' } = request;
      const same = request.headers['if-none-match'] === '"1"';
      response.writeHead(same ? 304 : 200, { etag: '"1"' }).end(same ? undefined : lists[url]);
    });
    try {
      const pakrat = await session({ store: scratch('lists') });
      const keys = { url: `http://${web.host}/keys` };
      expect(await pakrat.keys.update(keys)).toMatchObject({ modified: true, read: 1, added: 1, conflicts: [] });
      expect(await pakrat.keys.update(keys)).toMatchObject({ modified: false, read: 1, added: 0 });
      const work = recorder();
      const names = { url: `http://${web.host}/names`, onProgress: work.onProgress };
      expect(await pakrat.listfile.update(names)).toMatchObject({ modified: true, bytes: listfile.length });
      expect(await pakrat.listfile.update(names)).toMatchObject({ modified: false, bytes: 0 });
      work.expectCalm();
      await using source = await pakrat.open('sample');
      expect(await source.find('data/words.txt')).toBeDefined();
    } finally {
      await web.close();
    }
  });
});

test('what was synced is read again without any network', async () => {
  await synced();
  const pakrat = await openPakrat({ store: scratch('store'), offline: true });
  opened.push(pakrat);
  const before = server.stats.requests;
  await using source = await pakrat.open('sample');
  expect(md5Hex(await source.bytes('data/noise.bin'))).toBe(md5Hex(contents['data/noise.bin']!));
  expect(await pakrat.verify('sample')).toMatchObject({ bad: [] });
  expect(await pakrat.plan('sample')).toMatchObject({ missing: nothing, fetched: { bytes: 0 } });
  expect((await pakrat.versions('sample')).seqn).toBe(45);
  await expect(pakrat.sync('sample')).rejects.toMatchObject({ code: 'E_USAGE' });
  await expect(pakrat.open('other')).rejects.toMatchObject({ code: 'E_OFFLINE' });
  expect(server.stats.requests).toBe(before);
});

describe('a PAK, without a store', () => {
  const path = (): string => scratch('games', 'a.pak');
  beforeAll(() => {
    mkdirSync(scratch('games'));
    const files = { 'maps/a.bsp': 'a map', 'b.txt': 'first' };
    writeFileSync(path(), quakePak(Object.entries(files).map(([name, content]) => ({ name, content }))));
  });

  test('is opened, read, checked, extracted and compared', async () => {
    await using pakrat = await openPakrat();
    await using source = await pakrat.open(path());
    expect(source.kind).toBe('pak');
    const names: string[] = [];
    for await (const { name } of source.list()) names.push(name);
    expect(names).toEqual(['maps/a.bsp', 'b.txt']);
    expect(await source.find('b.txt')).toMatchObject({ size: 5, facts: { method: 'none' } });
    expect(encodeText(await source.bytes('maps/a.bsp', { offset: 2 }))).toBe('map');
    expect(encodeText(await source.bytes('index:1', { offset: 1, size: 3 }))).toBe('irs');
    expect(await source.info()).toMatchObject({ family: 'quake' });
    expect(await pakrat.verify(path())).toMatchObject({ checked: { entries: 2 }, bad: [] });
    expect(await pakrat.extract(path(), { to: scratch('pak-out') })).toMatchObject({ files: 2, failed: [] });
    const { summary } = await pakrat.diff(path(), scratch('pak-out'));
    expect(summary).toMatchObject({ unchanged: { files: 2 }, changed: { files: 0 }, added: { files: 0 } });
  });

  test('is made of a folder', async () => {
    await using pakrat = await openPakrat();
    mkdirSync(scratch('pak-in/maps'), { recursive: true });
    writeFileSync(scratch('pak-in/maps/c.bsp'), 'another map');
    await pakrat.pack.quake(scratch('made.pak'), scratch('pak-in'));
    await using source = await pakrat.open(scratch('made.pak'));
    expect(encodeText(await source.bytes('maps/c.bsp'))).toBe('another map');
    await expect(pakrat.pack.quake(scratch('made.pak'), scratch('pak-in'))).rejects.toMatchObject({ code: 'E_USAGE' });
    await pakrat.pack.quake(scratch('made.pak'), scratch('pak-in'), { force: true });
  });

  test('what needs a store says so', async () => {
    await using pakrat = await openPakrat();
    for (const call of [
      () => pakrat.status(),
      () => pakrat.sync('sample'),
      () => pakrat.versions('sample'),
      () => pakrat.verify(),
      () => pakrat.open('sample'),
      () => pakrat.keys.list(),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'E_USAGE', hint: expect.stringContaining('store') });
    }
  });
});

describe('a signal', () => {
  test('that is aborted already ends everything with E_ABORTED', async () => {
    const pakrat = await synced();
    const signal = AbortSignal.abort();
    const aborted = { code: 'E_ABORTED' };
    await expect(pakrat.sync('sample', { signal })).rejects.toMatchObject(aborted);
    await expect(pakrat.verify(undefined, { signal })).rejects.toMatchObject(aborted);
    await expect(pakrat.extract('sample', { to: scratch('none'), signal })).rejects.toMatchObject(aborted);
    const diff = pakrat.diff(`sample@${oldName}`, `sample@${newName}`, { signal });
    await expect(diff).rejects.toMatchObject(aborted);
    await expect(pakrat.versions('sample', { signal })).rejects.toMatchObject(aborted);
    await using source = await pakrat.open('sample');
    await expect(source.bytes('data/words.txt', { signal })).rejects.toMatchObject(aborted);
    await expect(readAll(source.stream('data/words.txt', { signal }))).rejects.toMatchObject(aborted);
    for (const path of ['games/a.pak', 'cdn/tpr/sample']) {
      await expect(pakrat.verify(scratch(path), { signal })).rejects.toMatchObject(aborted);
    }
  });

  test('whose reason is an error of pakrat ends it with that', async () => {
    const pakrat = await synced();
    const reason = new PakratError('E_ABORTED', 'the window was closed');
    const signal = AbortSignal.abort(reason);
    await expect(pakrat.verify(undefined, { signal })).rejects.toBe(reason);
    await expect(pakrat.verify(scratch('games/a.pak'), { signal })).rejects.toBe(reason);
  });
});
