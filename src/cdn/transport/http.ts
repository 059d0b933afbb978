import type { Dispatcher } from 'undici';
// The agent alone: the whole of undici takes twice as long to load, in every thread, and four times the heap to collect.
import Agent from 'undici/lib/dispatcher/agent.js';
import { abortError, codeOf, messageOf, PakratError } from '../../core/errors.ts';
import { type HttpHead, redactUrl } from './http-head.ts';
import { bufferedConnector } from './read-buffer.ts';

/** Limits of a transfer, in milliseconds. */
export interface HttpLimits {
  /** Until a connection stands. */
  connectMs: number;
  /** Until the head of an answer is there, and between two pieces of its body. */
  idleMs: number;
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

  constructor(limits: HttpLimits) {
    this.#agent = new Agent({
      connect: bufferedConnector({ timeout: limits.connectMs }),
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
   * @throws E_NETWORK_TIMEOUT, E_NETWORK (refused, reset, cut short, bad HTTP), E_ABORTED by the signal, or what a callback threw
   */
  get(request: HttpRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      const url = new URL(request.url);
      let controller: Dispatcher.DispatchController | undefined;
      let rest: NodeJS.Timeout | undefined;
      const end = (error?: unknown): void => {
        clearTimeout(rest);
        signal?.removeEventListener('abort', onAbort);
        if (error === undefined) resolve();
        else reject(networkError(error, request.url));
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
          if (signal?.aborted) started.abort(abortError());
        },
        onResponseStart(started, status, headers) {
          if (status < 200) return;
          attempt(started, () => request.onHead({ status, headers: flatHeaders(headers) }));
        },
        onResponseData(started, piece) {
          const wait = attempt(started, () => request.onData(piece));
          if (wait !== undefined && wait > 0) {
            started.pause();
            rest = setTimeout(() => started.resume(), wait);
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
      this.#agent.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'GET', headers }, handler);
    });
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** The client, or something that makes one when it is first needed. */
export type HttpGetter = Pick<HttpClient, 'get'>;

function attempt<Value>(controller: Dispatcher.DispatchController, body: () => Value): Value | undefined {
  if (controller.aborted) return undefined;
  try {
    return body();
  } catch (error) {
    controller.abort(error as Error);
    return undefined;
  }
}

function flatHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) flat[name.toLowerCase()] = first;
  }
  return flat;
}

function networkError(error: unknown, url: string): unknown {
  const code = codeOf(error) ?? '';
  if (code.startsWith('E_') || code === 'ENOSPC') return error;
  const shown = redactUrl(url);
  const options = { cause: error, data: { url: shown, reason: code } };
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new PakratError('E_NETWORK_TIMEOUT', `${shown}: no answer in time`, options);
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || code.includes('CERT')) {
    return new PakratError('E_NETWORK', `${shown}: no secure connection (${code})`, options);
  }
  // An answer that is no HTTP at all has a name, and not always a code.
  const isNoHttp = (error as { name?: unknown } | null)?.name === 'HTTPParserError';
  if (code.startsWith('E') || code.startsWith('UND_') || isNoHttp) {
    return new PakratError('E_NETWORK', `${shown}: ${messageOf(error) || code}`, options);
  }
  return error;
}
