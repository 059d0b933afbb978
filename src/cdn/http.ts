import { Agent, type Dispatcher } from 'undici';
import { codeOf, messageOf, PakratError } from '../core/errors.ts';

/** Limits of a transfer, in milliseconds. */
export interface HttpLimits {
  /** Until a connection stands. */
  connectMs: number;
  /** Until the head of an answer is there, and between two pieces of its body. */
  idleMs: number;
  /** Connections to one host at a time. */
  connections: number;
}

/** The head of an answer. */
export interface HttpHead {
  status: number;
  /** Lower-case names; of a repeated header the first value. */
  headers: Record<string, string>;
}

/** One GET. */
export interface HttpRequest {
  url: string;
  /** Asks for bytes [start, end) of the object. */
  range?: { start: number; end: number } | undefined;
  signal?: AbortSignal | undefined;
  /** Looks at the head before any of the body is taken; throws to refuse the answer. */
  onHead: (head: HttpHead) => void;
  /** Takes a piece of the body, at once. May throw to end the transfer; may give back milliseconds to wait before the next piece. */
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
      connect: { timeout: limits.connectMs, maxCachedSessions: 100 },
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
      let onAbort: (() => void) | undefined;
      const settle = (error?: unknown): void => {
        if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
        if (error === undefined) resolve();
        else reject(networkError(error, request.url));
      };
      if (signal?.aborted) return settle(abortError());
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(controller) {
          onAbort = () => controller.abort(abortError());
          signal?.addEventListener('abort', onAbort, { once: true });
        },
        onResponseStart(controller, status, headers) {
          if (status < 200) return;
          attempt(controller, () => request.onHead({ status, headers: flatHeaders(headers) }));
        },
        onResponseData(controller, piece) {
          const wait = attempt(controller, () => request.onData(piece));
          if (wait !== undefined && wait > 0) {
            controller.pause();
            setTimeout(() => controller.resume(), wait);
          }
        },
        onResponseEnd: () => settle(),
        onResponseError: (_controller, error) => settle(error),
      };
      const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'pakrat' };
      if (request.range !== undefined) headers.range = `bytes=${request.range.start}-${request.range.end - 1}`;
      this.#agent.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'GET', headers }, handler);
    });
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

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

/** The error of an interrupted transfer. */
export function abortError(): PakratError {
  return new PakratError('E_ABORTED', 'interrupted', { hint: 'Run the same command again to go on.' });
}

/** A URL as it may be shown: without name and password. */
export function redactUrl(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//');
}

function networkError(error: unknown, url: string): unknown {
  const code = codeOf(error) ?? '';
  if (code.startsWith('E_') || code === 'ENOSPC') return error;
  const shown = redactUrl(url);
  const options = { cause: error, data: { url: shown, reason: code } };
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return new PakratError('E_NETWORK_TIMEOUT', `${shown}: no answer in time`, options);
  if (code.startsWith('E') || code.startsWith('UND_') || code.startsWith('HPE_')) {
    return new PakratError('E_NETWORK', `${shown}: ${messageOf(error) || code}`, options);
  }
  return error;
}

/** What a `Content-Range` says, or undefined when it is absent or not a single byte range with its total. */
export function parseContentRange(value: string | undefined): { start: number; end: number; total: number } | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(value ?? '');
  if (match === null) return undefined;
  const [start, last, total] = match.slice(1).map(Number) as [number, number, number];
  return last >= start && last < total ? { start, end: last + 1, total } : undefined;
}

/**
 * Demands that a head is the answer to a range request: 206, exactly the range asked, a fitting length.
 * @returns where the body starts in the object: `range.start`; 0 when a whole object was sent and `allowWhole`
 * @throws E_NETWORK_STATUS for another status, E_NETWORK_RANGE for a range that was not asked
 */
export function checkRangeHead(head: HttpHead, range: { start: number; end: number }, options: { url: string; allowWhole?: boolean }): number {
  const { url } = options;
  const length = head.headers['content-length'];
  if (head.headers['content-encoding'] !== undefined && head.headers['content-encoding'] !== 'identity') {
    throw refuse('E_NETWORK_RANGE', url, `sent with Content-Encoding ${head.headers['content-encoding']}`);
  }
  if (head.status === 200) {
    const whole = range.start === 0 && length === String(range.end);
    if (whole || options.allowWhole) return 0;
    throw refuse('E_NETWORK_RANGE', url, 'answered the whole object where a range was asked');
  }
  if (head.status !== 206) throw statusError(head, url);
  const sent = parseContentRange(head.headers['content-range']);
  if (sent === undefined || sent.start !== range.start || sent.end !== range.end) {
    const found = head.headers['content-range'] ?? 'none';
    throw refuse('E_NETWORK_RANGE', url, `wrong Content-Range ${found}, asked ${range.start}-${range.end - 1}`);
  }
  if (length !== undefined && length !== String(range.end - range.start)) {
    throw refuse('E_NETWORK_RANGE', url, `Content-Length ${length} for ${range.end - range.start} bytes`);
  }
  return range.start;
}

/** The error for a status that is not the one wanted; `data.retryAfter` in milliseconds when the host named a time. */
export function statusError(head: HttpHead, url: string): PakratError {
  const shown = redactUrl(url);
  const data = { url: shown, status: head.status, retryAfter: retryAfterMs(head.headers['retry-after']) };
  return new PakratError('E_NETWORK_STATUS', `${shown}: HTTP status ${head.status}`, { data });
}

function refuse(code: 'E_NETWORK_RANGE', url: string, problem: string): PakratError {
  return new PakratError(code, `${redactUrl(url)}: ${problem}`, { data: { url: redactUrl(url) } });
}

/** `Retry-After` (seconds or a date) in milliseconds, at most a minute; undefined when absent or unreadable. */
export function retryAfterMs(value: string | undefined, now = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 60_000) : undefined;
}
