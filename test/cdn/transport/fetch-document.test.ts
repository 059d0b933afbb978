import type { IncomingMessage, RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type DocumentTarget,
  type FetchDocumentOptions,
  fetchDocument,
  type Validators,
} from '../../../src/cdn/transport/fetch-document.ts';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { httpServer, type Loopback } from '../../support/loopback.ts';

const body = Buffer.from(Array.from({ length: 30_000 }, (_, i) => `${i};name ${i}\n`).join(''));
const etag = '"one"';
const options: FetchDocumentOptions = { known: {}, maxSize: 10 << 20, attempts: 3 };

class Memory implements DocumentTarget {
  bytes: Buffer = Buffer.alloc(0);
  validators: Validators = {};
  get size(): number {
    return this.bytes.length;
  }
  begin(validators: Validators): void {
    this.bytes = Buffer.alloc(0);
    this.validators = validators;
  }
  write(piece: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, piece]);
  }
}

let http: HttpClient;
let server: Loopback | undefined;
let asked: IncomingMessage[];
beforeEach(() => {
  http = new HttpClient({ connectMs: 2000, idleMs: 2000, connections: 1 });
  asked = [];
});
afterEach(async () => {
  await http.close();
  await server?.close();
});

async function serve(handler: RequestListener): Promise<string> {
  server = await httpServer((request, response) => {
    asked.push(request);
    handler(request, response);
  });
  return `http://${server.host}/list`;
}

/** Answers as a good server does, but that it cuts the connection after `cut` bytes of a body. */
function goodServer({ cut = Number.POSITIVE_INFINITY, ranges = true, tag = etag } = {}): RequestListener {
  return (request, response) => {
    if (request.headers['if-none-match'] === tag) return void response.writeHead(304).end();
    const wanted = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
    const isPart = ranges && wanted !== undefined && request.headers['if-range'] === tag;
    const start = isPart ? Number(wanted) : 0;
    if (start >= body.length) return void response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
    const headers = { etag: tag, 'content-length': body.length - start };
    if (isPart)
      response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` });
    else response.writeHead(200, headers);
    if (body.length - start <= cut) return void response.end(body.subarray(start));
    response.write(body.subarray(start, start + cut), () => setTimeout(() => response.destroy(), 20));
  };
}

describe('download', () => {
  test('a body comes whole, with what its version is known by, and is not sent twice', async () => {
    const url = await serve(goodServer());
    const target = new Memory();
    expect(await fetchDocument(http, url, target, options)).toBe(true);
    expect(target.bytes.equals(body)).toBe(true);
    expect(target.validators).toEqual({ etag, lastModified: undefined });
    expect(await fetchDocument(http, url, new Memory(), { ...options, known: { etag } })).toBe(false);
  });

  test('one that is cut again and again is gone on with, and no byte is asked for twice', async () => {
    const url = await serve(goodServer({ cut: 50_000 }));
    const target = new Memory();
    expect(await fetchDocument(http, url, target, options)).toBe(true);
    expect(target.bytes.equals(body)).toBe(true);
    expect(asked.length).toBeGreaterThan(8);
    const starts = asked.slice(1).map(({ headers }) => Number(/\d+/.exec(headers.range!)![0]));
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
    expect(starts[0]).toBeGreaterThan(0);
  }, 20_000);

  test('what an earlier run left is gone on with; when it was all of it, nothing is sent', async () => {
    const url = await serve(goodServer());
    const target = new Memory();
    target.begin({ etag });
    target.write(body.subarray(0, 1234));
    expect(await fetchDocument(http, url, target, options)).toBe(true);
    expect(target.bytes.equals(body)).toBe(true);
    expect(await fetchDocument(http, url, target, options)).toBe(true);
    expect(target.bytes.equals(body)).toBe(true);
    expect(asked.map(({ headers }) => headers.range)).toEqual(['bytes=1234-', `bytes=${body.length}-`]);
  });

  test.each([
    ['another version by now', goodServer({ tag: '"two"' })],
    ['a server without ranges', goodServer({ ranges: false })],
    [
      'a server that looks at no If-Range',
      (request: IncomingMessage, response: Parameters<RequestListener>[1]) => {
        request.headers['if-range'] &&= '"two"';
        goodServer({ tag: '"two"' })(request, response as never);
      },
    ],
  ])('%s: it is begun anew, never mixed', async (_, handler) => {
    const url = await serve(handler as RequestListener);
    const target = new Memory();
    target.begin({ etag });
    target.write(Buffer.from('old bytes'));
    expect(await fetchDocument(http, url, target, options)).toBe(true);
    expect(target.bytes.equals(body)).toBe(true);
  });

  test('a weak tag is no promise: what is there is fetched anew', async () => {
    const url = await serve(goodServer({ tag: 'W/"one"' }));
    const target = new Memory();
    target.begin({ etag: 'W/"one"' });
    target.write(Buffer.from('bytes'));
    expect(await fetchDocument(http, url, target, options)).toBe(true);
    expect(target.bytes.equals(body)).toBe(true);
    expect(asked[0]!.headers.range).toBeUndefined();
  });

  test('a server without ranges that always cuts is given up', async () => {
    const url = await serve(goodServer({ ranges: false, cut: 1000 }));
    await expect(fetchDocument(http, url, new Memory(), options)).rejects.toMatchObject({ code: 'E_NETWORK' });
    expect(asked).toHaveLength(4);
  }, 20_000);

  test('a server that sends a few bytes now and then is given up after the tries, and what came stays', async () => {
    const impatient = new HttpClient({ connectMs: 2000, idleMs: 2000, connections: 1, slowWindowMs: 300 });
    const url = await serve((request, response) => {
      let at = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
      const range = { 'content-range': `bytes ${at}-${body.length - 1}/${body.length}` };
      response.writeHead(at > 0 ? 206 : 200, { etag, 'content-length': body.length - at, ...range });
      const timer = setInterval(() => {
        response.write(body.subarray(at, at + 2));
        at += 2;
      }, 30);
      response.on('close', () => clearInterval(timer));
    });
    const target = new Memory();
    const slow = fetchDocument(impatient, url, target, options);
    await expect(slow).rejects.toMatchObject({ code: 'E_NETWORK_TIMEOUT' });
    await impatient.close();
    expect(asked).toHaveLength(3);
    expect(target.size).toBeGreaterThan(0);
    expect(body.subarray(0, target.size).equals(target.bytes)).toBe(true);
  });

  test('redirects are followed, but not for ever and not to what is less secure', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/list') response.writeHead(302, { location: '/moved?x=1' }).end('elsewhere');
      else if (request.url === '/moved?x=1') goodServer()(request, response as never);
      else if (request.url === '/ftp') response.writeHead(301, { location: 'ftp://x/y' }).end();
      else response.writeHead(302, { location: '/loop' }).end();
    });
    const target = new Memory();
    expect(await fetchDocument(http, url, target, options)).toBe(true);
    expect(target.bytes.equals(body)).toBe(true);
    for (const path of ['/loop', '/ftp']) {
      await expect(fetchDocument(http, url.replace('/list', path), target, options)).rejects.toMatchObject({
        code: 'E_NETWORK_STATUS',
      });
    }
  });

  test.each<[string, number, Record<string, string>, string]>([
    ['not found', 404, {}, 'E_NETWORK_STATUS'],
    ['compressed', 200, { 'content-encoding': 'gzip' }, 'E_NETWORK_RANGE'],
    ['too large', 200, { 'content-length': String(1 << 30) }, 'E_NETWORK_RANGE'],
  ])('%s is refused at once', async (_, status, headers, code) => {
    const url = await serve((_, response) => void response.writeHead(status, headers).end('x'));
    const target = new Memory();
    await expect(fetchDocument(http, url, target, options)).rejects.toMatchObject({ code });
    expect(target.size).toBe(0);
    expect(asked).toHaveLength(1);
  });
});
