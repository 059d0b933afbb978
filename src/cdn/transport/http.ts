import type { Dispatcher } from 'undici';
// The agent alone: the whole of undici takes twice as long to load, in every thread, and four times the heap to collect.
import Agent from 'undici/lib/dispatcher/agent.js';
import { abortError, codeOf, type ErrorData, isPakratError, messageOf, PakratError } from '../../core/errors.ts';
import { type CrawlLimits, CrawlWatch, Pace } from './crawl-watch.ts';
import { type HttpHead, redactUrl } from './http-head.ts';
import { Proxies, type ProxySettings, proxyAuthorization } from './proxies.ts';
import { bufferedConnector } from './read-buffer.ts';

/** Limits of a transfer, in milliseconds, and the way that it takes. */
export interface HttpLimits extends CrawlLimits, ProxySettings {
  /** Until a connection stands. */
  connectMs: number;
  /** Connections to one host at a time. */
  connections: number;
}

/** One GET. */
export interface HttpRequest {
  url: string;
  /** Asks for bytes [start, end) of the object. */
  range?: { start: number; end: number } | undefined;
  /** Sent beside the client's own; lower-case names. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** There are others to ask: a body that is far slower than others were is given up. */
  hasAlternatives?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Looks at the head before any of the body is taken; throws to refuse the answer. */
  onHead: (head: HttpHead) => void;
  /**
   * Takes a piece of the body, at once: its bytes are there during the call only. May throw to end the transfer; may give back milliseconds
   * to wait before the next piece.
   */
  onData: (piece: Buffer) => number | undefined;
}

/**
 * A strict GET over kept connections, pooled by host. It believes nothing: status, lengths and ranges are for the caller to check
 * in `onHead`, the bytes in `onData`. No redirects, no cookies, no decoding of bodies.
 */
export class HttpClient {
  readonly #agent: Agent;
  readonly #limits: HttpLimits;
  readonly #proxies: Proxies;
  readonly #pace = new Pace();

  /** @throws E_USAGE for a proxy that is none */
  constructor(limits: HttpLimits) {
    this.#limits = limits;
    this.#proxies = new Proxies(limits);
    this.#agent = new Agent({
      connect: bufferedConnector({ timeout: limits.connectMs }, this.#proxies),
      headersTimeout: limits.idleMs,
      bodyTimeout: limits.idleMs,
      connections: limits.connections,
      keepAliveTimeout: 10_000,
      maxHeaderSize: 32 * 1024,
      pipelining: 1,
    });
  }

  /**
   * Runs one GET to its end.
   * @throws E_NETWORK_TIMEOUT (silent, or crawling), E_NETWORK (refused, reset, cut short, no TLS, bad HTTP), E_ABORTED by the signal, or what
   *   a callback threw
   */
  get(request: HttpRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal, hasAlternatives = false } = request;
      const url = new URL(request.url);
      const proxy = this.#proxies.of(url);
      let controller: Dispatcher.DispatchController | undefined;
      let rest: NodeJS.Timeout | undefined;
      let thrown: { error: unknown } | undefined;
      const watch = new CrawlWatch(this.#limits, { pace: this.#pace, hasAlternatives }, (problem) =>
        controller?.abort(timeoutError(request.url, problem)),
      );
      const end = (error?: unknown): void => {
        clearTimeout(rest);
        watch.end(error === undefined);
        signal?.removeEventListener('abort', onAbort);
        if (error === undefined) resolve();
        else reject(thrown === undefined ? networkError(error, request.url, proxy) : thrown.error);
      };
      const attempt = <Value>(body: () => Value): Value | undefined => {
        if (controller?.aborted !== false) return undefined;
        try {
          return body();
        } catch (error) {
          thrown = { error };
          controller.abort(error as Error);
          return undefined;
        }
      };
      // A request that still waits for a connection has no controller: it is let go of here, and refused when its turn comes.
      const onAbort = (): void => {
        if (controller === undefined) end(abortError());
        else controller.abort(abortError());
      };
      if (signal?.aborted) return end(abortError());
      signal?.addEventListener('abort', onAbort, { once: true });
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          controller = started;
          watch.asked();
          if (signal?.aborted) started.abort(abortError());
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200) return;
          watch.answered();
          attempt(() => request.onHead({ status, headers: flatHeaders(headers) }));
        },
        onResponseData(started, piece) {
          watch.count(piece.length);
          const wait = attempt(() => request.onData(piece));
          if (wait !== undefined && wait > 0) {
            started.pause();
            watch.pause();
            rest = setTimeout(() => {
              watch.resume();
              started.resume();
            }, wait);
          }
        },
        onResponseEnd: () => end(),
        onResponseError: (_controller, error) => end(error),
      };
      const headers: Record<string, string> = {
        'accept-encoding': 'identity',
        'user-agent': 'pakrat',
        ...request.headers,
      };
      if (request.range !== undefined) headers.range = `bytes=${request.range.start}-${request.range.end - 1}`;
      const path = url.pathname + url.search;
      const isForwarded = proxy !== undefined && url.protocol === 'http:';
      if (isForwarded) Object.assign(headers, { host: url.host }, proxyAuthorization(proxy));
      const target = isForwarded ? { origin: proxy.origin, path: url.origin + path } : { origin: url.origin, path };
      this.#agent.dispatch({ ...target, method: 'GET', headers }, handler);
    });
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** The client, or something that makes one when it is first needed. */
export type HttpGetter = Pick<HttpClient, 'get'>;

function flatHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) flat[name.toLowerCase()] = first;
  }
  return flat;
}

/** Codes of a connection that never stood. */
const unreachable = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_\w+|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)$/;
/** Codes of sockets and of the client, as against those of TLS and certificates, of which there are many. */
const socketCode = /^(E(?!PROTO$|RR_)[A-Z_]+|UND_\w+)$/;

/** The error of a connection. Whatever it is, it is about the host: `data.unreachable` when there is nobody to speak to at all. */
function networkError(error: unknown, url: string, proxy: URL | undefined): unknown {
  if (isPakratError(error)) return error;
  const code = codeOf(error) ?? '';
  const way = proxy === undefined ? '' : `through the proxy ${proxy.origin}: `;
  const message = way + (messageOf(error) || code);
  // An answer that is no HTTP at all has a name, and not always a code.
  const isNoHttp = (error as { name?: unknown } | null)?.name === 'HTTPParserError';
  const isNoTls = /^https:/i.test(url) && !isNoHttp && (!socketCode.test(code) || / TLS /.test(message));
  const data = { reason: code, ...((isNoTls || unreachable.test(code)) && { unreachable: true }) };
  if (/TIMEOUT|ETIMEDOUT/.test(code)) {
    const isConnecting = code === 'UND_ERR_CONNECT_TIMEOUT';
    const problem = !isConnecting ? 'no answer' : /^https:/i.test(url) ? 'no secure connection' : 'no connection';
    return timeoutError(url, `${way}${problem} in time`, data, error);
  }
  const shown = redactUrl(url);
  const problem = isNoTls ? `no secure connection (${[code, message].filter(Boolean).join(': ')})` : message;
  return new PakratError('E_NETWORK', `${shown}: ${problem}`, { cause: error, data: { url: shown, ...data } });
}

function timeoutError(url: string, problem: string, data: ErrorData = {}, cause?: unknown): PakratError {
  const shown = redactUrl(url);
  return new PakratError('E_NETWORK_TIMEOUT', `${shown}: ${problem}`, { cause, data: { url: shown, ...data } });
}
