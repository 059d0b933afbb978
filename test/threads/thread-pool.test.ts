import { existsSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { batchesOf } from '../../src/threads/batches.ts';
import type { Ending } from '../../src/threads/ending.ts';
import { type PoolHooks, ThreadPool, threadUrl } from '../../src/threads/thread-pool.ts';
import { builtModule } from '../support/built-module.ts';

const url = new URL(builtModule('test/threads/adding-worker.ts'));
type Pool = ThreadPool<undefined, { add: number }, number, number[], number>;
const pools: Pool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.end();
});

function poolOf(threads: number): Pool {
  const pool: Pool = new ThreadPool({ url, setup: undefined, unpack: (sums) => sums }, threads);
  pools.push(pool);
  return pool;
}

async function sums(batches: AsyncIterator<number[]> | Iterator<number[]>, hooks: PoolHooks<number, number> = {}) {
  const found = new Map<number, number>();
  await poolOf(2).run({ add: 100 }, batches, { ...hooks, onResult: (task, sum) => found.set(task, sum) });
  return found;
}

test('each task of each batch has its own result', async () => {
  const batches = Array.from({ length: 50 }, (_, i) => [3 * i, 3 * i + 1, 3 * i + 2]);
  const found = await sums(batches.values());
  expect(found.size).toBe(150);
  for (const [task, sum] of found) expect(sum).toBe(task + 100);
});

test('what threads are told comes before the batches that follow', async () => {
  const pool = poolOf(1);
  const found: number[] = [];
  async function* batches() {
    yield [1];
    while (found.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    pool.tell(1000);
    yield [2];
  }
  await pool.run({ add: 0 }, batches(), { onResult: (_, sum) => found.push(sum) });
  expect(found).toEqual([1, 1002]);
});

test('a thread that cannot go on ends the job with its error, also while the next batch is planned', async () => {
  let isClosed = false;
  async function* batches(halted: Ending) {
    try {
      yield [1];
      yield [-1];
      await halted.before(() => new Promise(() => {}));
    } finally {
      isClosed = true;
    }
  }
  const pool = poolOf(2);
  const run = pool.run({ add: 0 }, batches(pool.halted), {});
  await expect(run).rejects.toMatchObject({ code: 'E_STORE_FULL', message: 'no room', hint: 'Make some.' });
  expect(isClosed).toBe(true);
});

test('an error of the system in a thread is that one, and no bug', async () => {
  await expect(sums([[-2]].values())).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open', path: '/no such file' });
});

test('an error of whoever plans ends the job', async () => {
  async function* batches() {
    yield [1];
    throw new Error('no plan');
  }
  await expect(sums(batches())).rejects.toThrow('no plan');
});

test.each(['before', 'meanwhile'])('an interruption ends it: %s', async (when) => {
  const controller = new AbortController();
  if (when === 'before') controller.abort();
  async function* batches() {
    for (let i = 0; ; i++) {
      if (i === 20) controller.abort();
      yield [i];
    }
  }
  await expect(sums(batches(), { signal: controller.signal })).rejects.toMatchObject({ code: 'E_ABORTED' });
});

test('batches that are asked for have their own results, and what threads are told comes before', async () => {
  const pool = poolOf(2);
  pool.begin({ add: 100 });
  expect(pool.room).toBe(4);
  const asked = Array.from({ length: 20 }, (_, i) => pool.ask([i, 1000 + i]));
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 20 }, (_, i) => [100 + i, 1100 + i]));
  pool.tell(5);
  expect(await Promise.all([pool.ask([1]), pool.ask([2])])).toEqual([[106], [107]]);
});

test('a thread that cannot go on answers nobody who asks for batches any more', async () => {
  const pool = poolOf(1);
  pool.begin({ add: 1 });
  const [right, wrong, behind] = [pool.ask([1]), pool.ask([-1]), pool.ask([2])];
  await expect(right).resolves.toEqual([2]);
  for (const asked of [wrong, behind, pool.ask([3])])
    await expect(asked).rejects.toMatchObject({ code: 'E_STORE_FULL', hint: 'Make some.' });
});

test('a program that is not there is undefined, whatever the address', () => {
  expect(threadUrl('module', url)).toBeUndefined();
  expect(threadUrl('anything', 'https://example.invalid/x.js')).toBeUndefined();
  // What becomes of import.meta.url in a bundle of CommonJS.
  expect(threadUrl('thread-pool', undefined)).toBeUndefined();
  expect(existsSync(url)).toBe(true);
});

test('batches: the large first, each alone, then the others in their order up to the limits', () => {
  const tasks = [1, 50, 2, 3, 90, 4, 5].map((size) => ({ size }));
  const batches = [...batchesOf(tasks, { bytes: 10, tasks: 3 })].map((batch) => batch.map(({ size }) => size));
  expect(batches).toEqual([[90], [50], [1, 2, 3], [4, 5]]);
});
