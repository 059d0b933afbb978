import { parentPort, workerData } from 'node:worker_threads';
import { type EngineOptions, type FromWorker, localEngine, type ToWorker } from './engine.ts';

/* One thread of the thread engine: a local engine behind a message port. Counts are sent a few times a second, not for each piece. */

const port = parentPort!;
const send = (message: FromWorker): void => port.postMessage(message);
let bytes = 0;
let requests = 0;

function sendCounts(): void {
  if (bytes > 0 || requests > 0) send({ type: 'received', bytes, requests });
  bytes = 0;
  requests = 0;
}

const engine = localEngine(workerData as EngineOptions, {
  onSpans: (path, spans) => send({ type: 'spans', path, spans }),
  onReceived: (count) => {
    bytes += count;
  },
  onRequest: () => {
    requests += 1;
  },
});
const timer = setInterval(sendCounts, 100);

port.on('message', async (message: ToWorker) => {
  if (message.type === 'run') {
    const result = await engine.run(message.job, message.base);
    sendCounts();
    send({ type: 'result', id: message.id, result });
  } else if (message.type === 'abort') {
    engine.abort();
  } else {
    clearInterval(timer);
    await engine.close();
    port.close();
  }
});
