import { asBuffer } from '../../core/bytes.ts';
import { isPakratError } from '../../core/errors.ts';
import { askHosts } from '../hosts/ask-hosts.ts';
import type { HealthKind, Hosts } from '../hosts/hosts.ts';
import type { BodyBudget } from './body-budget.ts';
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
  /** The memory that bodies share. Absent: no bound but their own. */
  budget?: BodyBudget | undefined;
  /** Milliseconds after which another host is asked as well, where the answer does not come at a good pace. Absent: none is. */
  hedgeMs?: number | undefined;
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
  /** True when that is far more than most such objects have: memory for all of it is taken when it turns out to be needed. */
  isMostlySmaller?: boolean | undefined;
  /** Looks at the bytes; throws E_INTEGRITY or E_FORMAT… when they are not what was asked: the next host is asked then. */
  check: (bytes: Uint8Array) => void;
}

/** Memory that is taken at first for a body of which nobody knows the size. */
const firstBytes = 8 * 1024 * 1024;
/** A body that comes this fast, in bytes a second, is waited for. */
const goodPace = 64 * 1024;

/**
 * Brings one small object from whichever host gives it right.
 * @throws as {@link askHosts}
 */
export async function fetchObject(cdn: Cdn, request: ObjectRequest): Promise<Uint8Array> {
  const { maxSize, isMostlySmaller } = request;
  if (isMostlySmaller === true && maxSize > firstBytes) {
    try {
      return await fetchWithin(cdn, request, firstBytes);
    } catch (error) {
      if (error !== largerThanThat) throw error;
    }
  }
  return fetchWithin(cdn, request, maxSize);
}

/** Thrown to ask again, with more memory. It is no host's fault. */
const largerThanThat = new Error('the body is larger than what was taken for it');

function fetchWithin(cdn: Cdn, request: ObjectRequest, bytes: number): Promise<Uint8Array> {
  const { budget, signal } = cdn;
  const ask = (): Promise<Uint8Array> => askForObject(cdn, request, bytes);
  return budget === undefined ? ask() : budget.within(bytes, signal, ask);
}

function askForObject(cdn: Cdn, { path, kind, maxSize, check }: ObjectRequest, most: number): Promise<Uint8Array> {
  const { http, hosts, rate, attemptsPerHost, signal, hedgeMs } = cdn;
  let moved = 0;
  const onPiece = (bytes: number): number => {
    moved += bytes;
    cdn.onReceived?.(bytes);
    return rate.take(bytes);
  };
  const isMoving = (afterMs: number): boolean => {
    const isGood = moved >= (goodPace * afterMs) / 1000;
    moved = 0;
    return isGood;
  };
  const hedge = hedgeMs === undefined ? undefined : { afterMs: hedgeMs, isMoving: () => isMoving(hedgeMs) };
  return askHosts(hosts, { kind, what: path, attemptsPerHost, signal, hedge }, async ({ base }, over) => {
    const url = `${base}/${path}`;
    cdn.onRequest?.();
    const bytes = await fetchBytes(http, url, { maxSize: most, signal: over, onPiece }).catch((error: unknown) => {
      throw most < maxSize && isPakratError(error) && error.data.tooLarge === true ? largerThanThat : error;
    });
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
