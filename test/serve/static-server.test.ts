import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { parseRange, type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { builtModule } from '../support/built-module.ts';
import { runInChild } from '../support/child.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const module = builtModule('src/serve/static-server.ts');
const object = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => (i * 7 + (i >> 8)) & 0xff));

beforeAll(() => {
  mkdirSync(scratch('www', 'tpr', 'data'), { recursive: true });
  mkdirSync(scratch('www-private'));
  writeFileSync(scratch('www', 'tpr', 'data', 'object.index'), object);
  writeFileSync(scratch('www', 'empty'), '');
  writeFileSync(scratch('www', '.secret'), 'hidden');
  writeFileSync(scratch('secret'), 'outside');
  writeFileSync(scratch('www-private', 'secret'), 'beside');
  symlinkSync(scratch('secret'), scratch('www', 'link-out'));
  symlinkSync(scratch('www-private'), scratch('www', 'folder-out'));
  symlinkSync(scratch('www', 'tpr', 'data', 'object.index'), scratch('www', 'link-in'));
});

let server: StaticServer;
afterEach(() => server.close());

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** One request with a path that nothing tidies up. */
function ask(path: string, options: http.RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: server.port, path, ...options }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    request.on('error', reject);
    request.end();
  });
}
const range = (value: string, more: http.RequestOptions = {}) =>
  ask('/tpr/data/object.index', { ...more, headers: { range: value } });

describe('a folder that is served', () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  afterAll(() => agent.destroy());
  const start = async (): Promise<void> => {
    server = await serveFolder(scratch('www'));
  };

  test('on this machine alone, on a free port', async () => {
    await start();
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(server.port).toBeGreaterThan(1023);
  });

  test('gives whole files with their length, and counts', async () => {
    await start();
    const { status, headers, body } = await ask('/tpr/data/object.index');
    expect({ status, length: headers['content-length'], ranges: headers['accept-ranges'] }).toEqual({
      status: 200,
      length: '1000000',
      ranges: 'bytes',
    });
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(body.equals(object)).toBe(true);
    expect(await ask('/empty')).toMatchObject({ status: 200, headers: { 'content-length': '0' } });
    expect((await ask('/link-in?x=1')).body.length).toBe(1_000_000);
    expect(server.stats).toEqual({ requests: 3, bytes: 2_000_000 });
  });

  test('HEAD says the same and sends nothing', async () => {
    await start();
    const { status, headers, body } = await ask('/tpr/data/object.index', { method: 'HEAD' });
    expect({ status, length: headers['content-length'], sent: body.length }).toEqual({
      status: 200,
      length: '1000000',
      sent: 0,
    });
    // A range is for GET alone.
    expect(await range('bytes=0-9', { method: 'HEAD' })).toMatchObject({ status: 200 });
    expect(await ask('/none', { method: 'HEAD' })).toMatchObject({ status: 404 });
    expect(server.stats.bytes).toBe(0);
  });

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=300000-799999', 300_000, 800_000],
    ['bytes=999999-', 999_999, 1_000_000],
    ['bytes=-5', 999_995, 1_000_000],
    ['bytes=999990-1000000', 999_990, 1_000_000],
  ])('%s: exactly that', async (header, from, to) => {
    await start();
    const { status, headers, body } = await range(header);
    expect({ status, range: headers['content-range'], length: headers['content-length'] }).toEqual({
      status: 206,
      range: `bytes ${from}-${to - 1}/1000000`,
      length: String(to - from),
    });
    expect(body.equals(object.subarray(from, to))).toBe(true);
    expect(server.stats.bytes).toBe(to - from);
  });

  test.each(['bytes=1000000-', 'bytes=5-4', 'bytes=0-1,3-4', 'bytes=x'])('%s: 416 with the size', async (header) => {
    await start();
    expect(await range(header)).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */1000000' } });
  });

  test('a range of another unit or under a condition that cannot hold gives the whole', async () => {
    await start();
    expect(await range('lines=1-2')).toMatchObject({ status: 200 });
    const conditional = await ask('/tpr/data/object.index', { headers: { range: 'bytes=0-1', 'if-range': '"x"' } });
    expect(conditional.body.length).toBe(1_000_000);
  });

  test.each([
    '/../secret',
    '/tpr/../../secret',
    '/%2e%2e/secret',
    '/..%2fsecret',
    '/..\\secret',
    '//secret',
    '/tpr//data/object.index',
    '/./empty',
    '/../www-private/secret',
    '/link-out',
    '/folder-out/secret',
    '/.secret',
    '/tpr',
    '/tpr/data/',
    '/tpr/data/object.index/x',
    '/empty%00',
    '/',
    '/nothing',
    `/${'a'.repeat(5000)}`,
    'http://127.0.0.1/empty',
  ])('%s is not there', async (path) => {
    await start();
    const { status, body } = await ask(path);
    expect(status).toBe(404);
    expect(body.toString()).toBe('404 Not Found\n');
  });

  test('pipes are none of its files, and keep it from none', async () => {
    const folder = scratch('www-pipes');
    mkdirSync(folder);
    writeFileSync(join(folder, 'file'), '');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const child = runInChild(`
      import { serveFolder } from ${JSON.stringify(module)};
      const { port, close } = await serveFolder(${JSON.stringify(folder)});
      const statusOf = async (name) => (await fetch('http://127.0.0.1:' + port + '/' + name)).status;
      const asked = await Promise.all(Array.from({ length: 8 }, () => statusOf('pipe')));
      console.log(new Set([...asked, await statusOf('file')]));
      await close();
    `);
    // A server that waits for a pipe does not even end by itself.
    const timer = setTimeout(() => void child.kill(), 3000);
    await child.says('Set(2) { 404, 200 }');
    clearTimeout(timer);
    await child.kill();
  });

  test('only reads', async () => {
    await start();
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await ask('/empty', { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  test('keeps the connection, after errors too', async () => {
    await start();
    const ports = new Set<number>();
    for (const path of ['/tpr/data/object.index', '/none', '/empty', '/tpr/data/object.index']) {
      const request = http.get({ host: '127.0.0.1', port: server.port, path, agent });
      await new Promise<void>((resolve, reject) => {
        request.on('error', reject);
        request.on('response', (response) => {
          ports.add(response.socket.localPort!);
          response.on('end', resolve).resume();
        });
      });
    }
    expect(ports.size).toBe(1);
  });

  test('a reader that leaves in the middle, or talks nonsense, harms nobody', async () => {
    await start();
    for (const words of ['GET /tpr/data/object.index HTTP/1.1\r\nHost: x\r\n\r\n', 'nonsense\r\n\r\n']) {
      const socket = net.connect(server.port, '127.0.0.1', () => socket.write(words));
      await new Promise((resolve) => socket.once('data', resolve));
      socket.destroy();
    }
    expect((await ask('/tpr/data/object.index')).body.equals(object)).toBe(true);
  });

  test('waits for a reader that is slow: the file is not read into memory', async () => {
    writeFileSync(scratch('www', 'large'), Buffer.alloc(64 * 1024 * 1024));
    await start();
    const socket = net.connect(server.port, '127.0.0.1', () => socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'));
    await new Promise((resolve) => socket.once('readable', resolve));
    await sleep(300);
    expect(server.stats.bytes).toBeLessThan(32 * 1024 * 1024);
    socket.destroy();
  });
});

describe('a limited rate', () => {
  test('is kept by all answers together', async () => {
    server = await serveFolder(scratch('www'), { bytesPerSecond: 500_000 });
    const started = performance.now();
    await Promise.all([range('bytes=0-199999'), range('bytes=200000-399999')]);
    const seconds = (performance.now() - started) / 1000;
    expect(seconds).toBeGreaterThan(0.4);
    expect(seconds).toBeLessThan(15);
    expect(server.stats.bytes).toBe(400_000);
  });

  test('close lets go of answers that wait for their turn', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    server = await serveFolder(scratch('www'), { bytesPerSecond: 1000 });
    const cut = expect(ask('/tpr/data/object.index')).rejects.toThrow();
    while (server.stats.requests === 0) await sleep(10);
    await sleep(100);
    await server.close();
    await cut;
    // Its turn would have come after 16 seconds.
    for (let tries = 0; tries < 80 && timers() > before; tries++) await sleep(50);
    expect(timers()).toBeLessThanOrEqual(before);
    server = await serveFolder(scratch('www'));
  });

  test('close does not wait for what is still being sent', async () => {
    server = await serveFolder(scratch('www'), { bytesPerSecond: 20_000 });
    const cut = expect(ask('/tpr/data/object.index')).rejects.toThrow();
    while (server.stats.bytes === 0) await sleep(10);
    const started = performance.now();
    await server.close();
    expect(performance.now() - started).toBeLessThan(15_000);
    await cut;
    expect(server.stats.bytes).toBeLessThan(200_000);
    server = await serveFolder(scratch('www'));
  });
});

test('a port that is taken is an error, and a folder that is not there', async () => {
  server = await serveFolder(scratch('www'));
  await expect(serveFolder(scratch('www'), { port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await expect(serveFolder(scratch('nowhere'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each([
  ['bytes=0-9', { start: 0, end: 10 }],
  ['bytes=10-19', { start: 10, end: 20 }],
  ['bytes=99-', { start: 99, end: 100 }],
  ['bytes=-1', { start: 99, end: 100 }],
  ['bytes=-500', { start: 0, end: 100 }],
  ['Bytes = 5-5 ', { start: 5, end: 6 }],
  // One byte too many, as a reader is known to ask: what there is.
  ['bytes=90-100', { start: 90, end: 100 }],
  ['bytes=0-999999999999999', { start: 0, end: 100 }],
])('%s of 100 bytes', (header, range) => {
  expect(parseRange(header, 100)).toEqual(range);
});

test.each([
  'bytes=100-',
  'bytes=100-200',
  'bytes=-0',
  'bytes=9-8',
  'bytes=',
  'bytes=-',
  'bytes=0-1,5-6',
  'bytes=a-b',
  'bytes=0x0-0x9',
  'bytes=1.5-2',
  'bytes=--5',
  'bytes=0-1; q',
  `bytes=0-${'9'.repeat(400)}`,
])('%s cannot be had', (header) => {
  expect(parseRange(header, 100)).toBe('unsatisfiable');
});

test('nothing of an empty file can be had', () => {
  for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) expect(parseRange(header, 0)).toBe('unsatisfiable');
});

test.each([undefined, '', 'lines=1-2', 'by tes=0-1'])('%s asks for the whole', (header) => {
  expect(parseRange(header, 100)).toBeUndefined();
});
