import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LyingServer } from './lying-server.ts';
import { pullRounds } from './pull-rounds.ts';
import { startPakrat } from './run-pakrat.ts';

/** What came of a cache that was killed. */
export interface KilledCache {
  wrongBytes: number;
  requests: number;
  /** Bytes of the entries that clients touched; those of each run count anew. */
  touched: number;
  /** What the objects of the store took on disk after a kill, at most. */
  mostBytes: number;
}

/** Runs `serve --pull-through --max-size` again and again while clients ask at random, and kills it after so many milliseconds. */
export async function killCache(
  store: string,
  upstream: LyingServer,
  { limit, clients, killAfterMs }: { limit: number; clients: number; killAfterMs: readonly number[] },
): Promise<KilledCache> {
  const args = ['serve', '--pull-through', '--max-size', String(limit), '--store', store, '--port', '0', '--json'];
  const all: KilledCache = { wrongBytes: 0, requests: 0, touched: 0, mostBytes: 0 };
  for (const [seed, ms] of killAfterMs.entries()) {
    const server = startPakrat([...args, '--patch-url', upstream.base]);
    const [line] = (await once(server.child.stdout!, 'data')) as [Buffer];
    const { url } = JSON.parse(String(line).split('\n')[0]!) as { url: string };
    const versions = await fetch(`${url}/game/versions`);
    if (versions.status !== 200) throw new Error(`versions: ${versions.status}`);
    const seconds = ms / 1000 + 0.5;
    const asking = pullRounds(url, upstream, { clients, seconds, lies: 0, seed });
    await sleep(ms);
    server.child.kill('SIGKILL');
    await server.ended;
    const { wrongBytes, requests, touched } = await asking;
    all.wrongBytes += wrongBytes;
    all.requests += requests;
    all.touched += touched;
    all.mostBytes = Math.max(all.mostBytes, diskBytes(store));
  }
  return all;
}

/** What the objects of a store take on disk, whatever the ledger says. */
function diskBytes(store: string): number {
  const { stdout } = spawnSync('du', ['-skc', `${store}/partial`, `${store}/tpr`], { encoding: 'utf8' });
  return 1024 * Number(/^(\d+)\ttotal$/m.exec(stdout)?.[1]);
}
