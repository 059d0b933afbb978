/* IPv6 addresses carry brackets in a URL, and none where a socket is opened. */

/** The host of a URL as a socket is opened to it. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** `host:port`, as a URL has it. */
export function hostAndPort(host: string, port: number | string): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
