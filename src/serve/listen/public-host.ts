import { networkInterfaces } from 'node:os';
import { hostAndPort } from '../../cdn/transport/host-text.ts';
import { PakratError } from '../../core/errors.ts';

/**
 * `host[:port]` under which clients reach a server, as `cdns` names it: never what a request says, for that may come from anybody.
 * Of a server that listens on every address it is one of this machine that others can reach.
 * @param place.host the address that it listens on
 */
export function publicHost({ host, port }: { host: string; port: number }): string {
  return hostAndPort(isEvery(host) ? outerAddress() : host, port);
}

/** True for the addresses that stand for all of a machine. */
export function isEvery(host: string): boolean {
  return ['0.0.0.0', '::', ''].includes(host);
}

function outerAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  // An address of a link alone needs the name of the link beside it.
  const outer = all.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address));
  const found = outer.find(({ family }) => family === 'IPv4') ?? outer[0];
  return found?.address ?? '127.0.0.1';
}

/** @throws E_USAGE for a text that is not `HOST[:PORT]`: a name, an IPv4 address, or an IPv6 address in brackets */
export function checkPublic(text: string): string {
  const isHost = /^([\w-]+(\.[\w-]+)*\.?|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(text);
  if (isHost && URL.canParse(`http://${text}/`)) return text;
  throw new PakratError('E_USAGE', `${JSON.stringify(text)} cannot be the public name of a server`, {
    hint: 'Write HOST or HOST:PORT, without http://; an IPv6 address in brackets.',
  });
}
