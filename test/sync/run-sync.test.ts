import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Progress } from '../../src/core/progress.ts';
import type { Network } from '../../src/fetch/network.ts';
import type { Plan } from '../../src/fetch/plan/plan.ts';
import { SyncProgress } from '../../src/sync/run-sync.ts';

test('progress of a sync that goes on begins at what is held', () => {
  const events: Progress[] = [];
  const traffic = { bytes: 500, requests: 3 };
  const network = { traffic, hosts: { shown: [] } } as unknown as Network;
  const progress = new SyncProgress(network, (event) => events.push(event));
  const wanted = { entries: 10, bytes: 1000 };
  const held = { entries: 4, bytes: 400 };
  progress.onStep('configs');
  progress.onPlan({ wanted, held, rangeBytes: 620 } as Plan);
  traffic.bytes += 310;
  progress.onEntry();
  progress.end();
  const bytes = events.filter(({ type }) => type === 'bytes');
  expect(bytes[0]).toEqual({ type: 'bytes', phase: 'data', done: 400, total: 1020, files: { done: 4, total: 10 } });
  expect(bytes.at(-1)).toEqual({ type: 'bytes', phase: 'data', done: 710, total: 1020, files: { done: 5, total: 10 } });
  // A step of its own would be shown with its bytes for a moment, and then the rate be that of the leap.
  expect(events.filter(({ type }) => type === 'step')).toEqual([{ type: 'step', step: 'configs', bytes: 0 }]);
});

test('a file that is made again while data comes is a step that ends when it is there', async () => {
  let steps = 0;
  const network = { traffic: { bytes: 0, requests: 0 }, hosts: { shown: [] } } as unknown as Network;
  const progress = new SyncProgress(network, ({ type }) => {
    if (type === 'step') steps += 1;
  });
  const held = { entries: 0, bytes: 0 };
  progress.onPlan({ wanted: { entries: 10, bytes: 1000 }, held, rangeBytes: 1000 } as Plan);
  progress.onStep('encoding');
  progress.onStep(undefined);
  await sleep(250);
  progress.end();
  expect(steps).toBe(1);
});
