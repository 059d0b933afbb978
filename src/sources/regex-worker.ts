/* A thread that looks for regular expressions in names: however long one takes, the thread can be ended. */
import { parentPort, workerData } from 'node:worker_threads';

const expressions = (workerData as readonly string[]).map((pattern) => new RegExp(pattern, 'i'));

parentPort?.on('message', (names: readonly string[]) => {
  const isFound = (name: string): boolean => expressions.some((expression) => expression.test(name));
  parentPort?.postMessage(Uint8Array.from(names, (name) => Number(isFound(name.replaceAll('\\', '/')))));
});
