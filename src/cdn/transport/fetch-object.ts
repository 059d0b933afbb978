import { asBuffer } from '../../core/bytes.ts';
import { askHosts } from '../hosts/ask-hosts.ts';
import type { HealthKind, Host, Hosts } from '../hosts/hosts.ts';
import { fetchBytes } from './fetch-bytes.ts';
import type { HttpGetter } from './http.ts';
import { wrongAnswer } from './http-head.ts';
import type { RateLimit } from './rate-limit.ts';

/** The hosts of a CDN, and the means to ask them. */
export interface Cdn {
  http: HttpGetter;
  hosts: Hosts;
  rate: RateLimit;
  attemptsPerHost: number;
  signal?: AbortSignal | undefined;
  /** Called with the bytes of every piece of a body. */
  onReceived?: ((bytes: number) => void) | undefined;
  /** Called for every request. */
  onRequest?: (() => void) | undefined;
}

/** A small object to be brought whole into memory. */
interface ObjectRequest {
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
export function fetchObject(cdn: Cdn, { path, kind, maxSize, check }: ObjectRequest): Promise<Uint8Array> {
  const { http, hosts, rate, attemptsPerHost, signal } = cdn;
  const onPiece = (bytes: number): number => {
    cdn.onReceived?.(bytes);
    return rate.take(bytes);
  };
  return askHosts(hosts, { kind, what: path, attemptsPerHost, signal }, async ({ base }: Host) => {
    const url = `${base}/${path}`;
    cdn.onRequest?.();
    const bytes = await fetchBytes(http, url, { maxSize, signal, onPiece });
    try {
      check(bytes);
    } catch (error) {
      throw isPage(bytes) ? wrongAnswer(url, 'answered a page of HTML with status 200') : error;
    }
    return bytes;
  });
}

/** Pages about a block or a login come with status 200, too. */
function isPage(bytes: Uint8Array): boolean {
  return /^\s*<(!doctype|html|head)\b/i.test(asBuffer(bytes).toString('latin1', 0, 64));
}
