import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { publishedUpstream, pullServer } from '../serve/pull/upstream.ts';
import type { LyingServer } from '../support/lying-server.ts';
import { pullRounds, randomNumbers } from '../support/pull-rounds.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* A server that pulls through, and another command on the same store that is killed twice and then ends: clients get no wrong byte, and the store is right. */

jest.setTimeout(120_000);
const scratch = scratchFolder();
const sizes = Array.from({ length: 60 }, (_, i) => 8_000 + i * 700);
let upstream: LyingServer;

beforeAll(async () => {
  upstream = await publishedUpstream(scratch('cdn'), sizes);
});
afterAll(async () => {
  await upstream.close();
});

test.each([
  ['sync', (): string[] => ['sync', 'game', '--patch-url', upstream.base]],
  ['gc', (): string[] => ['gc']],
  ['verify', (): string[] => ['verify']],
  ['import', (): string[] => ['import', scratch('cdn')]],
])('beside %s, which is killed', async (name, args) => {
  const store = scratch(`beside-${name}`);
  const server = await pullServer(store, upstream);
  try {
    expect((await fetch(`${server.url}/game/versions`)).status).toBe(200);
    const clients = pullRounds(server.url, upstream, { clients: 6, seconds: 4, lies: 0.05, seed: 11, restMs: 10 });
    const random = randomNumbers(name.length);
    for (let kills = 0; kills < 2; kills++) {
      const victim = startPakrat([...args(), '--store', store]);
      await Promise.race([victim.ended, sleep(500 + random() * 900)]);
      victim.child.kill('SIGKILL');
      await victim.ended;
    }
    const { status, stderr } = await startPakrat([...args(), '--store', store]).ended;
    expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
    const outcome = await clients;
    expect(outcome.wrongBytes).toBe(0);
    expect(outcome.whole).toBeGreaterThan(0.8 * outcome.requests);
  } finally {
    await server.close();
  }
  await withPakrat({ store, offline: true }, async (pakrat) => expect((await pakrat.verify()).bad).toEqual([]));
});
