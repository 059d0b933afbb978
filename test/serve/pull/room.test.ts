import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { LyingServer } from '../../support/lying-server.ts';
import { pullRounds } from '../../support/pull-rounds.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';
import { publishedUpstream, publishMore, pullServer } from './upstream.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const sizes = Array.from({ length: 200 }, (_, i) => 10_000 + i * 150);
const mebibyte = 1024 * 1024;
let upstream: LyingServer;

beforeAll(async () => {
  upstream = await publishedUpstream(scratch('cdn'), [30_000, 20_000]);
});
afterAll(async () => {
  await upstream.close();
});

test('a cache stays within its size, forgets nothing of what was synced, and has no wrong byte', async () => {
  const store = scratch('store');
  await withPakrat({ store, patchUrl: upstream.base }, (pakrat) => pakrat.sync('game'));
  await publishMore(upstream, scratch('cdn'), { sizes, buildId: 2, seed: 1000 });
  const server = await pullServer(store, upstream, { maxBytes: 2 * mebibyte });
  try {
    expect((await fetch(`${server.url}/game/versions`)).status).toBe(200);
    const { ledger } = await server.session.store({ create: false });
    let most = 0;
    const looking = setInterval(() => {
      most = Math.max(most, ledger.served.blockBytes());
    }, 20);
    const outcome = await pullRounds(server.url, upstream, { clients: 8, seconds: 4, lies: 0, seed: 5 });
    clearInterval(looking);
    expect(outcome.wrongBytes).toBe(0);
    expect(outcome.whole).toBeGreaterThan(0.9 * outcome.requests);
    // More was asked for than there is room.
    expect(outcome.touched).toBeGreaterThan(2.5 * mebibyte);
    expect(most).toBeLessThanOrEqual(1.02 * 2 * mebibyte);
    expect(most).toBeGreaterThan(1.5 * mebibyte);
  } finally {
    await server.close();
  }
  expect(diskBytes(store)).toBeLessThan(1.02 * 2 * mebibyte + diskBytesOfTables(store));
  expect(await missingOf(store, 'game@1.0.1')).toBe(0);
});

test('where all is synced there is no room for more: what is held is served, the rest is not there', async () => {
  const store = scratch('full');
  await withPakrat({ store, patchUrl: upstream.base }, (pakrat) => pakrat.sync('game'));
  const notes: string[] = [];
  const onProgress = (event: { type: string; text?: string }) =>
    void (event.type === 'note' && notes.push(event.text!));
  const server = await pullServer(store, upstream, { maxBytes: 60_000, onProgress });
  try {
    expect((await fetch(`${server.url}/game/versions`)).status).toBe(200);
    const outcome = await pullRounds(server.url, upstream, { clients: 2, seconds: 1, lies: 0, seed: 5 });
    expect(outcome.wrongBytes).toBe(0);
    expect(outcome.whole).toBeLessThan(outcome.requests);
    expect(notes.filter((text) => text.includes('--max-size'))).toHaveLength(1);
  } finally {
    await server.close();
  }
  expect(await missingOf(store, 'game')).toBe(0);
});

const missingOf = (store: string, build: string): Promise<number> =>
  withPakrat({ store, offline: true }, async (pakrat) => (await pakrat.sync(build, { dryRun: true })).missing.entries);
/** Bytes on disk of the files below some paths. Folders are left out: fifty of them are nothing beside gigabytes, and much beside two megabytes. */
const diskBytes = (...paths: string[]): number =>
  spawnSync('find', [...paths, '-type', 'f', '-printf', '%b\\n'], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n')
    .reduce((bytes, blocks) => bytes + Number(blocks) * 512, 0);
/** The ledger and its like, which are small beside gigabytes, too. */
const diskBytesOfTables = (store: string): number =>
  diskBytes(
    ...['ledger.db', 'claims.db', 'reserve', 'groups', 'manifests', 'names', 'marks', 'wants'].map(
      (name) => `${store}/${name}`,
    ),
  );
