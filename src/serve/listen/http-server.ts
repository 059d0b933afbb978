import * as http from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from './limits.ts';

/** A request that has ended, well or not. */
export interface Exchange {
  request: http.IncomingMessage;
  response: http.ServerResponse;
  /** The URL as it was asked. */
  url: string;
  /** Of the client: one that is gone has none any more. */
  address: string;
  /** Of the answer; 499, as nginx calls it, where the client went before there was one. */
  status: number;
  /** Bytes that were given to the connection meanwhile, with the head of the answer. */
  sent: number;
  ms: number;
}

/** What an HTTP server is told of its work. */
export interface HttpListeners {
  onBegin: (socket: Socket) => void;
  onEnd: (exchange: Exchange) => void;
  /** True for a connection on which an answer is on its way: nothing else can be said there. */
  isBusy: (socket: Socket) => boolean;
  /** A request was refused before it was one. */
  onRefused: (socket: Socket, status: number) => void;
}

/** Makes an HTTP server that reads requests strictly and within limits, and answers what breaks them with a short text. */
export function makeHttpServer(handler: http.RequestListener, limits: Limits, listeners: HttpListeners): http.Server {
  const server = http.createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.max(10, limits.requestMs / 10),
    insecureHTTPParser: false,
    noDelay: true,
  });
  const asked = new WeakMap<Socket, number>();
  // Those too many are refused below, rather than left out of sight.
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => {
    const { socket, url = '' } = request;
    const { remoteAddress: address = '' } = socket;
    const [began, written] = [performance.now(), socket.bytesWritten];
    listeners.onBegin(socket);
    response.once('close', () => {
      const sent = socket.bytesWritten - written;
      const status = response.headersSent ? response.statusCode : 499;
      listeners.onEnd({ request, response, url, address, status, sent, ms: performance.now() - began });
    });
    const count = (asked.get(socket) ?? 0) + 1;
    asked.set(socket, count);
    if (count >= limits.requests) response.shouldKeepAlive = false;
    const status = refusal(request, limits);
    if (status === undefined) handler(request, response);
    else refuse(response, status);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = statusOfError(error);
    if (!socket.writable || listeners.isBusy(socket as Socket) || error.code === 'ECONNRESET') socket.destroy();
    else socket.end(shortAnswer(status), () => socket.destroy());
    listeners.onRefused(socket as Socket, status);
  });
  return server;
}

/** The status for a request that is not looked at; undefined for one that is. */
function refusal(
  { method = '', url = '', headers, rawHeaders }: http.IncomingMessage,
  limits: Limits,
): number | undefined {
  if (url.length > limits.urlLength) return 414;
  if (rawHeaders.length > 2 * limits.headers) return 431;
  if (!isPath(pathOf(url))) return 400;
  // Nothing here is written to, so nothing reads a body: one could only be the beginning of another request.
  if (method !== 'GET' && method !== 'HEAD') return 405;
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0) return 413;
  return undefined;
}

/** The path of a request, with its query. A proxy's form of a request names the host, too, which says nothing here. */
export function pathOf(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*(?=[/?#]|$)/i, '') || '/';
}

function isPath(path: string): boolean {
  if (!path.startsWith('/')) return false;
  if (!path.includes('%')) return true;
  try {
    return decodeURI(path) !== '';
  } catch {
    return false;
  }
}

function refuse(response: http.ServerResponse, status: number): void {
  const text = textOf(status);
  if (status === 405) response.setHeader('Allow', 'GET, HEAD');
  // What else comes on this connection is not looked at.
  response.setHeader('Content-Length', text.length);
  response.writeHead(status, { Connection: 'close', 'Content-Type': 'text/plain' });
  response.end(text);
}

function shortAnswer(status: number): string {
  const text = textOf(status);
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain`;
  return `${head}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** The text of an answer that is nothing but its status. */
export function textOf(status: number): string {
  return `${status} ${http.STATUS_CODES[status] ?? ''}\n`;
}

function statusOfError({ code }: NodeJS.ErrnoException): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}
