import { BlockList, isIP, type Socket } from 'node:net';
import { PakratError } from '../../core/errors.ts';
import { bareHost, hostAndPort } from './host-text.ts';

/*
 * Proxies as the environment names them for curl, git and npm. What is asked for by http goes to the proxy as a whole URL (RFC 9112, 3.2.2), and what
 * is asked for by https through a tunnel (RFC 9110, 9.3.6), so that nobody between sees it.
 */

/** Which proxies are asked, and for whom none is. Any may be absent or empty. */
export interface ProxySettings {
  /** URL of the proxy for hosts asked by http, with name and password where it wants them; `http://` may be left out. */
  httpProxy?: string | undefined;
  /** The same for hosts asked by https. */
  httpsProxy?: string | undefined;
  /** Hosts that are asked themselves, with commas or spaces between: names with all below them, addresses, networks as `10.0.0.0/8`, each with a port or without; `*` for all. */
  noProxy?: string | undefined;
}

/** Finds the proxy for a host. */
export class Proxies {
  readonly #http: URL | undefined;
  readonly #https: URL | undefined;
  readonly #exempt: ((host: string, port: string) => boolean)[];

  /** @throws E_USAGE for a proxy that is not asked by http, as one of SOCKS */
  constructor({ httpProxy, httpsProxy, noProxy = '' }: ProxySettings) {
    this.#http = proxyUrl(httpProxy);
    this.#https = proxyUrl(httpsProxy);
    this.#exempt = noProxy
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(exemption);
  }

  /** The proxy to ask for a URL; undefined where its host is asked itself: always for this machine. */
  of({ protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>): URL | undefined {
    const isHttps = protocol === 'https:';
    const proxy = isHttps ? this.#https : this.#http;
    if (proxy === undefined) return undefined;
    const host = bareHost(hostname).toLowerCase();
    const isOwn =
      thisMachine(host) || this.#exempt.some((isExempt) => isExempt(host, port || (isHttps ? '443' : '80')));
    return isOwn ? undefined : proxy;
  }
}

/** The header with which a proxy is told who asks, where its URL says that. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return { 'proxy-authorization': `Basic ${login}` };
}

/**
 * A connection to a host through a proxy.
 * @param to host without brackets, and port; an empty one is that of https
 * @throws E_NETWORK when the proxy refuses, or errors of the system
 */
export async function openTunnel(
  proxy: URL,
  to: { hostname: string; port: string },
  timeoutMs: number,
): Promise<Socket> {
  // Loaded when it is needed.
  const { request } = await import('node:http');
  const target = hostAndPort(to.hostname, to.port || '443');
  const headers = { host: target, ...proxyAuthorization(proxy) };
  return new Promise((resolve, reject) => {
    const { hostname, port } = proxy;
    const asked = request({ method: 'CONNECT', host: bareHost(hostname), port, path: target, headers, agent: false });
    const late = Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => asked.destroy(late), timeoutMs);
    asked.on('close', () => clearTimeout(timer));
    asked.on('error', reject);
    asked.on('connect', ({ statusCode = 0 }, socket) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket as Socket);
      socket.destroy();
      reject(refusal(proxy, target, statusCode));
    });
    asked.end();
  });
}

function refusal({ origin }: URL, target: string, status: number): PakratError {
  return new PakratError('E_NETWORK', `${target}: the proxy ${origin} answered with status ${status}`, {
    data: { url: target, unreachable: true },
  });
}

function proxyUrl(given: string | undefined): URL | undefined {
  if (given === undefined || given === '') return undefined;
  const written = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  try {
    const url = new URL(written);
    // What stands for no character is no name and no password.
    proxyAuthorization(url);
    if (url.protocol === 'http:') return url;
  } catch {
    // No URL.
  }
  // It may have a password in it, and is not shown.
  throw new PakratError('E_USAGE', 'the proxy that is set is no http:// URL', {
    hint: '`pakrat config` tells where: network.httpProxy and network.httpsProxy are those of http_proxy and https_proxy.',
  });
}

function thisMachine(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}

/** What one word of `noProxy` says of a host. */
function exemption(word: string): (host: string, port: string) => boolean {
  if (word === '*') return () => true;
  const [, network = '', bits] = /^([\d.:a-f]+)\/(\d{1,3})$/.exec(word) ?? [];
  if (isIP(network) !== 0) return inNetwork(network, Number(bits));
  const [, name = word, ownPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(word) ?? [];
  const plain = bareHost(name.replace(/^\*?\./, ''));
  return (host, port) => (ownPort === undefined || ownPort === port) && (host === plain || host.endsWith(`.${plain}`));
}

function inNetwork(network: string, bits: number): (host: string) => boolean {
  const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
  const list = new BlockList();
  if (bits <= (isIP(network) === 4 ? 32 : 128)) list.addSubnet(network, bits, family(network));
  return (host) => isIP(host) !== 0 && list.check(host, family(host));
}
