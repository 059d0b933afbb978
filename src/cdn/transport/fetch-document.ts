import { pause } from '../../core/breathe.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import { gotSomewhere } from './crawl-watch.ts';
import type { HttpGetter } from './http.ts';
import { type HttpHead, parseContentRange, redactUrl, statusError, wrongAnswer } from './http-head.ts';

/** The names that a server has for a version of a document. */
export interface Validators {
  etag?: string | undefined;
  lastModified?: string | undefined;
}

/** Bytes of a document, as they come. Those that are there already are gone on with, where the server allows it. */
export interface DocumentTarget {
  /** Bytes that are there. */
  readonly size: number;
  /** The version that they are of. */
  readonly validators: Validators;
  /** Empties it for another version. */
  begin(validators: Validators): void;
  /** Takes the next bytes. */
  write(piece: Uint8Array): void;
}

/** The limits of a fetch, and who hears of it. */
export interface FetchDocumentOptions {
  /** The version that need not be sent again. */
  known: Validators;
  /** Largest body believed. */
  maxSize: number;
  /** Tries that get nowhere. */
  attempts: number;
  signal?: AbortSignal | undefined;
  /** Throws to refuse the answer. */
  onHead?: ((head: HttpHead) => void) | undefined;
  /** Told how many bytes are there, and how many there will be (0: not known). */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

const maxRedirects = 5;
/** A server that asks for more patience than this is given up. */
const longestWaitMs = 30_000;

/**
 * Brings the body of a URL into `target`: gone on with where it was cut, tried again where the network fails, redirects followed.
 * @returns false when the server says that it is still the `known` version
 * @throws E_NETWORK…, E_ABORTED; what came until then stays in the target
 */
export async function fetchDocument(
  http: HttpGetter,
  url: string,
  target: DocumentTarget,
  options: FetchDocumentOptions,
): Promise<boolean> {
  let most = target.size;
  for (let attempt = 1; ; attempt++) {
    const begun = performance.now();
    try {
      return await fetchOnce(http, url, target, options);
    } catch (error) {
      if (gotSomewhere(target.size - most, performance.now() - begun)) attempt = 0;
      most = Math.max(most, target.size);
      const wait = waitMs(error, attempt);
      if (attempt >= options.attempts || !isPassing(error) || wait > longestWaitMs) throw error;
      await pause(wait, options.signal);
    }
  }
}

function isPassing(error: unknown): boolean {
  if (!isPakratError(error)) return false;
  const { status } = error.data;
  if (error.code === 'E_NETWORK_STATUS') return status === 429 || status === 416 || Number(status) >= 500;
  return error.code === 'E_NETWORK' || error.code === 'E_NETWORK_TIMEOUT';
}

function waitMs(error: unknown, attempt: number): number {
  const { retryAfter } = isPakratError(error) ? error.data : {};
  return typeof retryAfter === 'number' ? retryAfter : 200 * 2 ** Math.min(attempt, 6);
}

async function fetchOnce(
  http: HttpGetter,
  start: string,
  target: DocumentTarget,
  options: FetchDocumentOptions,
): Promise<boolean> {
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const answer = await ask(http, url, target, options);
    if (answer.status === 304) {
      const { etag, lastModified } = options.known;
      if (etag === undefined && lastModified === undefined) throw statusError(answer, url);
      return false;
    }
    if (answer.status < 300 || answer.status === 416) return true;
    url = redirectTarget(url, answer);
  }
  throw new PakratError('E_NETWORK_STATUS', `${redactUrl(start)}: more than ${maxRedirects} redirects`, {
    data: { url: redactUrl(start) },
  });
}

/** One request. @returns the head of an answer that is the body, all there is, nothing new, or a redirect */
async function ask(
  http: HttpGetter,
  url: string,
  target: DocumentTarget,
  options: FetchDocumentOptions,
): Promise<HttpHead> {
  let seen: HttpHead = { status: 0, headers: {} };
  let end = 0;
  const { signal, maxSize } = options;
  await http.get({
    url,
    signal,
    headers: conditions(target, options.known),
    onHead(head) {
      seen = head;
      if (head.status === 304 || isRedirect(head) || isWhole(head, target)) return;
      options.onHead?.(head);
      end = bodyEnd(head, target, url);
      if (end > maxSize) throw wrongAnswer(url, `more than ${maxSize} bytes`);
    },
    onData(piece) {
      if (seen.status !== 200 && seen.status !== 206) return undefined;
      if (target.size + piece.length > maxSize) throw wrongAnswer(url, `more than ${maxSize} bytes`);
      target.write(piece);
      options.onProgress?.(target.size, end);
      return undefined;
    },
  });
  if (end > 0 && target.size !== end) {
    throw new PakratError('E_NETWORK', `${redactUrl(url)}: ${target.size} bytes came of ${end}`);
  }
  return seen;
}

/** Headers that make the server send only what is new. A weak tag is no promise that bytes go on where others stopped. */
function conditions({ size, validators }: DocumentTarget, known: Validators): Record<string, string> {
  const { etag, lastModified } = validators;
  const same = etag !== undefined && !etag.startsWith('W/') ? etag : lastModified;
  if (size > 0 && same !== undefined) return { range: `bytes=${size}-`, 'if-range': same };
  return {
    ...(known.etag !== undefined && { 'if-none-match': known.etag }),
    ...(known.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
  };
}

/** True when the server has nothing behind what is there: it was all of it. */
function isWhole({ status, headers }: HttpHead, { size }: DocumentTarget): boolean {
  return status === 416 && size > 0 && headers['content-range'] === `bytes */${size}`;
}

/** Makes the target ready for a body. @returns the size that it will have then, 0 when nothing tells */
function bodyEnd(head: HttpHead, target: DocumentTarget, url: string): number {
  const { headers, status } = head;
  if (status === 416) target.begin({});
  if (status !== 200 && status !== 206) throw statusError(head, url);
  const { 'content-encoding': coding = 'identity', 'content-length': length } = headers;
  if (coding !== 'identity') throw wrongAnswer(url, `sent with Content-Encoding ${coding}`);
  if (status === 200) {
    target.begin({ etag: headers.etag, lastModified: headers['last-modified'] });
    return Number(length ?? 0);
  }
  if (headers.etag !== undefined && headers.etag !== target.validators.etag) {
    target.begin({});
    throw new PakratError('E_NETWORK', `${redactUrl(url)}: sent a part of another version`);
  }
  const range = parseContentRange(headers['content-range']);
  if (range?.start !== target.size || range.end !== range.total) {
    throw wrongAnswer(url, `wrong Content-Range ${headers['content-range']}, asked ${target.size}-`);
  }
  return range.total;
}

function isRedirect({ status, headers }: HttpHead): boolean {
  return [301, 302, 303, 307, 308].includes(status) && headers.location !== undefined;
}

/** @throws E_NETWORK_STATUS for a target that is no URL, or less secure */
function redirectTarget(url: string, { headers: { location = '' } }: HttpHead): string {
  const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
  if (target?.protocol === 'https:' || (target?.protocol === 'http:' && url.startsWith('http:'))) return target.href;
  const data = { url: redactUrl(url), location: redactUrl(location) };
  throw new PakratError('E_NETWORK_STATUS', `${data.url}: redirects to ${data.location}, which is not followed`, {
    data,
  });
}
