import { type ErrorData, isPakratError, messageOf, PakratError } from '../../core/errors.ts';

/* The head of an answer, and whether to believe it. Apart from the client, so that reading what is held loads no HTTP. */

/** The head of an answer. */
export interface HttpHead {
  status: number;
  /** Lower-case names; of a repeated header the first value. */
  headers: Record<string, string>;
}

/** A URL as it may be shown: without name and password. */
export function redactUrl(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//');
}

/** What a host got wrong in a few words, without the URL. */
export function reasonOf(error: unknown): string {
  const { reason, url } = isPakratError(error) ? error.data : {};
  const message = messageOf(error);
  if (reason === 'ECONNREFUSED') return 'refused';
  return typeof url === 'string' && message.startsWith(`${url}: `) ? message.slice(url.length + 2) : message;
}

/** The range of a `Content-Range`; undefined when it is absent or not a single byte range with its total. */
export function parseContentRange(
  value: string | undefined,
): { start: number; end: number; total: number } | undefined {
  const [, ...parts] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(value ?? '') ?? [];
  const [start = 0, last = 0, total = 0] = parts.map(Number);
  return last >= start && last < total ? { start, end: last + 1, total } : undefined;
}

/**
 * Demands that a head is the answer to a range request: 206, exactly the range asked, a fitting length.
 * @returns where the body starts in the object: `range.start`; 0 when a whole object was sent and `allowWhole`
 * @throws E_NETWORK_STATUS for another status, E_NETWORK_RANGE for a range that was not asked
 */
export function checkRangeHead(
  head: HttpHead,
  range: { start: number; end: number },
  options: { url: string; allowWhole?: boolean },
): number {
  const { url } = options;
  const length = head.headers['content-length'];
  if (head.headers['content-encoding'] !== undefined && head.headers['content-encoding'] !== 'identity') {
    throw wrongAnswer(url, `sent with Content-Encoding ${head.headers['content-encoding']}`);
  }
  if (head.status === 200) {
    const whole = range.start === 0 && length === String(range.end);
    if (whole || options.allowWhole) return 0;
    // A page about an error or a block is no host that knows no ranges: the object is at least as long as the range reaches.
    const isObject = !(Number(length) < range.end) && !/^text\/html\b/i.test(head.headers['content-type'] ?? '');
    if (!isObject) throw wrongAnswer(url, 'answered something else with status 200');
    throw wrongAnswer(url, 'answered the whole object where a range was asked', { ignoredRange: true });
  }
  if (head.status !== 206) throw statusError(head, url);
  const sent = parseContentRange(head.headers['content-range']);
  if (sent === undefined || sent.start !== range.start || sent.end !== range.end) {
    const found = head.headers['content-range'] ?? 'none';
    throw wrongAnswer(url, `wrong Content-Range ${found}, asked ${range.start}-${range.end - 1}`);
  }
  if (length !== undefined && length !== String(range.end - range.start)) {
    throw wrongAnswer(url, `Content-Length ${length} for ${range.end - range.start} bytes`);
  }
  return range.start;
}

/** The error for a status that is not the one wanted; `data.retryAfter` in milliseconds when the host named a time. */
export function statusError(head: HttpHead, url: string): PakratError {
  const shown = redactUrl(url);
  const retryAfter = retryAfterMs(head.headers['retry-after']);
  const asks = retryAfter === undefined || retryAfter === 0 ? '' : `, asks to wait ${Math.ceil(retryAfter / 1000)} s`;
  const data = { url: shown, status: head.status, retryAfter };
  return new PakratError('E_NETWORK_STATUS', `${shown}: HTTP status ${head.status}${asks}`, { data });
}

/** The error for an answer that is not the one to what was asked. */
export function wrongAnswer(url: string, problem: string, data: ErrorData = {}): PakratError {
  const shown = redactUrl(url);
  return new PakratError('E_NETWORK_RANGE', `${shown}: ${problem}`, { data: { url: shown, ...data } });
}

/** `Retry-After` (seconds or a date) in milliseconds, at most an hour; undefined when absent or unreadable. */
export function retryAfterMs(value: string | undefined, now = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 3_600_000) : undefined;
}
