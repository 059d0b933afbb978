import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { builtModule } from '../support/built-module.ts';

const module = builtModule('src/files/durable.ts');
const code = `
  import { parentPort } from 'node:worker_threads';
  Date.now = () => 1;
  const { temporaryName } = await import(${JSON.stringify(module)});
  parentPort.postMessage(Array.from({ length: 2000 }, () => temporaryName('folder')));
`;

test('threads of one process never share a temporary name, though they count and look at the clock alike', async () => {
  const workers = [1, 2, 3].map(() => new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`)));
  const lists = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0] as string[]));
  expect(new Set(lists.flat()).size).toBe(6000);
});
