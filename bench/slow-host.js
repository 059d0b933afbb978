// A host that answers each request after a while, in a thread of its own, and no faster than it is told.
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * Serves a folder on a free port of 127.0.0.1, each answer late by some milliseconds, all of them together with some bytes a second. `indexSeconds` gives the time from the first request for an
 * index to the end of the last answer, since it was asked before. Needs `close`.
 */
export async function slowHost(folder, latencyMs, bytesPerSecond = Number.POSITIVE_INFINITY) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { folder, latencyMs, bytesPerSecond } });
  const heard = () => new Promise((done) => worker.once('message', done));
  const port = await heard();
  const indexSeconds = () => {
    worker.postMessage('how long?');
    return heard();
  };
  return { url: `http://127.0.0.1:${port}`, indexSeconds, close: () => worker.terminate() };
}

const smallBytes = 1 << 20;
const pieceBytes = 128 << 10;
/** Timers are late: pieces within this time go at once. */
const burstMs = 4;

let freeAt = 0;

/** Sends bytes of a file when their turn comes: one after the other, whatever asked for them. */
async function sendPaced(file, start, end, response) {
  const handle = await fs.promises.open(file);
  try {
    for (let at = start; at < end && !response.destroyed; ) {
      const size = Math.min(pieceBytes, end - at);
      freeAt = Math.max(performance.now(), freeAt) + (1000 * size) / workerData.bytesPerSecond;
      const { buffer } = await handle.read(Buffer.allocUnsafe(size), 0, size, at);
      const early = freeAt - performance.now();
      if (early > burstMs) await sleep(early);
      if (!response.write(buffer)) await drained(response);
      at += size;
    }
    response.end();
  } finally {
    await handle.close();
  }
}

function drained(response) {
  return new Promise((done) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      done();
    };
    response.on('drain', go).on('close', go);
  });
}

function send(file, start, end, response) {
  if (workerData.bytesPerSecond !== Number.POSITIVE_INFINITY) return void sendPaced(file, start, end, response);
  // A stream costs more than a small file does.
  if (start === 0 && end <= smallBytes) response.end(fs.readFileSync(file).subarray(0, end));
  else fs.createReadStream(file, { start, end: end - 1 }).pipe(response);
}

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
    send(file, 0, stat.size, response);
    return;
  }
  const last = Math.min(Number(end), stat.size - 1);
  const range = `bytes ${start}-${last}/${stat.size}`;
  response.writeHead(206, { 'content-length': last - Number(start) + 1, 'content-range': range });
  send(file, Number(start), last + 1, response);
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
