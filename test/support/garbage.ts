import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all garbage: how much there is by itself depends on the runtime, and on what ran before. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Bytes outside the heap that are alive. */
export function aliveBufferBytes(): number {
  collectGarbage();
  // Buffers are given back by a thread of the runtime, which the next collection waits for.
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
