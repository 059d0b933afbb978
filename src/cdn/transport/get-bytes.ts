import { concatBytes } from '../../core/bytes.ts';
import { abortError, codeOf, PakratError } from '../../core/errors.ts';
import type { HttpGetter } from './http.ts';
import { type HttpHead, redactUrl, statusError } from './http-head.ts';

/** Limits of a download into memory. */
export interface GetBytesOptions {
  /** Largest body believed. */
  maxSize: number;
  /** Milliseconds for the whole of it, from the first look-up of the name to the last byte. */
  timeoutMs: number;
  /** Sent along; lower-case names. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Shown the head of the answer, before it is judged. */
  onHead?: ((head: HttpHead) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The body of a URL, whole and in memory. Only status 200 is an answer.
 * @throws E_NETWORK_STATUS, E_NETWORK_TIMEOUT, E_NETWORK_RANGE for a body that is too large or not of the length promised, E_NETWORK, E_ABORTED
 */
export async function getBytes(http: HttpGetter, url: string, options: GetBytesOptions): Promise<Uint8Array> {
  const { signal, timeoutMs } = options;
  if (signal?.aborted) throw abortError();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const either = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
  try {
    const transfer = receive(http, url, { ...options, signal: either });
    // The client looks at the signal once a connection stands; a host that never answers must not hold us longer than asked.
    return await Promise.race([transfer, rejectOnAbort(either)]);
  } catch (error) {
    if (codeOf(error) !== 'E_ABORTED' || signal?.aborted) throw error;
    const shown = redactUrl(url);
    throw new PakratError('E_NETWORK_TIMEOUT', `${shown}: no answer within ${timeoutMs} ms`, { data: { url: shown } });
  } finally {
    clearTimeout(timer);
  }
}

async function receive(
  http: HttpGetter,
  url: string,
  options: Omit<GetBytesOptions, 'timeoutMs'> & { signal: AbortSignal },
): Promise<Uint8Array> {
  const { maxSize, signal, headers } = options;
  const pieces: Uint8Array[] = [];
  let size = 0;
  let promised: number | undefined;
  await http.get({
    url,
    headers,
    signal,
    onHead(head) {
      options.onHead?.(head);
      if (head.status !== 200) throw statusError(head, url);
      const length = head.headers['content-length'];
      promised = length === undefined ? undefined : Number(length);
      if (promised !== undefined && promised > maxSize) throw wrongSize(url, `${promised} bytes, over ${maxSize}`);
    },
    onData(piece) {
      size += piece.length;
      if (size > maxSize) throw wrongSize(url, `more than ${maxSize} bytes`);
      pieces.push(Buffer.from(piece));
      return undefined;
    },
  });
  if (promised !== undefined && size !== promised) throw wrongSize(url, `${size} bytes came of ${promised}`);
  return concatBytes(pieces);
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(abortError());
    else signal.addEventListener('abort', () => reject(abortError()), { once: true });
  });
}

function wrongSize(url: string, problem: string): PakratError {
  const shown = redactUrl(url);
  return new PakratError('E_NETWORK_RANGE', `${shown}: ${problem}`, { data: { url: shown } });
}
