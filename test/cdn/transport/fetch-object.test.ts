import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Hosts } from '../../../src/cdn/hosts/hosts.ts';
import { BodyBudget } from '../../../src/cdn/transport/body-budget.ts';
import { type Cdn, fetchObject } from '../../../src/cdn/transport/fetch-object.ts';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { unlimited } from '../../../src/cdn/transport/rate-limit.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { freePort } from '../../support/loopback.ts';
import { always, atFirst, type LyingServer, lyingServer } from '../../support/lying-server.ts';

const object = new TextEncoder().encode('encoding = 0123\n'.repeat(100));
const hash = md5Hex(object);
const path = 'tpr/x/config/aa/bb/c';
let http: HttpClient;
let servers: LyingServer[] = [];

beforeEach(() => {
  http = new HttpClient({ connectMs: 1000, idleMs: 500, connections: 4 });
});
afterEach(async () => {
  await http.close();
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

async function cdn(lies: readonly (LyingServer['lie'] | undefined)[], more: Partial<Cdn> = {}): Promise<Cdn> {
  for (const lie of lies) {
    const server = await lyingServer([[path, object]]);
    if (lie !== undefined) server.lie = lie;
    servers.push(server);
  }
  const hosts = new Hosts(servers.map(({ base }) => ({ base, fallback: false })));
  return { http, hosts, rate: unlimited, attemptsPerHost: 2, ...more };
}

const bring = (from: Cdn, maxSize = 10_000): Promise<Uint8Array> =>
  fetchObject(from, {
    path,
    kind: 'config',
    maxSize,
    check(bytes) {
      if (md5Hex(bytes) !== hash) throw new PakratError('E_INTEGRITY', 'wrong bytes');
    },
  });

const requests = (): number => servers.reduce((sum, { asked }) => sum + asked.length, 0);

test('the object comes whole, and what was taken is counted', async () => {
  let bytes = 0;
  let asked = 0;
  const from = await cdn([undefined], {
    onReceived: (count) => {
      bytes += count;
    },
    onRequest: () => {
      asked += 1;
    },
  });
  expect(md5Hex(await bring(from))).toBe(hash);
  expect([bytes, asked, requests()]).toEqual([object.length, 1, 1]);
});

test.each([
  ['hangs up', { kind: 'hang up' }],
  ['answers 404', { kind: 'status', status: 404 }],
  ['answers 500', { kind: 'status', status: 500 }],
  ['answers a page of HTML with 200', { kind: 'html' }],
  ['changes a byte', { kind: 'flip', offset: 700 }],
  ['breaks off', { kind: 'cut', after: 100 }],
  ['stalls', { kind: 'stall', after: 100 }],
  ['promises more than it has', { kind: 'length', off: 10 }],
  ['promises less than it has', { kind: 'length', off: -10 }],
  ['never ends', { kind: 'endless' }],
] as const)('two hosts of three that lie do not matter: one that %s', async (_, lie) => {
  const from = await cdn([always(lie), undefined, always(lie)]);
  for (let i = 0; i < 3; i++) expect(md5Hex(await bring(from))).toBe(hash);
  // Three objects, and each liar was believed twice at most before it came behind.
  expect(requests()).toBeLessThanOrEqual(3 + 4);
});

test('a host that was wrong for a moment is asked again', async () => {
  const from = await cdn([atFirst({ kind: 'flip', offset: 0 })]);
  expect(md5Hex(await bring(from))).toBe(hash);
  expect(requests()).toBe(2);
});

test('an object that is nowhere is not found, after one question to each', async () => {
  const from = await cdn([always({ kind: 'status', status: 404 }), always({ kind: 'status', status: 403 })]);
  await expect(bring(from)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  expect(requests()).toBe(2);
});

test('wrong bytes everywhere are never taken', async () => {
  const from = await cdn([always({ kind: 'flip', offset: 5 }), always({ kind: 'html' })]);
  await expect(bring(from)).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
  expect(requests()).toBeLessThanOrEqual(4);
});

test('more than can be right is not read to its end', async () => {
  let bytes = 0;
  const count = (received: number): void => {
    bytes += received;
  };
  const promised = await cdn([undefined], { onReceived: count });
  await expect(bring(promised, 1000)).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
  expect(bytes).toBe(0);
  servers[0]!.lie = always({ kind: 'endless' });
  await expect(bring(await cdn([], { onReceived: count }), 2000)).rejects.toMatchObject({
    code: 'E_NETWORK_EXHAUSTED',
  });
  expect(bytes).toBeLessThanOrEqual(4000);
});

test('a dead host costs a moment', async () => {
  const from = await cdn([undefined]);
  const dead = { base: `http://127.0.0.1:${await freePort()}`, fallback: false };
  const both = { ...from, hosts: new Hosts([dead, ...from.hosts.all]) };
  const started = performance.now();
  for (let i = 0; i < 20; i++) expect(md5Hex(await bring(both))).toBe(hash);
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(requests()).toBe(20);
});

test('an interruption ends it', async () => {
  const from = await cdn([always({ kind: 'stall', after: 10 })], { signal: AbortSignal.timeout(100) });
  await expect(bring(from)).rejects.toMatchObject({ code: 'E_ABORTED' });
});

test('a page in place of the object is called that', async () => {
  await expect(bring(await cdn([always({ kind: 'html' })]))).rejects.toMatchObject({
    code: 'E_NETWORK_EXHAUSTED',
    message: expect.stringContaining('answered a page of HTML with status 200'),
  });
});

describe('bodies that crawl, or have no end', () => {
  const drip = always({ kind: 'drip', bytes: 1, everyMs: 50 });

  test('another host is asked while one crawls, and wins; the one that crawls comes behind', async () => {
    const from = await cdn([drip, undefined], { hedgeMs: 100 });
    for (let i = 0; i < 4; i++) expect(md5Hex(await bring(from))).toBe(hash);
    expect(servers[0]!.asked.length).toBeLessThanOrEqual(2);
  });

  test('one that crawls is given up where it is alone, and named', async () => {
    const impatient = new HttpClient({ connectMs: 1000, idleMs: 5000, connections: 4, slowWindowMs: 200 });
    const from = await cdn([drip], { http: impatient, hedgeMs: 100 });
    const message = expect.stringMatching(/only host failed: http:\/\/127.*only \d+ bytes a second came/);
    await expect(bring(from)).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED', message });
    await impatient.close();
  });

  test('memory for a large body is taken when one turns out to be large', async () => {
    const large = new Uint8Array(9 * 1024 * 1024).fill(7);
    const server = await lyingServer([['large', large]]);
    servers.push(server);
    const from = await cdn([], { budget: new BodyBudget(1 << 24) });
    const request = { path: 'large', kind: 'index', maxSize: 1 << 24, isMostlySmaller: true, check: () => {} } as const;
    expect((await fetchObject(from, request)).length).toBe(large.length);
    expect(server.asked).toHaveLength(2);
    server.lie = always({ kind: 'endless' });
    await expect(fetchObject(from, { ...request, maxSize: 1 << 23 })).rejects.toMatchObject({
      code: 'E_NETWORK_EXHAUSTED',
    });
  });
});
