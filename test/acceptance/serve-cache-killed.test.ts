import { expect, jest, test } from '@jest/globals';
import { publishedUpstream } from '../serve/pull/upstream.ts';
import { killCache } from '../support/killed-cache.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

jest.setTimeout(120_000);
const scratch = scratchFolder();
const limit = 2 * 1024 * 1024;

test('a cache that is killed again and again stays within its size, and its store is right', async () => {
  const sizes = Array.from({ length: 250 }, (_, i) => 8_000 + i * 120);
  const upstream = await publishedUpstream(scratch('cdn'), sizes);
  const store = scratch('store');
  try {
    const killAfterMs = [1_200, 1_500, 1_800, 2_100];
    const { wrongBytes, touched, mostBytes } = await killCache(store, upstream, { limit, clients: 8, killAfterMs });
    expect(wrongBytes).toBe(0);
    expect(touched).toBeGreaterThan(limit);
    expect(mostBytes).toBeLessThanOrEqual(1.02 * limit);
  } finally {
    await upstream.close();
  }
  await withPakrat({ store, offline: true }, async (pakrat) => expect((await pakrat.verify()).bad).toEqual([]));
});
