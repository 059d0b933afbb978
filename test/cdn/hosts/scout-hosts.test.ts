import { afterEach, expect, test } from '@jest/globals';
import { Hosts } from '../../../src/cdn/hosts/hosts.ts';
import { scoutHosts } from '../../../src/cdn/hosts/scout-hosts.ts';
import { type Loopback, tcpServer } from '../../support/loopback.ts';
import { ranked } from './ranked.ts';

let server: Loopback;
afterEach(() => server?.close());
const hostsAt = (...bases: string[]): Hosts => new Hosts(bases.map((base) => ({ base, fallback: false })));
/** Addresses of this machine where nobody listens. */
const dead = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `http://127.9.${i >> 8}.${i & 255}:9`);

test('of a long list those that are there are asked first, and the others are known to be dead', async () => {
  let connections = 0;
  server = await tcpServer(() => {
    connections += 1;
  });
  const hosts = hostsAt(...dead(500), `http://${server.host}`, 'x:99999');
  await scoutHosts(hosts, undefined);
  expect(ranked(hosts, 'config')[0]?.base).toBe(`http://${server.host}`);
  expect(hosts.all.filter((host) => hosts.whyOut(host, 'data') === undefined)).toHaveLength(1);
  expect(connections).toBe(1);
});

test('of a list as CDNs have it nobody is bothered', async () => {
  let connections = 0;
  server = await tcpServer(() => {
    connections += 1;
  });
  await scoutHosts(hostsAt(`http://${server.host}`, ...dead(4)), undefined);
  expect(connections).toBe(0);
});

test('an interruption ends it', async () => {
  await expect(scoutHosts(hostsAt(...dead(20)), AbortSignal.abort())).rejects.toMatchObject({ code: 'E_ABORTED' });
});
