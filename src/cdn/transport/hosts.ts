import { codeOf, PakratError } from '../../core/errors.ts';

/** A kind of object by which hosts differ: some have data but no configs. */
export type HealthKind = (typeof kinds)[number];
const kinds = ['config', 'index', 'data', 'patch'] as const;

/** A CDN host: where objects are, and how it did so far. */
export interface Host {
  /** `http://host[:port]`, no slash at the end. */
  readonly base: string;
  /** Only asked when the others failed. */
  readonly fallback: boolean;
}

interface Health {
  /** Failures in a row; several at the same moment are one. */
  failures: number;
  /** It gave a right object once. */
  proven: boolean;
  /** Not to be asked before this time (monotonic milliseconds). */
  restUntil: number;
}

/** Failures in a row at one kind of object after which a host rests. */
const restAfter = 2;
/** A host that failed so often and was never right is dead: it comes last of all. */
const deadAfter = 5;
const longestRestMs = 2000;
/** Failures that a host without an answer in time counts for: to find that out again takes long. */
const silenceWeight = 3;

/**
 * The hosts of a CDN in the order in which to ask them. Health is kept for each host and kind of object;
 * a host that fails goes behind the others for a while, and is never dropped for good.
 */
export class Hosts {
  readonly all: readonly Host[];
  readonly #health = new Map<string, Health>();
  readonly #noRanges = new Set<string>();
  #turn = 0;

  constructor(hosts: readonly Host[]) {
    this.all = hosts;
  }

  #of(host: Host, kind: HealthKind): Health {
    const key = `${kind} ${host.base}`;
    let health = this.#health.get(key);
    if (health === undefined) {
      health = { failures: 0, proven: false, restUntil: 0 };
      this.#health.set(key, health);
    }
    return health;
  }

  /** The hosts for a kind of object, best first; those in `tried` last. Equals take turns. */
  ranked(kind: HealthKind, tried: ReadonlySet<string> = new Set()): Host[] {
    const now = performance.now();
    this.#turn += 1;
    const start = this.#turn % Math.max(1, this.all.length);
    const turned = [...this.all.slice(start), ...this.all.slice(0, start)];
    const rank = (host: Host): number => {
      const health = this.#of(host, kind);
      return (
        (this.isDead(host, kind) ? 4000 : 0) +
        (this.#noRanges.has(host.base) ? 2000 : 0) +
        (tried.has(host.base) ? 1000 : 0) +
        (host.fallback ? 200 : 0) +
        // A short rest is waited for, for a long one (Retry-After) others are asked again.
        (health.restUntil > now ? 100 + (health.restUntil - now) / 10 : 0) +
        Math.min(health.failures, 50)
      );
    };
    return turned.sort((a, b) => rank(a) - rank(b));
  }

  /** Milliseconds that a host asked to be left alone for, or that it rests after failures. */
  waitMs(host: Host, kind: HealthKind): number {
    return Math.max(0, this.#of(host, kind).restUntil - performance.now());
  }

  /** True for a host that failed at this kind of object each time it was asked, and that was often enough. */
  isDead(host: Host, kind: HealthKind): boolean {
    const { failures, proven } = this.#of(host, kind);
    return !proven && failures >= deadAfter;
  }

  /** Says that the host served a right object of this kind. */
  succeeded(host: Host, kind: HealthKind): void {
    const health = this.#of(host, kind);
    health.failures = 0;
    health.proven = true;
    health.restUntil = 0;
  }

  /** Says that the host answered a range as it was asked. */
  servedRange(host: Host): void {
    this.#noRanges.delete(host.base);
  }

  /**
   * Says that the host failed: it rests as long as it asked to (Retry-After), else longer each time, at most 2 s. One that is silent is so
   * for every kind of object.
   */
  failed(host: Host, kind: HealthKind, error: unknown): void {
    if (codeOf(error) === 'E_ABORTED') return;
    const { retryAfter, ignoredRange, progressed } =
      (error as { data?: { retryAfter?: number; ignoredRange?: boolean; progressed?: boolean } }).data ?? {};
    if (ignoredRange === true) this.#noRanges.add(host.base);
    if (progressed === true) {
      // It broke off, but what it sent before was right: that is its first failure.
      const health = this.#of(host, kind);
      health.failures = 0;
      health.proven = true;
    }
    const isSilent = codeOf(error) === 'E_NETWORK_TIMEOUT' && progressed !== true;
    if (!isSilent) this.#rest(this.#of(host, kind), 1, retryAfter);
    else for (const each of kinds) this.#rest(this.#of(host, each), silenceWeight);
  }

  #rest(health: Health, failures: number, retryAfter?: number): void {
    const now = performance.now();
    if (health.restUntil > now && retryAfter === undefined) return;
    health.failures += failures;
    const rest = health.failures < restAfter ? 0 : Math.min(100 * 2 ** (health.failures - restAfter), longestRestMs);
    health.restUntil = now + (retryAfter ?? rest);
  }

  /** True when some host gave a right object, of whatever kind: the CDN is there, if badly. */
  get anyProven(): boolean {
    return [...this.#health.values()].some(({ proven }) => proven);
  }

  /** True when no host is left that may know ranges: each ignored one, or is dead to this kind of object. */
  noneKnowsRanges(kind: HealthKind): boolean {
    return (
      this.#noRanges.size > 0 && this.all.every((host) => this.#noRanges.has(host.base) || this.isDead(host, kind))
    );
  }
}

/**
 * The hosts of a `cdns` row: the URLs of `Servers` when it has some, else `Hosts`. `?fallback=1` puts one behind the others.
 * @param servers space-separated URLs with query strings, @param names space-separated host[:port]
 */
export function hostsOfRow(servers: string | undefined, names: string | undefined): Host[] {
  const listed = (servers ?? '').split(/\s+/).flatMap((text) => {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return [];
    const url = new URL(text);
    return [{ base: url.origin, fallback: url.searchParams.get('fallback') === '1' }];
  });
  if (listed.length > 0) return [...new Map(listed.map((host) => [host.base, host])).values()];
  return (names ?? '')
    .split(/\s+/)
    .filter((text) => baseOf(text) !== undefined)
    .map(hostOf);
}

/** A host from what a person types or `Hosts` lists: `host`, `host:port` or a whole URL base. @throws E_USAGE when it is none */
export function hostOf(text: string): Host {
  const base = baseOf(text);
  if (base === undefined) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no host`, {
      hint: 'Write it as HOST, HOST:PORT, or a URL that starts with http:// or https://.',
    });
  }
  return { base, fallback: false };
}

function baseOf(text: string): string | undefined {
  const base = (/^https?:\/\//i.test(text) ? text : `http://${text}`).replace(/\/+$/, '');
  const [, name] = /^https?:\/\/([^/?#\s]+)(?:\/[^?#\s]*)?$/i.exec(base) ?? [];
  // A name that ends in a colon is another scheme: `ftp://host`.
  return name === undefined || name.endsWith(':') || !URL.canParse(base) ? undefined : base;
}
