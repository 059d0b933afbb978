// A host that answers each request after a while, in a thread of its own.
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Serves a folder on a free port of 127.0.0.1, each answer late by some milliseconds. Needs `close`. */
export async function slowHost(folder, latencyMs) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { folder, latencyMs } });
  const port = await new Promise((done) => worker.once('message', done));
  return { url: `http://127.0.0.1:${port}`, close: () => worker.terminate() };
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
    fs.createReadStream(file).pipe(response);
    return;
  }
  const last = Math.min(Number(end), stat.size - 1);
  const range = `bytes ${start}-${last}/${stat.size}`;
  response.writeHead(206, { 'content-length': last - Number(start) + 1, 'content-range': range });
  fs.createReadStream(file, { start: Number(start), end: last }).pipe(response);
}

if (!isMainThread) {
  const server = createServer((request, response) => setTimeout(answer, workerData.latencyMs, request, response));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}
