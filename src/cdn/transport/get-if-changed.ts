import { PakratError } from '../../core/errors.ts';
import { type GetBytesOptions, getBytes } from './get-bytes.ts';
import type { HttpGetter } from './http.ts';
import { type HttpHead, redactUrl } from './http-head.ts';

/** What a server said to know a version of a document by. */
export interface Validators {
  etag?: string | undefined;
  lastModified?: string | undefined;
}

/** A document, with what to know this version of it by. */
export interface Changed extends Validators {
  bytes: Uint8Array;
}

/**
 * The body of a URL, unless it is still the version that `known` stands for.
 * @returns undefined when the server says that nothing changed
 * @throws as {@link getBytes}; redirects are not followed, but named in the hint
 */
export async function getIfChanged(
  http: HttpGetter,
  url: string,
  options: GetBytesOptions & { known: Validators },
): Promise<Changed | undefined> {
  const { etag, lastModified } = options.known;
  const headers = {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  };
  let head: HttpHead | undefined;
  const onHead = (answer: HttpHead): void => {
    head = answer;
  };
  try {
    const bytes = await getBytes(http, url, { ...options, headers, onHead });
    return { bytes, etag: head?.headers.etag, lastModified: head?.headers['last-modified'] };
  } catch (error) {
    const asked = Object.keys(headers).length > 0;
    if (head?.status === 304 && asked) return undefined;
    if (head !== undefined && head.status > 300 && head.status < 400) throw redirected(url, head, error);
    throw error;
  }
}

function redirected(url: string, { status, headers }: HttpHead, cause: unknown): unknown {
  const { location } = headers;
  if (location === undefined || !URL.canParse(location, url)) return cause;
  const target = redactUrl(new URL(location, url).href);
  return new PakratError('E_NETWORK_STATUS', `${redactUrl(url)}: HTTP status ${status}, it lies elsewhere`, {
    hint: `Redirects are not followed. Give the address that it names, if you trust it: ${target}`,
    data: { url: redactUrl(url), status, location: target },
    cause,
  });
}
