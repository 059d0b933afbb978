import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { Session } from '../../../src/app/session/session.ts';
import type { Limits } from '../../../src/serve/listen/limits.ts';
import { type Server, startServer } from '../../../src/serve/server.ts';
import type { Store } from '../../../src/store/store.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { parseAnswer, sendRaw } from './raw.ts';

/* What no honest client sends: it is refused with little work, and others are served meanwhile. */

jest.setTimeout(60_000);
const scratch = scratchFolder();
let session: Session;
let store: Store;
let server: Server;
const sockets: Socket[] = [];

beforeAll(async () => {
  session = new Session({ store: scratch('store'), offline: true });
  store = await session.store({ create: true });
  const keys = { buildConfig: '1'.repeat(32), cdnConfig: '2'.repeat(32), productConfig: null, keyRing: null };
  const names = { product: 'game', name: '1.0.1', buildId: '1', region: 'us' };
  store.ledger.addBuild({ ...names, ...keys, cdnPath: 'tpr/game', configPath: 'tpr/configs', hosts: [] });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

async function start(limits: Partial<Limits> = {}): Promise<void> {
  server = await startServer(session, { port: 0, ribbit: 0, limits });
}

/** A connection that says `text` and then nothing. */
async function hold(text = '', port = server.port): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  sockets.push(socket);
  socket.on('error', () => {});
  await new Promise((resolve) => void socket.once('connect', resolve).once('close', resolve));
  if (text !== '') socket.write(text);
  return socket;
}

function closed(socket: Socket): Promise<void> {
  socket.resume();
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

async function expectServed(): Promise<void> {
  const answer = await fetch(`${server.url}/game/versions`);
  expect([answer.status, (await answer.text()).includes('1.0.1')]).toEqual([200, true]);
}

const get = 'GET /game/versions HTTP/1.1\r\nHost: h\r\n';

test.each([
  ['both lengths', `${get}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['two lengths', `${get}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`],
  ['a signed length', `${get}Content-Length: +5\r\n\r\n`],
  ['a bad chunk', `${get}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
  ['a folded header', `${get}X: a\r\n b: c\r\n\r\n`],
  ['a space before the colon', `${get}Content-Length : 5\r\n\r\n`],
  ['a header without a name', `${get}: x\r\n\r\n`],
  ['NUL in a header', `${get}X: a\0b\r\n\r\n`],
  ['NUL in the path', 'GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n'],
  ['no host', 'GET / HTTP/1.1\r\n\r\n'],
  ['another protocol', 'GET / HTTP/9.9\r\nHost: h\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['a body', `${get}Content-Length: 5\r\n\r\nhello`],
  ['chunks', `${get}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a long URL', `GET /${'a'.repeat(5_000)} HTTP/1.1\r\nHost: h\r\n\r\n`],
  ['a URL that is all of it', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: h\r\n\r\n`],
  ['a flood of headers', `${get}${'X: y\r\n'.repeat(150)}\r\n`],
  ['a flood of bytes', `${get}X: ${'y'.repeat(100_000)}\r\n\r\n`],
  ['another method', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n'],
])('%s: one refusal, the connection closed, and nothing behind it is looked at', async (_name, text) => {
  await start();
  const answer = await sendRaw(server.port, `${text}${get}\r\n`);
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  const { status, headers } = parseAnswer(answer);
  expect([400, 405, 413, 414, 431]).toContain(status);
  expect(headers.get('connection')).toBe('close');
  await expectServed();
});

test('lines that end without CR are one request at most', async () => {
  await start();
  const answer = await sendRaw(server.port, 'GET /game/versions HTTP/1.1\nHost: h\nConnection: close\n\n');
  expect([200, 400]).toContain(parseAnswer(answer).status);
});

test.each([
  '/../../etc/passwd',
  '/..%2f..%2fetc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/tpr/game/..%5c..%5cledger.db',
  '/ledger.db',
  '/LEDGER.DB',
  '/tpr//ledger.db',
  '/%00',
  '/%',
  '/%ff%fe/versions',
  '/v2/channels/aa/bb/../../../../ledger.db',
  'http://h/../ledger.db',
  '*',
])('%s names nothing', async (path) => {
  await start();
  const answer = parseAnswer(
    await sendRaw(server.port, `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`),
  );
  expect([400, 404]).toContain(answer.status);
  expect(answer.body.length).toBeLessThan(40);
});

test('more connections than there may be push out those that have been idle for longest', async () => {
  await start({ connections: 20 });
  const first = await hold();
  await Promise.all(Array.from({ length: 60 }, () => hold()));
  await closed(first);
  await expectServed();
  expect(sockets.filter((socket) => !socket.closed).length).toBeLessThanOrEqual(40);
});

test('who does not finish a request in time is cut, and so is who says nothing, or is done and stays', async () => {
  await start({ requestMs: 200, idleMs: 200 });
  const texts = ['', 'GET / HT', `${get}X: `, `${get}\r\n`];
  const ribbit = Number(new URL(server.ribbitUrl?.replace('ribbit:', 'http:') ?? '').port);
  const held = await Promise.all([
    ...texts.map((text) => hold(text)),
    ...['', 'v', 'v1/products/game/ver', get].map((text) => hold(text, ribbit)),
  ]);
  await expectServed();
  await Promise.all(held.map(closed));
});

test('a Ribbit line without end is cut at once', async () => {
  await start();
  const ribbit = Number(new URL(server.ribbitUrl?.replace('ribbit:', 'http:') ?? '').port);
  expect(await sendRaw(ribbit, `v1/${'a'.repeat(10_000)}`)).toBe('');
  expect(await sendRaw(ribbit, 'GET /game/versions HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')).toContain(
    '200 OK',
  );
});

test('a connection has so many requests and no more', async () => {
  await start({ requests: 3 });
  const answer = await sendRaw(server.port, `${get}\r\n`.repeat(5));
  expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
  expect(answer.match(/Connection: close/g)).toHaveLength(1);
});

test('who takes nothing of its answer is cut', async () => {
  const size = 64 << 20;
  const hash = 'ab'.repeat(16);
  const path = `tpr/game/data/ab/ab/${hash}`;
  const { mkdirSync, truncateSync, writeFileSync } = await import('node:fs');
  mkdirSync(scratch('store', 'tpr/game/data/ab/ab'), { recursive: true });
  writeFileSync(scratch('store', path), '');
  truncateSync(scratch('store', path), size);
  store.ledger.addComplete(path, size);
  await start({ slowMs: 300 });
  const slow = await hold(`GET /${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
  slow.pause();
  await expectServed();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  let taken = 0;
  slow.on('data', (piece: Buffer) => {
    taken += piece.length;
  });
  await closed(slow);
  expect(taken).toBeLessThan(size);
});

test('the end cuts who waits at once, and answers that stand still after a moment', async () => {
  await start();
  const path = `tpr/game/data/ab/ab/${'ab'.repeat(16)}`;
  const held = [await hold(), await hold('GET'), await hold(`GET /${path} HTTP/1.1\r\nHost: h\r\n\r\n`)];
  held[2]?.pause();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const began = performance.now();
  await server.close();
  expect(performance.now() - began).toBeLessThan(1_900);
});
