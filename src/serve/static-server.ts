import { once, setMaxListeners } from 'node:events';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostAndPort } from '../cdn/transport/host-text.ts';
import { type RateLimit, rateLimit, unlimited } from '../cdn/transport/rate-limit.ts';
import { codeOf } from '../core/errors.ts';
import { isSafeCdnPath } from '../store/layout.ts';

interface ServeOptions {
  /** Address to listen on. Default 127.0.0.1: this machine alone. */
  host?: string;
  /** Default 0: one that is free. */
  port?: number;
  /** Limit of all bodies together; absent for none. */
  bytesPerSecond?: number | undefined;
}

/** Counts of all that was served so far. */
export interface ServeStats {
  requests: number;
  /** Of bodies, given to connections. */
  bytes: number;
}

/** A running server. Needs `close`. */
export interface StaticServer {
  /** `http://host:port`. */
  readonly url: string;
  readonly port: number;
  readonly stats: Readonly<ServeStats>;
  /** Cuts every connection and ends. */
  close(): Promise<void>;
}

/** Pieces in which a limited body is sent, so that a limit is felt evenly. */
const pieceBytes = 16 * 1024;
const readBytes = 256 * 1024;

/**
 * Serves the files of a CDN folder: GET and HEAD, whole or one range, always with their length, over kept connections.
 * Only names of the kind that a CDN has are looked at (letters, digits, `.`, `_`, `-`); folders, hidden files and links that lead out are not there.
 * @throws errors of listening as they come (EADDRINUSE)
 */
export async function serveFolder(root: string, options: ServeOptions = {}): Promise<StaticServer> {
  const { host = '127.0.0.1', port = 0, bytesPerSecond } = options;
  const stats: ServeStats = { requests: 0, bytes: 0 };
  const stopping = new AbortController();
  // Each limited answer listens to it.
  setMaxListeners(0, stopping.signal);
  const rate = bytesPerSecond === undefined ? undefined : rateLimit(bytesPerSecond);
  const answering: Answering = { root: fs.realpathSync(root), stats, rate, signal: stopping.signal };
  const server = http.createServer((request, response) => {
    stats.requests += 1;
    // A failure behind the head of an answer can only be told by cutting it.
    answer(request, response, answering).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${hostAndPort(host, bound)}`,
    port: bound,
    stats,
    async close() {
      stopping.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Answering {
  root: string;
  stats: ServeStats;
  rate: RateLimit | undefined;
  signal: AbortSignal;
}

async function answer(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  answering: Answering,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return refuse(response, 405);
  }
  const file = await openFile(answering.root, request.url ?? '');
  if (file === undefined) return refuse(response, 404);
  try {
    await sendFile(request, response, { ...file, ...answering });
  } finally {
    await file.handle.close();
  }
}

const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;

interface OpenFile {
  handle: fs.promises.FileHandle;
  size: number;
}

async function openFile(root: string, url: string): Promise<OpenFile | undefined> {
  const path = url.replace(/[?#].*$/s, '').slice(1);
  if (!url.startsWith('/') || !isSafeCdnPath(path) || /(^|\/)\./.test(path)) return undefined;
  try {
    const file = await fs.promises.realpath(join(root, path));
    if (!file.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
    // A pipe would keep one of the few threads that open files until somebody writes to it.
    const handle = await fs.promises.open(file, O_RDONLY | O_NONBLOCK);
    const stat = await handle.stat();
    if (stat.isFile()) return { handle, size: stat.size };
    await handle.close();
    return undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ENAMETOOLONG', 'ELOOP'].includes(codeOf(error) ?? ''))
      return undefined;
    throw error;
  }
}

async function sendFile(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  file: OpenFile & Answering,
): Promise<void> {
  // A range is for GET alone; and as nothing here has a validator, one with If-Range is for another content.
  const asked =
    request.method === 'GET' && request.headers['if-range'] === undefined ? request.headers.range : undefined;
  const range = parseRange(asked, file.size);
  response.setHeader('Accept-Ranges', 'bytes');
  if (range === 'unsatisfiable') {
    response.setHeader('Content-Range', `bytes */${file.size}`);
    return refuse(response, 416);
  }
  const { start, end } = range ?? { start: 0, end: file.size };
  if (range !== undefined) response.setHeader('Content-Range', `bytes ${start}-${end - 1}/${file.size}`);
  response.writeHead(range === undefined ? 200 : 206, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': end - start,
  });
  if (request.method === 'HEAD') response.end();
  else await pipeline(pieces(file, { start, end }), response);
}

/** The bytes of a file, counted and at the rate allowed. Ends in an error when the file is shorter than it was. */
async function* pieces(
  { handle, stats, rate, signal }: OpenFile & Answering,
  range: ByteRange,
): AsyncGenerator<Buffer> {
  const { take } = rate ?? unlimited;
  const most = rate === undefined ? readBytes : pieceBytes;
  for (let at = range.start; at < range.end; ) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(Math.min(most, range.end - at)),
      0,
      undefined,
      at,
    );
    if (bytesRead === 0) throw new Error('the file became shorter while it was sent');
    const wait = take(bytesRead);
    if (wait > 0) await sleep(wait, undefined, { signal });
    stats.bytes += bytesRead;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

function refuse(response: http.ServerResponse, status: number): void {
  const text = Buffer.from(`${status} ${http.STATUS_CODES[status]}\n`);
  response.writeHead(status, { 'Content-Type': 'text/plain', 'Content-Length': text.length });
  response.end(text);
}

/** Bytes [start, end) of an object. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The range that a `Range` header asks of an object. One that goes past the end gets what there is: readers exist that ask one byte too many.
 * @returns undefined when all of the object is to be sent: no header, or a unit other than bytes;
 *   `unsatisfiable` for a range that is malformed or starts behind the end, and for several ranges, which no reader of ours or others asks for
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, ranges] = /^\s*bytes\s*=(.*)$/i.exec(header ?? '') ?? [];
  if (ranges === undefined) return undefined;
  const [, first, last] = /^\s*(\d{0,15})-(\d{0,15})\s*$/.exec(ranges) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'unsatisfiable';
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end } : 'unsatisfiable';
}
