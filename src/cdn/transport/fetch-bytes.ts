import { eitherSignal } from '../../core/breathe.ts';
import { concatBytes } from '../../core/bytes.ts';
import { abortError, codeOf, PakratError } from '../../core/errors.ts';
import type { HttpGetter } from './http.ts';
import { redactUrl, statusError, wrongAnswer } from './http-head.ts';

interface FetchBytesOptions {
  /** Largest body believed. */
  maxSize: number;
  signal?: AbortSignal | undefined;
  /** Called with the bytes of each piece; gives back milliseconds to wait before the next. */
  onPiece?: ((bytes: number) => number) | undefined;
}

/**
 * The body of a URL, whole and in memory. Only status 200 is an answer.
 * @throws E_NETWORK_STATUS, E_NETWORK_TIMEOUT, E_NETWORK_RANGE for a body that is too large or not of the length promised, E_NETWORK, E_ABORTED
 */
export async function fetchBytes(http: HttpGetter, url: string, options: FetchBytesOptions): Promise<Uint8Array> {
  const { maxSize, signal, onPiece } = options;
  const pieces: Uint8Array[] = [];
  /** Where the size is promised, all that the body takes: pieces would have to be put into another piece of memory at the end. */
  let whole: Buffer | undefined;
  let size = 0;
  let promised: number | undefined;
  await http.get({
    url,
    signal,
    onHead(head) {
      if (head.status !== 200) throw statusError(head, url);
      const length = head.headers['content-length'];
      promised = length === undefined ? undefined : Number(length);
      if (promised === undefined) return;
      if (promised > maxSize) throw wrongAnswer(url, `${promised} bytes, over ${maxSize}`, { tooLarge: true });
      whole = Buffer.allocUnsafeSlow(promised);
    },
    onData(piece) {
      if (size + piece.length > maxSize) throw wrongAnswer(url, `more than ${maxSize} bytes`, { tooLarge: true });
      if (whole === undefined) pieces.push(Buffer.from(piece));
      else piece.copy(whole, size);
      size += piece.length;
      return onPiece?.(piece.length);
    },
  });
  if (promised !== undefined && size !== promised) throw wrongAnswer(url, `${size} bytes came of ${promised}`);
  return whole ?? concatBytes(pieces);
}

/** As {@link fetchBytes}, within `timeoutMs` from the first look-up of the name to the last byte. */
export async function fetchBytesWithin(
  timeoutMs: number,
  http: HttpGetter,
  url: string,
  { signal, ...options }: FetchBytesOptions,
): Promise<Uint8Array> {
  if (signal?.aborted) throw abortError();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const either = eitherSignal(timeout.signal, signal);
  try {
    const transfer = fetchBytes(http, url, { ...options, signal: either });
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

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(abortError()), { once: true }));
}
