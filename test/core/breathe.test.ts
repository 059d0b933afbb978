import { expect, test } from '@jest/globals';
import { breathe } from '../../src/core/breathe.ts';

/** Work that waits for nothing, with the turns of the event loop meanwhile. */
async function busy(ms: number, workers: number): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const end = performance.now() + ms;
  const work = async (): Promise<void> => {
    while (performance.now() < end) {
      const until = performance.now() + 2;
      while (performance.now() < until);
      await breathe();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  clearInterval(timer);
  return turns;
}

test.each([1, 40])('the event loop turns while %i loops are at work, a few times only', async (workers) => {
  const turns = await busy(600, workers);
  expect(turns).toBeGreaterThan(3);
  expect(turns).toBeLessThan(30);
});

test('an interruption is heard in it', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 20);
  const work = async (): Promise<void> => {
    for (;;) await breathe(stop.signal);
  };
  await expect(work()).rejects.toMatchObject({ code: 'E_ABORTED' });
});
