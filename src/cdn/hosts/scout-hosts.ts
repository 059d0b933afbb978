import { Resolver } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { abortError } from '../../core/errors.ts';
import { bareHost } from '../transport/host-text.ts';
import { Proxies, type ProxySettings } from '../transport/proxies.ts';
import { type Host, problemOf } from './host-names.ts';
import type { Hosts } from './hosts.ts';

/** Connections that are tried at a time, and milliseconds for each; and for its name. */
const atOnce = 512;
const connectMs = 1500;
const lookupMs = 1500;

/**
 * Looks which hosts of a long list are there at all, many at a time: asked one after the other, thousands of dead ones would hold up for hours.
 * Those that are not come last. Does nothing for a list as CDNs have it, and nothing about hosts that a proxy asks.
 * @throws E_ABORTED
 */
export async function scoutHosts(
  hosts: Hosts,
  signal: AbortSignal | undefined,
  settings: ProxySettings = {},
): Promise<void> {
  if (!hosts.isLong) return;
  const proxies = new Proxies(settings);
  hosts.news.failed(`looking which of ${hosts.places.size} hosts are there`);
  const isAsked = (host: Host): boolean =>
    problemOf(host) === undefined && proxies.of(new URL(host.base)) === undefined;
  const left = hosts.all.filter(isAsked).values();
  // Not the look-up of the system: it has four threads, which the disk shares, and dead names would hold them for minutes.
  const resolver = new Resolver({ timeout: lookupMs, tries: 1 });
  const lane = async (): Promise<void> => {
    for (const host of left) {
      if (signal?.aborted) throw abortError();
      const problem = await probe(host, resolver, signal);
      if (problem !== undefined) hosts.unreachable(host, problem);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane)).finally(() => resolver.cancel());
  hosts.news.heard();
}

/** What keeps a connection from standing; undefined when it stands. */
async function probe({ base }: Host, resolver: Resolver, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(base);
  const address = await addressOf(hostname, resolver);
  if (address === undefined) return 'its name is not known';
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: address, port: Number(port || (protocol === 'https:' ? 443 : 80)) });
    const end = (problem?: string): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(problem);
    };
    const onAbort = (): void => end('interrupted');
    const timer = setTimeout(() => end('no connection in time'), connectMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.on('connect', () => end());
    socket.on('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' ? 'refused' : error.message),
    );
  });
}

async function addressOf(hostname: string, resolver: Resolver): Promise<string | undefined> {
  const plain = bareHost(hostname);
  if (isIP(plain) !== 0 || plain === 'localhost') return plain;
  const found = Promise.any([resolver.resolve4(plain), resolver.resolve6(plain)]).catch(() => []);
  const [address] = await Promise.race([found, sleep(lookupMs, [] as string[], { ref: false })]);
  return address;
}
