import { expect, test } from '@jest/globals';
import { BodyBudget } from '../../../src/cdn/transport/body-budget.ts';

/** Work that ends when it is told to. */
function work(budget: BodyBudget, bytes: number, signal?: AbortSignal) {
  let end = (): void => {};
  const state = { runs: false, end: () => end(), ended: Promise.resolve() };
  state.ended = budget.within(bytes, signal, async () => {
    state.runs = true;
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  return state;
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('bodies that have room run side by side, others in their order when room is given back', async () => {
  const budget = new BodyBudget(100);
  const [a, b, c, d] = [work(budget, 60), work(budget, 40), work(budget, 50), work(budget, 1)];
  await turn();
  expect([a.runs, b.runs, c.runs, d.runs]).toEqual([true, true, false, false]);
  b.end();
  await b.ended;
  await turn();
  // One that needs little does not go before one that waits longer.
  expect([c.runs, d.runs]).toEqual([false, false]);
  a.end();
  await a.ended;
  await turn();
  expect([c.runs, d.runs]).toEqual([true, true]);
});

test('one that takes more than all there is runs alone', async () => {
  const budget = new BodyBudget(100);
  const [a, b] = [work(budget, 1000), work(budget, 1)];
  await turn();
  expect([a.runs, b.runs]).toEqual([true, false]);
});

test('one that is interrupted while it waits gives its place up', async () => {
  const budget = new BodyBudget(100);
  const controller = new AbortController();
  const [, b, c] = [work(budget, 50), work(budget, 100, controller.signal), work(budget, 50)];
  controller.abort();
  await expect(b.ended).rejects.toMatchObject({ code: 'E_ABORTED' });
  await turn();
  expect([b.runs, c.runs]).toEqual([false, true]);
});
