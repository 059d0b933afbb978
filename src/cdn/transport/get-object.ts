import { asBuffer, concatBytes } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { askHosts } from './ask-hosts.ts';
import type { HealthKind, Host, Hosts } from './hosts.ts';
import type { HttpGetter } from './http.ts';
import { redactUrl, statusError } from './http-head.ts';
import type { RateLimit } from './rate-limit.ts';

/** What a CDN client is made of. */
export interface Cdn {
  http: HttpGetter;
  hosts: Hosts;
  rate: RateLimit;
  attemptsPerHost: number;
  signal?: AbortSignal | undefined;
  /** Told of every piece of a body: bytes and host. */
  onReceived?: ((bytes: number, host: Host) => void) | undefined;
  /** Told of every request. */
  onRequest?: (() => void) | undefined;
}

/** A small object to be brought whole into memory. */
export interface ObjectRequest {
  /** Path below the host: `tpr/wow/config/aa/bb/<hash>`. */
  path: string;
  kind: HealthKind;
  /** Largest size believed. */
  maxSize: number;
  /** Looks at the bytes; throws E_INTEGRITY or E_FORMAT… when they are not what was asked: the next host is asked then. */
  check: (bytes: Uint8Array) => void;
}

/**
 * Brings one small object from whichever host gives it right.
 * @throws as {@link askHosts}
 */
export function getObject(cdn: Cdn, request: ObjectRequest): Promise<Uint8Array> {
  const { kind, path } = request;
  return askHosts(
    cdn.hosts,
    { kind, what: path, attemptsPerHost: cdn.attemptsPerHost, signal: cdn.signal },
    async (host) => {
      const bytes = await getWhole(cdn, host, request);
      try {
        request.check(bytes);
      } catch (error) {
        throw isPage(bytes) ? answeredPage(`${host.base}/${path}`) : error;
      }
      return bytes;
    },
  );
}

async function getWhole(cdn: Cdn, host: Host, request: ObjectRequest): Promise<Uint8Array> {
  const url = `${host.base}/${request.path}`;
  const pieces: Uint8Array[] = [];
  const { maxSize } = request;
  let size = 0;
  let promised = Number.NaN;
  cdn.onRequest?.();
  await cdn.http.get({
    url,
    signal: cdn.signal,
    onHead(head) {
      if (head.status !== 200) throw statusError(head, url);
      promised = Number(head.headers['content-length'] ?? Number.NaN);
      if (promised > maxSize) throw tooLarge(url, promised, maxSize);
    },
    onData(piece) {
      size += piece.length;
      if (size > maxSize) throw tooLarge(url, size, maxSize);
      cdn.onReceived?.(piece.length, host);
      pieces.push(Buffer.from(piece));
      return cdn.rate.take(piece.length);
    },
  });
  if (!Number.isNaN(promised) && size !== promised) {
    throw new PakratError('E_NETWORK', `${url}: ${size} bytes came of ${promised}`);
  }
  return concatBytes(pieces);
}

/** Pages about a block or a login come with status 200, too. */
function isPage(bytes: Uint8Array): boolean {
  return /^\s*<(!doctype|html|head)\b/i.test(asBuffer(bytes).toString('latin1', 0, 64));
}

function answeredPage(url: string): PakratError {
  return new PakratError('E_NETWORK_RANGE', `${redactUrl(url)}: answered a page of HTML with status 200`);
}

function tooLarge(url: string, size: number, maxSize: number): PakratError {
  return new PakratError('E_NETWORK_RANGE', `${url}: ${size} bytes where at most ${maxSize} can be right`);
}
