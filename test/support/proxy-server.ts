import * as http from 'node:http';
import { connect } from 'node:net';
import { type Loopback, listening } from './loopback.ts';

/** A proxy for names that nobody else knows: each leads to this machine. */
export interface ProxyServer extends Loopback {
  /** What it was asked for: whole URLs, and `CONNECT host:port`. */
  asked: string[];
}

/** @param login `name:password` that it wants to hear */
export function proxyServer(login?: string): Promise<ProxyServer> {
  const asked: string[] = [];
  const known = login && `Basic ${Buffer.from(login).toString('base64')}`;
  const isKnown = ({ headers }: http.IncomingMessage): boolean => headers['proxy-authorization'] === known;
  const server = http.createServer((request, response) => {
    const { url = '', headers } = request;
    asked.push(url);
    if (!isKnown(request)) return response.writeHead(407).end();
    const { port, pathname, search } = new URL(url);
    const { 'proxy-authorization': _, ...passed } = headers;
    const target = { host: '127.0.0.1', port, path: pathname + search, headers: passed };
    const passing = http.get(target, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passing.on('error', () => response.destroy());
  });
  server.on('connect', (request: http.IncomingMessage, socket) => {
    const { url = '' } = request;
    asked.push(`CONNECT ${url}`);
    socket.on('error', () => {});
    if (!isKnown(request)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const far = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    far.on('error', () => socket.destroy());
  });
  return listening(server, () => server.closeAllConnections()).then((loopback) => ({ ...loopback, asked }));
}
