import { createCipheriv, createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { publishBuild } from '../../src/publish/publish-build.ts';
import { killCache } from '../support/killed-cache.ts';
import { lyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/*
 * PAKRAT_CACHE_BYTES is the size of the cache; the build has ten times as much, all of which this process keeps in memory. PAKRAT_CACHE_RUNS counts the
 * kills, one after each PAKRAT_CACHE_SECONDS.
 */
const limit = Number(process.env.PAKRAT_CACHE_BYTES ?? 100e6);
const runs = Number(process.env.PAKRAT_CACHE_RUNS ?? 8);
const seconds = Number(process.env.PAKRAT_CACHE_SECONDS ?? 15);
const files = 2000;
jest.setTimeout(runs * (seconds + 60) * 1000 + (limit / 1e6) * 3_000 + 300_000);
const scratch = scratchFolder();

/** Bytes that do not compress. */
function noise(seed: number, size: number): Buffer {
  const key = createHash('md5').update(String(seed)).digest();
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

test('a cache a tenth of the size of a build, killed again and again, stays within its size and forgets nothing that was synced', async () => {
  const out = scratch('cdn');
  const upstream = await lyingServer();
  const place = { product: 'game', out, hosts: [upstream.host], regions: ['us'], version: '1.0.1', buildId: 1 };
  const mean = (limit * 10) / files;
  const sizeOf = (i: number): number => Math.round(mean * (0.2 + (1.6 * ((i * 7919) % files)) / files));
  const all = Array.from({ length: files }, (_, i) => ({
    name: `${i % 50 === 0 ? 'kept' : 'other'}/file${i}.bin`,
    fileDataId: i + 1,
    read: () => noise(i, sizeOf(i)),
  }));
  await publishBuild({ ...place, files: all });
  for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' }))
    if (statSync(join(out, name)).isFile()) upstream.objects.set(name, new Uint8Array(readFileSync(join(out, name))));
  const store = scratch('store');
  const network = { store, patchUrl: upstream.base };
  await withPakrat(network, (pakrat) => pakrat.sync('game', { include: ['kept/*'] }));
  const outcome = await killCache(store, upstream, {
    limit,
    clients: 40,
    killAfterMs: Array.from({ length: runs }, (_, run) => 1000 * seconds + 137 * run),
  });
  console.log(JSON.stringify({ ...outcome, limit, share: outcome.mostBytes / limit }));
  expect(outcome.wrongBytes).toBe(0);
  expect(outcome.touched).toBeGreaterThan(limit);
  expect(outcome.mostBytes).toBeLessThanOrEqual(1.02 * limit);
  await upstream.close();
  await withPakrat({ store, offline: true }, async (pakrat) => {
    expect((await pakrat.verify()).bad).toEqual([]);
    const { missing } = await pakrat.sync('game', { include: ['kept/*'], dryRun: true });
    expect(missing.entries).toBe(0);
  });
});
