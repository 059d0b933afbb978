import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fetchBytesWithin } from '../../../src/cdn/transport/fetch-bytes.ts';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { httpServer, type Loopback } from '../../support/loopback.ts';

let http: HttpClient;
let server: Loopback | undefined;
beforeEach(() => {
  http = new HttpClient({ connectMs: 2000, idleMs: 5000, connections: 1 });
});
afterEach(async () => {
  await http.close();
  await server?.close();
});

async function get(
  handler: RequestListener,
  options: { maxSize?: number; timeoutMs?: number; signal?: AbortSignal } = {},
) {
  server = await httpServer(handler);
  const { timeoutMs = 2000, ...rest } = options;
  return fetchBytesWithin(timeoutMs, http, `http://${server.host}/x`, { maxSize: 100, ...rest });
}

test('gives back the body', async () => {
  const body = await get((_, response) => response.end('12345'));
  expect(new TextDecoder().decode(body)).toBe('12345');
});

test.each([201, 204, 206, 301, 403, 404, 500])('status %i is no answer', async (status) => {
  await expect(get((_, response) => response.writeHead(status).end())).rejects.toMatchObject({
    code: 'E_NETWORK_STATUS',
    data: { status },
  });
});

test('a body larger than can be right is refused by its head, or when it has come too far', async () => {
  let sent = 0;
  const promised = get((_, response) => {
    response.writeHead(200, { 'content-length': 101 });
    response.write('x');
    sent += 1;
  });
  await expect(promised).rejects.toMatchObject({ code: 'E_NETWORK_RANGE' });
  expect(sent).toBe(1);
  await server?.close();
  const chunked = get((_, response) => {
    response.write('x'.repeat(60));
    response.end('x'.repeat(41));
  });
  await expect(chunked).rejects.toMatchObject({ code: 'E_NETWORK_RANGE' });
  await server?.close();
  expect(await get((_, response) => response.end('x'.repeat(100)))).toHaveLength(100);
});

test('a body shorter than promised is no answer', async () => {
  const short = get((_, response) => {
    response.writeHead(200, { 'content-length': 50 }).write('12345');
    setTimeout(() => response.destroy(), 20);
  });
  await expect(short).rejects.toMatchObject({ code: 'E_NETWORK' });
});

test('a drip that never ends is over when its time is', async () => {
  const started = performance.now();
  const drip = get(
    (_, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    },
    { timeoutMs: 200 },
  );
  await expect(drip).rejects.toMatchObject({ code: 'E_NETWORK_TIMEOUT' });
  expect(performance.now() - started).toBeLessThan(15_000);
});

test('a question that waits for a connection keeps to its time as well', async () => {
  server = await httpServer(() => {});
  const url = `http://${server.host}/x`;
  // The only connection is taken by the first.
  const first = fetchBytesWithin(1000, http, url, { maxSize: 1 }).catch(() => {});
  await expect(fetchBytesWithin(100, http, url, { maxSize: 1 })).rejects.toMatchObject({
    code: 'E_NETWORK_TIMEOUT',
  });
  await expect(
    fetchBytesWithin(9000, http, url, { maxSize: 1, signal: AbortSignal.timeout(50) }),
  ).rejects.toMatchObject({
    code: 'E_ABORTED',
  });
  await http.close();
  await first;
});
