import * as fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { httpServer, type Loopback } from './loopback.ts';

/*
 * A host of a CDN that holds objects and serves ranges of them right, until a test tells it how to lie. It speaks raw HTTP through
 * node:http, on loopback, and counts what it was asked and what it sent.
 */

/** How one answer is wrong. Offsets count from the start of the body that was due. */
export type Lie =
  | { kind: 'hang up' }
  /** Another status, with a small body. */
  | { kind: 'status'; status: number; retryAfter?: string }
  /** 200 and a page of HTML. */
  | { kind: 'html' }
  /** 200 and the whole object for a range. */
  | { kind: 'whole' }
  /** 206 with this Content-Range, or without one. */
  | { kind: 'content-range'; value: string | undefined }
  /** A Content-Length that is so many bytes off; the body is as due. */
  | { kind: 'length'; off: number }
  /** So many bytes of the body, then the connection breaks. */
  | { kind: 'cut'; after: number }
  /** So many bytes of the body, then nothing more. */
  | { kind: 'stall'; after: number }
  /** The body in small pieces with pauses between. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  /** One byte of the object changed, counted from the start of the object. */
  | { kind: 'flip'; offset: number }
  /** Other bytes from an offset of the object on: a right entry in the wrong place. */
  | { kind: 'replace'; offset: number; bytes: Uint8Array }
  /** 206 that says it is the range asked, with the bytes of another place. */
  | { kind: 'shift'; by: number }
  /** 206 that says it is another range, and is. */
  | { kind: 'other range'; by: number }
  | { kind: 'gzip' }
  /** The body without a length, and bytes that never end behind it, so many at once (16 KiB when not said). */
  | { kind: 'endless'; bytes?: number };

/** A request as the server saw it. */
export interface Asked {
  path: string;
  /** As asked; undefined for the whole object. */
  range: { start: number; end: number } | undefined;
  at: number;
}

/** A running host. Needs `close`. */
export interface LyingServer extends Loopback {
  /** `http://127.0.0.1:port`, as a Host has it. */
  base: string;
  /** What it holds, by path without a leading slash. */
  objects: Map<string, Uint8Array>;
  /** Chooses the lie for a request; undefined for the truth. `count` counts the requests for that path, from 1. */
  lie: (asked: Asked, count: number) => Lie | undefined;
  asked: Asked[];
  /** Body bytes that were handed to the sockets. */
  sentBytes: number;
}

/** Starts a host that tells the truth about `objects`. */
export async function lyingServer(objects: Iterable<readonly [string, Uint8Array]> = []): Promise<LyingServer> {
  const counts = new Map<string, number>();
  const loopback = await httpServer((request, response) => {
    response.on('error', () => {});
    const asked = readRequest(request);
    server.asked.push(asked);
    const count = (counts.get(asked.path) ?? 0) + 1;
    counts.set(asked.path, count);
    const object = server.objects.get(asked.path);
    if (object === undefined) response.writeHead(404).end('no such object');
    else answer({ server, response, object, asked }, server.lie(asked, count));
  });
  const server: LyingServer = {
    ...loopback,
    base: `http://${loopback.host}`,
    objects: new Map(objects),
    lie: () => undefined,
    asked: [],
    sentBytes: 0,
  };
  return server;
}

/** What a made tree holds, for a host that serves it. @param www the folder that a web server would serve */
export function objectsBelow(www: string): Map<string, Uint8Array> {
  const paths = fs.readdirSync(join(www, 'tpr'), { recursive: true, encoding: 'utf8' });
  return new Map(
    paths
      .map((path) => `tpr/${path}`)
      .filter((path) => fs.statSync(join(www, path)).isFile())
      .map((path) => [path, new Uint8Array(fs.readFileSync(join(www, path)))]),
  );
}

/** The same lie at every request. */
export function always(lie: Lie): LyingServer['lie'] {
  return () => lie;
}

/** Lies at the first `times` requests of each path, then tells the truth. */
export function atFirst(lie: Lie, times = 1): LyingServer['lie'] {
  return (_, count) => (count <= times ? lie : undefined);
}

interface Exchange {
  server: LyingServer;
  response: ServerResponse;
  object: Uint8Array;
  asked: Asked;
}

function readRequest(request: IncomingMessage): Asked {
  const match = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  const range = match === null ? undefined : { start: Number(match[1]), end: Number(match[2]) + 1 };
  return { path: (request.url ?? '').slice(1), range, at: performance.now() };
}

function answer(exchange: Exchange, lie: Lie | undefined): void {
  const { response, asked } = exchange;
  switch (lie?.kind) {
    case 'hang up':
      response.destroy();
      return;
    case 'status':
      response.writeHead(lie.status, lie.retryAfter === undefined ? {} : { 'retry-after': lie.retryAfter });
      response.end(`status ${lie.status}`);
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!DOCTYPE html><html><body>${'This page is blocked. '.repeat(40)}</body></html>`);
      return;
    case 'whole':
      answerRange(exchange, undefined, undefined);
      return;
    case 'other range':
      answerRange(exchange, { start: asked.range!.start + lie.by, end: asked.range!.end + lie.by }, undefined);
      return;
    default:
      answerRange(exchange, asked.range, lie);
  }
}

/** Answers with 206, or 200 without a range, and the lies that are about head or body alone. */
function answerRange(exchange: Exchange, range: Asked['range'], lie: Lie | undefined): void {
  const { response, object } = exchange;
  const { start, end } = range ?? { start: 0, end: object.length };
  const body = Buffer.from(lied(object, lie).subarray(...shifted(start, end, lie)));
  const headers: Record<string, string | number> = {};
  if (lie?.kind !== 'endless') headers['content-length'] = body.length + (lie?.kind === 'length' ? lie.off : 0);
  if (range !== undefined) headers['content-range'] = `bytes ${start}-${end - 1}/${object.length}`;
  if (lie?.kind === 'content-range') {
    if (lie.value === undefined) delete headers['content-range'];
    else headers['content-range'] = lie.value;
  }
  if (lie?.kind === 'gzip') headers['content-encoding'] = 'gzip';
  response.writeHead(range === undefined ? 200 : 206, headers);
  sendBody(exchange, body, lie);
}

function shifted(start: number, end: number, lie: Lie | undefined): [number, number] {
  return lie?.kind === 'shift' ? [start + lie.by, end + lie.by] : [start, end];
}

function lied(object: Uint8Array, lie: Lie | undefined): Uint8Array {
  if (lie?.kind !== 'flip' && lie?.kind !== 'replace') return object;
  const changed = object.slice();
  if (lie.kind === 'flip') changed[lie.offset] = changed[lie.offset]! ^ 0x55;
  else changed.set(lie.bytes, lie.offset);
  return changed;
}

function sendBody({ server, response }: Exchange, body: Buffer, lie: Lie | undefined): void {
  const send = (bytes: Buffer): void => {
    server.sentBytes += bytes.length;
    response.write(bytes);
  };
  switch (lie?.kind) {
    case 'cut':
      send(body.subarray(0, lie.after));
      // The bytes get out before the connection breaks.
      response.write('', () => setTimeout(() => response.destroy(), 20));
      return;
    case 'stall':
      send(body.subarray(0, lie.after));
      return;
    case 'drip': {
      let at = 0;
      const timer = setInterval(() => {
        send(body.subarray(at, at + lie.bytes));
        at += lie.bytes;
        if (at >= body.length) response.end();
      }, lie.everyMs);
      response.on('close', () => clearInterval(timer));
      return;
    }
    case 'endless': {
      send(body);
      const more = Buffer.alloc(lie.bytes ?? 16 * 1024, 0x2e);
      const timer = setInterval(() => send(more), 2);
      response.on('close', () => clearInterval(timer));
      return;
    }
    case 'length':
      send(body);
      response.write('', () => setTimeout(() => response.destroy(), 20));
      return;
    default:
      server.sentBytes += body.length;
      response.end(body);
  }
}
