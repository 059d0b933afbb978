import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { notesTo } from '../../../src/core/progress.ts';
import { decodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import type { Server } from '../../../src/serve/server.ts';
import type { LyingServer } from '../../support/lying-server.ts';
import { pullRounds } from '../../support/pull-rounds.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../../support/tmpfs.ts';
import { withPakrat } from '../../support/with-pakrat.ts';
import { archivesOf, noise, publishedUpstream, pullServer } from './upstream.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const sizes = [300_000, 5_000, 70_000, 1_200_000, 40_000, 9_000];
let upstream: LyingServer;
let server: Server;
let count = 0;

beforeAll(async () => {
  upstream = await publishedUpstream(scratch('cdn'), sizes);
});
beforeEach(async () => {
  await server?.close();
  count += 1;
  server = await pullServer(scratch(`store${count}`), upstream);
  upstream.lie = () => undefined;
  upstream.asked.length = 0;
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}/${path}`, { headers });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
const dataAsked = () => upstream.asked.filter(({ range }) => range !== undefined);
const learn = async () => expect((await get('game/versions')).status).toBe(200);

test('a second store syncs all of a build from an empty one, and the CDN gives each byte once', async () => {
  await withPakrat({ store: scratch(`second${count}`), patchUrl: server.url, cdnHost: server.url }, async (pakrat) => {
    const report = await pakrat.sync('game', { all: true });
    expect(report.missing.entries).toBe(0);
    await pakrat.extract('game', { to: scratch('out') });
    for (const [i, size] of sizes.entries())
      expect(readFileSync(join(scratch('out'), `file${i}.bin`)).equals(noise(i + 1, size))).toBe(true);
  });
  for (const path of new Set(upstream.asked.map((asked) => asked.path))) {
    const asked = upstream.asked.filter((one) => one.path === path);
    const whole = upstream.objects.get(path)?.length ?? 0;
    const bytes = asked.reduce((sum, { range }) => sum + (range === undefined ? whole : range.end - range.start), 0);
    expect([path, bytes]).toEqual([path, Math.min(bytes, whole)]);
  }
});

test('a hundred clients that ask for one object cause one fetch, and what is held needs no CDN', async () => {
  await learn();
  const [archive] = archivesOf(upstream);
  const whole = upstream.objects.get(archive!)!;
  const all = await Promise.all(Array.from({ length: 100 }, async () => bytesOf(await get(archive!))));
  for (const bytes of all) expect(bytes.equals(whole)).toBe(true);
  const asked = dataAsked().reduce((sum, { range }) => sum + range!.end - range!.start, 0);
  expect(asked).toBe(whole.length);
  expect(upstream.asked.filter(({ path }) => path === `${archive}.index`)).toHaveLength(1);
  upstream.asked.length = 0;
  expect((await bytesOf(await get(archive!, { range: 'bytes=1000-2000' }))).equals(whole.subarray(1000, 2001))).toBe(
    true,
  );
  expect(upstream.asked).toEqual([]);
});

test('a range brings the entries that it touches, whole, and no others', async () => {
  await learn();
  const { archive, entries } = largest();
  const entry = entries[entries.length >> 1]!;
  const range = { start: entry.offset + 5, end: entry.offset + entry.size - 5 };
  const answer = await get(archive, { range: `bytes=${range.start}-${range.end - 1}` });
  expect(answer.status).toBe(206);
  expect((await bytesOf(answer)).equals(upstream.objects.get(archive)!.subarray(range.start, range.end))).toBe(true);
  expect(dataAsked().map((asked) => asked.range)).toEqual([{ start: entry.offset, end: entry.offset + entry.size }]);
});

test('what no build names is not there, and nobody is asked for it', async () => {
  await learn();
  upstream.asked.length = 0;
  const [archive] = archivesOf(upstream);
  const known = upstream.asked.length;
  const other = archive!.replace(/..\/..\/[0-9a-f]{32}$/, 'ab/cd/abcd0123456789abcdef0123456789ab');
  for (const path of [other, `${other}.index`, other.replace('/data/', '/config/'), `x${archive}`, 'game/bgdl'])
    expect((await get(path)).status).toBe(404);
  expect((await get('no-such%20product/versions')).status).toBe(404);
  expect((await get('Strange..Name/versions')).status).toBe(404);
  const foreign = upstream.asked.slice(known).filter(({ path }) => !/config|configs|index$/.test(path));
  expect(foreign).toEqual([]);
});

test('an entry that the CDN has wrong is 404; behind the head of an answer the connection ends, without a wrong byte', async () => {
  await learn();
  const { archive, entries } = largest();
  const whole = upstream.objects.get(archive)!;
  const last = entries.at(-1)!;
  upstream.lie = ({ path }) => (path === archive ? { kind: 'flip', offset: last.offset + last.size - 3 } : undefined);
  expect((await get(archive, { range: `bytes=${last.offset + last.size - 9}-` })).status).toBe(404);
  const answer = await get(archive);
  expect(answer.status).toBe(200);
  const received: Buffer[] = [];
  await expect(
    (async () => {
      for await (const piece of answer.body!) received.push(Buffer.from(piece));
    })(),
  ).rejects.toThrow();
  const bytes = Buffer.concat(received);
  expect(bytes.length).toBeGreaterThan(last.offset - 1);
  expect(bytes.equals(whole.subarray(0, bytes.length))).toBe(true);
  upstream.lie = () => undefined;
});

test('what no host has is 404, a CDN that fails is 502, also for what lists and names it', async () => {
  await learn();
  const { archive } = largest();
  const status = async (path: string): Promise<number> => (await get(path, { range: 'bytes=0-9' })).status;
  upstream.lie = ({ path }) => (path === archive ? { kind: 'status', status: 500 } : undefined);
  expect(await status(archive)).toBe(502);
  const [, other] = [archive, ...archivesOf(upstream).filter((path) => path !== archive)];
  upstream.lie = ({ path }) => (path === other ? { kind: 'status', status: 404 } : undefined);
  expect(await status(other!)).toBe(404);
  // Nothing of the build is held here: its configs would tell what it names.
  const configs = await pullServer(scratch(`no-configs${count}`), upstream);
  expect((await fetch(`${configs.url}/game/versions`)).status).toBe(200);
  upstream.lie = ({ path }) => (path.includes('/config/') ? { kind: 'status', status: 500 } : undefined);
  expect((await fetch(`${configs.url}/${archive}`)).status).toBe(502);
  await configs.close();
});

test.each<[string, (file: string) => void]>([
  ['gone', (file) => rmSync(file)],
  ['cut', (file) => truncateSync(file, 5)],
  ['empty', (file) => truncateSync(file, 0)],
  [
    'a folder',
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  ],
])('an object whose file is %s is brought again while the server runs', async (_, spoil) => {
  await learn();
  const { archive } = largest();
  const config = [...upstream.objects.keys()].find((path) => path.includes('/game/config/'))!;
  const loose = [...upstream.objects.keys()].find(
    (path) => /\/data\/..\/..\/\w{32}$/.test(path) && !archivesOf(upstream).includes(path),
  )!;
  for (const path of [archive, loose, `${archive}.index`, config]) {
    const whole = upstream.objects.get(path)!;
    expect([path, (await bytesOf(await get(path))).equals(whole)]).toEqual([path, true]);
    spoil(scratch(`store${count}`, path));
    upstream.asked.length = 0;
    expect([path, (await bytesOf(await get(path))).equals(whole)]).toEqual([path, true]);
    expect((await bytesOf(await get(path, { range: 'bytes=3-20' }))).equals(whole.subarray(3, 21))).toBe(true);
    expect(upstream.asked.length).toBeGreaterThan(0);
  }
});

describeTmpfs('trouble that passes', () => {
  test('is 502 of version services and 503 of a full disk; when it is over, all is answered', async () => {
    await withTmpfs('4k', async (folder, resize) => {
      const notes: string[] = [];
      mkdirSync(scratch('full'));
      symlinkSync(folder, scratch('full', 'partial'));
      const full = await pullServer(scratch('full'), upstream, { onProgress: notesTo(notes) });
      const late = await pullServer(scratch('late'), upstream);
      try {
        expect((await fetch(`${full.url}/game/versions`)).status).toBe(200);
        const { archive } = largest();
        expect((await fetch(`${full.url}/${archive}`)).status).toBe(503);
        expect(notes.join()).toMatch(`GET /${archive}: the disk is full`);
        upstream.lie = () => ({ kind: 'status', status: 500 });
        expect((await fetch(`${late.url}/game/versions`)).status).toBe(502);
        upstream.lie = () => undefined;
        resize('16m');
        await sleep(10_100);
        expect((await fetch(`${late.url}/game/versions`)).status).toBe(200);
        const whole = upstream.objects.get(archive)!;
        expect((await bytesOf(await fetch(`${full.url}/${archive}`))).equals(whole)).toBe(true);
      } finally {
        await full.close();
        await late.close();
      }
    });
  });
});

test('a large entry is answered chunk by chunk, while the rest of it arrives', async () => {
  await learn();
  const { archive, entries } = largest();
  const big = entries.reduce((a, b) => (a.size > b.size ? a : b));
  await get(archive, { range: 'bytes=0-0' });
  upstream.lie = ({ path, range }) =>
    path === archive && range !== undefined && range.end - range.start >= big.size
      ? { kind: 'drip', bytes: 100_000, everyMs: 100 }
      : undefined;
  const answer = await get(archive, { range: `bytes=${big.offset}-${big.offset + big.size - 1}` });
  const sentBefore = upstream.sentBytes;
  const reader = answer.body!.getReader();
  expect((await reader.read()).value!.length).toBeGreaterThan(0);
  // The CDN was not done when the first bytes came.
  while (!(await reader.read()).done);
  expect(upstream.sentBytes).toBeGreaterThan(sentBefore);
});

test('figures tell what came from the CDN, and which answers waited for it', async () => {
  const figure = async (name: string): Promise<number> => {
    const text = await bytesOf(await get('metrics'));
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text.toString())?.[1]);
  };
  await learn();
  const { archive, entries } = largest();
  const { offset, size } = entries[1]!;
  const range = { range: `bytes=${offset}-${offset + size - 1}` };
  for (const misses of [1, 1]) {
    await bytesOf(await get(archive, range));
    expect(await figure('pakrat_misses_total')).toBe(misses);
  }
  const asked = upstream.asked.filter(({ path }) => !/^game\//.test(path));
  const bytes = asked.reduce(
    (sum, one) => sum + (one.range ? one.range.end - one.range.start : upstream.objects.get(one.path)!.length),
    0,
  );
  expect(await figure('pakrat_upstream_bytes_total')).toBe(bytes);
  expect(await figure('pakrat_upstream_requests_total')).toBe(asked.length);
});

function largest(): { archive: string; entries: { offset: number; size: number }[] } {
  const archive = archivesOf(upstream).sort(
    (a, b) => upstream.objects.get(b)!.length - upstream.objects.get(a)!.length,
  )[0]!;
  const index = decodeArchiveIndex(upstream.objects.get(`${archive}.index`)!);
  return { archive, entries: [...index].sort((a, b) => a.offset - b.offset) };
}

test('many clients with random ranges over a slow, failing, lying CDN get no wrong byte, and each entry comes right about once', async () => {
  await learn();
  const outcome = await pullRounds(server.url, upstream, { clients: 40, seconds: 2, lies: 0.2, seed: 7 });
  expect(outcome.wrongBytes).toBe(0);
  expect(outcome.whole).toBeGreaterThan(0);
  expect(outcome.cameRight).toBeLessThanOrEqual(1.02 * outcome.touched);
});
