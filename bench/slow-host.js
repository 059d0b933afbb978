// A host that answers each request after a while, in a thread of its own.
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * Serves a folder on a free port of 127.0.0.1, each answer late by some milliseconds. `indexSeconds` gives the time from the first request for an
 * index to the end of the last answer, since it was asked before. Needs `close`.
 */
export async function slowHost(folder, latencyMs) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { folder, latencyMs } });
  const heard = () => new Promise((done) => worker.once('message', done));
  const port = await heard();
  const indexSeconds = () => {
    worker.postMessage('how long?');
    return heard();
  };
  return { url: `http://127.0.0.1:${port}`, indexSeconds, close: () => worker.terminate() };
}

const smallBytes = 1 << 20;

function answer({ url, headers }, response) {
  const file = join(workerData.folder, new URL(url, 'http://host').pathname);
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) {
    response.writeHead(404).end();
    return;
  }
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  if (start === undefined) {
    response.writeHead(200, { 'content-length': stat.size });
    // A stream costs more than a small file does.
    if (stat.size <= smallBytes) response.end(fs.readFileSync(file));
    else fs.createReadStream(file).pipe(response);
    return;
  }
  const last = Math.min(Number(end), stat.size - 1);
  const range = `bytes ${start}-${last}/${stat.size}`;
  response.writeHead(206, { 'content-length': last - Number(start) + 1, 'content-range': range });
  fs.createReadStream(file, { start: Number(start), end: last }).pipe(response);
}

/** Notes when an index is asked for, and when its answer is out. */
function noteIndex(span, { url }, response) {
  if (!url.endsWith('.index')) return;
  span.first ??= performance.now();
  response.on('finish', () => {
    span.last = performance.now();
  });
}

if (!isMainThread) {
  let span = {};
  const server = createServer((request, response) => {
    noteIndex(span, request, response);
    setTimeout(answer, workerData.latencyMs, request, response);
  });
  parentPort.on('message', () => {
    parentPort.postMessage((span.last - span.first) / 1000);
    span = {};
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}
