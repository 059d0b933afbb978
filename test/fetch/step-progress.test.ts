import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Progress } from '../../src/core/progress.ts';
import type { Network } from '../../src/fetch/network.ts';
import { StepProgress } from '../../src/fetch/step-progress.ts';

test('the bytes of a step are told as they come, until it is over', async () => {
  const events: Progress[] = [];
  const traffic = { bytes: 500, requests: 3, asked: 0 };
  const { onStep } = new StepProgress({ traffic } as unknown as Network, (event) => events.push(event));
  onStep('encoding');
  traffic.bytes += 30;
  while (events.length < 3) await sleep(10);
  onStep('root');
  onStep(undefined);
  const told = events.length;
  traffic.bytes += 30;
  await sleep(250);
  expect(events).toHaveLength(told);
  expect(events.map((event) => (event.type === 'step' ? [event.step, event.bytes] : event.type))).toEqual([
    ['encoding', 0],
    ...Array.from({ length: told - 2 }, () => ['encoding', 30]),
    ['root', 0],
  ]);
});
