import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { WatchEvent } from '../../src/app/watch.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { familyFiles, publishFamily } from '../support/family.ts';
import { freePort } from '../support/loopback.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// A whole process; the machine may be busy.
jest.setTimeout(60_000);
const scratch = scratchFolder();
const stop = new AbortController();
let server: StaticServer | undefined;
let port: number;
let url: string;

beforeAll(async () => {
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await publishFamily(0, { out: scratch('cdn'), port });
  server = await serveFolder(scratch('cdn'), { port });
});
afterAll(async () => {
  stop.abort();
  await server?.close();
});

test('each new build is brought, the older go, a network that is away is told once, and Ctrl-C ends it', async () => {
  const store = scratch('store');
  const events: WatchEvent[] = [];
  await withPakrat({ store, patchUrl: url, settings: { network: { versionServiceMs: 3000 } } }, async (pakrat) => {
    const heard = async (isIt: (event: WatchEvent) => boolean): Promise<void> => {
      for (let i = 0; i < 2000 && !events.some(isIt); i++) await sleep(20);
      expect(events.some(isIt)).toBe(true);
    };
    const synced = (name: string) => (event: WatchEvent) => event.event === 'synced' && event.build.name === name;
    const watching = pakrat.watch(['game'], { everyMs: 50, keep: 1, signal: stop.signal }, (event) => {
      events.push(event);
    });
    await heard(synced('1.0'));
    // A build to come is told, and then gone: what was said of it stays.
    const preload = 'Region!STRING:0|BuildConfig!HEX:16\n## seqn = 7\nus|00112233445566778899aabbccddeeff\n';
    writeFileSync(join(scratch('cdn'), 'game/bgdl'), preload);
    const isKept = () => readFileSync(join(store, 'history.jsonl'), 'utf8').includes('"endpoint":"bgdl"');
    await heard(isKept);
    rmSync(join(scratch('cdn'), 'game/bgdl'));
    await publishFamily(1, { out: scratch('cdn'), port });
    await heard(synced('1.1'));
    await heard(({ event }) => event === 'forgot');
    await server?.close();
    await heard(({ event }) => event === 'trouble');
    await sleep(400);
    expect(events.filter(({ event }) => event === 'trouble')).toMatchObject([{ product: 'game' }]);
    await publishFamily(2, { out: scratch('cdn'), port });
    server = await serveFolder(scratch('cdn'), { port });
    await heard(({ event }) => event === 'recovered');
    await heard(synced('1.2'));
    const forgot = () => events.filter(({ event }) => event === 'forgot');
    await heard(() => forgot().length === 2);
    stop.abort();
    await expect(watching).rejects.toMatchObject({ code: 'E_ABORTED' });
    expect(forgot()).toMatchObject([{ builds: [{ name: '1.0' }] }, { builds: [{ name: '1.1' }] }]);
    expect(events.filter(({ event }) => event === 'synced')).toHaveLength(3);
    expect((await pakrat.status()).builds.map(({ name }) => name)).toEqual(['1.2']);
  });
  await withPakrat({ store, offline: true }, async (pakrat) => {
    await using build = await pakrat.open('game');
    for (const { name, bytes } of familyFiles(2)) expect(bytes.equals(await build.bytes(name))).toBe(true);
    expect(await pakrat.verify()).toMatchObject({ bad: [] });
  });
});

test('the program prints a line of JSON an event, gives each to the hook, and ends with 0 on SIGTERM', async () => {
  const seen = scratch('seen.txt');
  writeFileSync(seen, '');
  const { child, ended } = startPakrat(
    ['watch', 'game', '--store', scratch('other'), '--patch-url', url, '--json', '--quiet', '--hook', 'cat >> "$SEEN"'],
    { env: { SEEN: seen } },
  );
  const lines = (): string[] => readFileSync(seen, 'utf8').split('\n').filter(Boolean);
  for (let i = 0; i < 1000 && lines().length < 3 && child.exitCode === null; i++) await sleep(50);
  const before = performance.now();
  child.kill('SIGTERM');
  const { status, stdout, stderr } = await ended;
  expect([status, stderr]).toEqual([0, '']);
  expect(performance.now() - before).toBeLessThan(10_000);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as WatchEvent);
  expect(events.map(({ event }) => event)).toEqual(['watching', 'found', 'synced']);
  expect(lines().map((line) => JSON.parse(line) as WatchEvent)).toEqual(events);
});

test('one look: what is wrong is told and is the exit code', async () => {
  const once = ['watch', 'nothing', '--once', '--store', scratch('third'), '--patch-url', url, '--quiet'];
  const { status, stdout, stderr } = await startPakrat(once).ended;
  expect([status, stdout.split('\n').length]).toEqual([4, 3]);
  expect(stderr).toContain('E_NOT_FOUND');
});
