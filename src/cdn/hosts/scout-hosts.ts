import { connect, type Socket } from 'node:net';
import { abortError } from '../../core/errors.ts';
import { type Host, problemOf } from './host-names.ts';
import type { Hosts } from './hosts.ts';

/** Of more names than this it is first looked which are there. */
const many = 8;
/** Connections that are tried at a time, and milliseconds for each once its name is known; and for its name. */
const atOnce = 256;
const connectMs = 1500;
const lookupMs = 5000;

/**
 * Looks which hosts of a long list are there at all, many at a time: asked one after the other, thousands of dead ones would hold up for hours.
 * Those that are not come last. Does nothing for a list as CDNs have it.
 * @throws E_ABORTED
 */
export async function scoutHosts(hosts: Hosts, signal: AbortSignal | undefined): Promise<void> {
  const { size } = hosts.places;
  if (size <= many) return;
  hosts.news.failed(`looking which of ${size} hosts are there`);
  const left = hosts.all.filter((host) => problemOf(host) === undefined).values();
  const lane = async (): Promise<void> => {
    for (const host of left) {
      if (signal?.aborted) throw abortError();
      const problem = await probe(host, signal);
      if (problem !== undefined) hosts.unreachable(host, problem);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  hosts.news.heard();
}

/** What keeps a connection from standing; undefined when it stands. */
function probe({ base }: Host, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(base);
  return new Promise((resolve) => {
    // IPv6 addresses carry brackets in a URL, and none where a socket is opened.
    const socket: Socket = connect({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    });
    const end = (problem?: string): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(problem);
    };
    const onAbort = (): void => end('interrupted');
    let timer = setTimeout(() => end('its name is not known in time'), lookupMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.on('lookup', () => {
      clearTimeout(timer);
      timer = setTimeout(() => end('no connection in time'), connectMs);
    });
    socket.on('connect', () => end());
    socket.on('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' ? 'refused' : error.message),
    );
  });
}
