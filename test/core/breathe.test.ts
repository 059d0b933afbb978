import { expect, test } from '@jest/globals';
import { breathe, pause } from '../../src/core/breathe.ts';

/** Work that waits for nothing, for a moment, and longer where the machine is busy: how long it took, and the turns of the event loop meanwhile. */
async function busy(workers: number): Promise<{ turns: number; ms: number }> {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const begun = performance.now();
  const passed = (): number => performance.now() - begun;
  const work = async (): Promise<void> => {
    while (passed() < 300 || (turns < 4 && passed() < 30_000)) {
      const until = performance.now() + 2;
      while (performance.now() < until);
      await breathe();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  clearInterval(timer);
  return { turns, ms: passed() };
}

test.each([1, 40])('the event loop turns while %i loops are at work, a few times only', async (workers) => {
  const { turns, ms } = await busy(workers);
  expect(turns).toBeGreaterThan(3);
  expect(turns).toBeLessThan(ms / 20);
});

test('an interruption is heard in it', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 20);
  const work = async (): Promise<void> => {
    for (;;) await breathe(stop.signal);
  };
  await expect(work()).rejects.toMatchObject({ code: 'E_ABORTED' });
});

test('a pause lasts, and ends with its signal', async () => {
  const begun = performance.now();
  await pause(20, undefined);
  expect(performance.now() - begun).toBeGreaterThan(15);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 20);
  await expect(pause(60_000, stop.signal)).rejects.toMatchObject({ code: 'E_ABORTED' });
});
