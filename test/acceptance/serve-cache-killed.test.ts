import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { publishedUpstream } from '../serve/pull/upstream.ts';
import { pullRounds } from '../support/pull-rounds.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

jest.setTimeout(120_000);
const scratch = scratchFolder();
const limit = 2 * 1024 * 1024;

test('a cache that is killed again and again stays within its size, and its store is right', async () => {
  const sizes = Array.from({ length: 250 }, (_, i) => 8_000 + i * 120);
  const upstream = await publishedUpstream(scratch('cdn'), sizes);
  const store = scratch('store');
  const args = ['serve', '--pull-through', '--max-size', String(limit), '--store', store, '--port', '0', '--json'];
  try {
    let touched = 0;
    for (let run = 0; run < 4; run++) {
      const server = startPakrat([...args, '--patch-url', upstream.base]);
      const [line] = (await once(server.child.stdout!, 'data')) as [Buffer];
      const { url } = JSON.parse(String(line).split('\n')[0]!) as { url: string };
      expect((await fetch(`${url}/game/versions`)).status).toBe(200);
      const clients = pullRounds(url, upstream, { clients: 8, seconds: 2, lies: 0, seed: run });
      await sleep(1_200 + run * 300);
      server.child.kill('SIGKILL');
      await server.ended;
      const outcome = await clients;
      expect(outcome.wrongBytes).toBe(0);
      touched += outcome.touched;
      expect(diskBytes(store)).toBeLessThanOrEqual(1.02 * limit);
    }
    expect(touched).toBeGreaterThan(limit);
  } finally {
    await upstream.close();
  }
  await withPakrat({ store, offline: true }, async (pakrat) => expect((await pakrat.verify()).bad).toEqual([]));
});

/** What the objects of a store take on disk, whatever the ledger says. */
function diskBytes(store: string): number {
  const { stdout } = spawnSync('du', ['-skc', `${store}/partial`, `${store}/tpr`], { encoding: 'utf8' });
  return 1024 * Number(/^(\d+)\ttotal$/m.exec(stdout)?.[1]);
}
