import { parentPort, workerData } from 'node:worker_threads';
import { abortError } from '../../core/errors.ts';
import type { Span } from '../../store/spans.ts';
import { type EngineOptions, type FromWorker, rangeEngine, type ToWorker } from './engine.ts';
import { RangeTargets } from './range-targets.ts';

/* One thread of the thread engine: an engine behind a message port. Counts are sent a few times a second, not for each piece. */

if (parentPort === null) throw new Error('this file is for threads');
const port = parentPort;
const send = (message: FromWorker): void => port.postMessage(message);
let bytes = 0;
let requests = 0;

function sendCounts(): void {
  if (bytes > 0 || requests > 0) send({ type: 'received', bytes, requests });
  bytes = 0;
  requests = 0;
}

const engine = rangeEngine(workerData as EngineOptions, {
  onReceived: (count) => {
    bytes += count;
  },
  onRequest: () => {
    requests += 1;
  },
});
const timer = setInterval(sendCounts, 100);
/** What ends the jobs that run, by their numbers. */
const running = new Map<number, AbortController>();

port.on('message', async (message: ToWorker) => {
  if (message.type === 'run') {
    const { id, base } = message;
    const job = { ...message.job, targets: new RangeTargets(message.job.targets) };
    const end = new AbortController();
    running.set(id, end);
    const onSpans = (spans: Span[]): void => send({ type: 'spans', id, spans });
    const result = await engine.run(job, base, { onSpans, signal: end.signal });
    running.delete(id);
    job.targets.giveBack();
    sendCounts();
    send({ type: 'result', id, result });
  } else if (message.type === 'abort') {
    running.get(message.id)?.abort(abortError());
  } else {
    clearInterval(timer);
    await engine.close();
    port.close();
  }
});
