import { codeOf, isPakratError } from '../../core/errors.ts';
import { reasonOf } from '../transport/http-head.ts';
import { type Host, placeOf, problemOf, shownHost } from './host-names.ts';
import { HostNews } from './host-news.ts';

export type { Host } from './host-names.ts';

/** True for the answer of a host that has not got the object: that is no wrong one. */
export function isAbsence(error: unknown): boolean {
  return isPakratError(error) && [403, 404, 410].includes(Number(error.data.status));
}

/** A kind of object by which hosts differ: some have data but no configs. */
export type HealthKind = (typeof kinds)[number];
const kinds = ['config', 'index', 'data', 'patch'] as const;

interface Health {
  /** Failures in a row; several at the same moment are one. */
  failures: number;
  /** It gave a right object once. */
  proven: boolean;
  /** Not to be asked before this time (monotonic milliseconds). */
  restUntil: number;
  /** The last failure, in words. */
  problem: string | undefined;
  /** Objects that it gave no answer to since it was right last, a few of them: it is not down because of a single one. */
  unserved: Set<string>;
  /** It does not serve at all: nobody is there, or it gave no answer to several objects. */
  isDown: boolean;
}

/** Failures in a row at one kind of object after which a host rests. */
const restAfter = 2;
/** A host that failed so often is dead: it comes last of all. One that was right before has more credit: a server that starts again is waited for. */
const deadAfter = { unproven: 5, proven: 12 };
const longestRestMs = 2000;
/** Objects in a row to which a host gave no answer when it is down. */
const downAfter = 3;
/** What is wrong for one object may be right for the next: nobody sleeps long over it. */
const longestWrongRestMs = 200;
/** The dead are asked again after this time, then after twice that, and so on. */
const deadRestMs = 10_000;
const longestDeadRestMs = 300_000;
/** Nobody waits for longer than this on one host: it is passed over instead. */
const longestWaitMs = 30_000;
/** Failures that a host without an answer in time counts for: to find that out again takes long. */
const silenceWeight = 3;

/** What a host has not got it may get: after this time it is asked again. */
const lackingMs = 600_000;
/** CDNs have a few hosts. More names than this are a list that somebody gathered. */
const longList = 8;
const rankOf = { otherScheme: 60, unproven: 80 };
/** Questions that are put to a second host while a first one has not answered, at a time. */
const mostHedges = 8;

/** The order in which hosts are asked, and who hears of their trouble. */
interface HostsOptions {
  /** The scheme that is asked first. Default: HTTPS. */
  prefer?: 'https' | 'http' | undefined;
  /** As {@link HostNews} has it. */
  onProblem?: ((problem: string | undefined) => void) | undefined;
}

/**
 * The hosts of a CDN in the order in which to ask them. Health is kept for each host and kind of object;
 * a host that fails goes behind the others for a while, and is never dropped for good.
 */
export class Hosts {
  readonly all: readonly Host[];
  /** The first hosts by name, for a person to see. */
  readonly shown: string[];
  readonly news: HostNews;
  readonly #prefer: string;
  /** So many names that few will be any good: one that was right before is asked first. */
  readonly isLong: boolean;
  readonly #health = new Map<Host, Record<HealthKind, Health>>();
  readonly #noRanges = new Set<string>();
  /** How many schemes each name is there under. */
  readonly #schemes = new Map<string, number>();
  /** Hosts that said they have not got an object, by its path, and when they did. */
  readonly #lacking = new Map<string, Map<Host, number>>();
  /** The rank of a host of a long list that was never asked. */
  readonly #freshRank: number;
  #anyProven = false;
  #turn = 0;
  #hedges = 0;

  constructor(hosts: readonly Host[], { prefer = 'https', onProblem }: HostsOptions = {}) {
    this.all = hosts;
    this.shown = [...new Set(hosts.filter(({ fallback, mirror }) => !fallback && !mirror).map(shownHost))].slice(0, 4);
    this.news = new HostNews(onProblem);
    this.#prefer = `${prefer}:`;
    this.isLong = this.places.size > longList;
    this.#freshRank = rankOf.unproven + (hosts.some((host) => this.#isPreferred(host)) ? 0 : rankOf.otherScheme);
    for (const host of hosts) {
      const problem = problemOf(host);
      const restUntil = problem === undefined ? 0 : Number.MAX_SAFE_INTEGER;
      const fresh = (): Health => ({
        failures: 0,
        proven: false,
        restUntil,
        problem,
        unserved: new Set(),
        isDown: false,
      });
      this.#health.set(host, { config: fresh(), index: fresh(), data: fresh(), patch: fresh() });
      this.#schemes.set(placeOf(host), (this.#schemes.get(placeOf(host)) ?? 0) + 1);
    }
  }

  /** Names that hosts have, each once, whatever schemes they are under. */
  get places(): Set<string> {
    return new Set(this.all.filter((host) => problemOf(host) === undefined).map(placeOf));
  }

  #of(host: Host, kind: HealthKind): Health {
    const health = this.#health.get(host);
    if (health === undefined) throw new Error(`${host.base} is none of these hosts`);
    return health[kind];
  }

  /**
   * The best of those hosts for a kind of object that are open to a question, and whether all of them were tried; undefined when none is.
   * Those in `tried` come last. Of equals the one that owes the fewest answers is next, for turns alone let a slow one gather all that is asked;
   * where they owe as many they take turns. Of a long list the first is taken that nothing is known against, until one was right.
   */
  best(
    kind: HealthKind,
    tried: ReadonlySet<string>,
    isOpen: (host: Host) => boolean,
  ): { host: Host; allTried: boolean } | undefined {
    this.#turn += 1;
    let best: { host: Host; rank: number; owed: number } | undefined;
    let allTried = true;
    for (let i = 0; i < this.all.length; i++) {
      const host = this.all[(i + this.#turn) % this.all.length];
      if (host === undefined || !isOpen(host)) continue;
      if (!tried.has(host.base)) allTried = false;
      const rank = this.#rank(host, kind, tried);
      const owed = this.news.owed(host);
      if (best === undefined || rank < best.rank || (rank === best.rank && owed < best.owed))
        best = { host, rank, owed };
      if (this.isLong && !this.#anyProven && rank <= this.#freshRank) break;
    }
    return best && { host: best.host, allTried };
  }

  #isPreferred({ base }: Host): boolean {
    return base.toLowerCase().startsWith(this.#prefer);
  }

  #isProven(host: Host): boolean {
    return kinds.some((kind) => this.#of(host, kind).proven);
  }

  #rank(host: Host, kind: HealthKind, tried: ReadonlySet<string>): number {
    const { restUntil, failures } = this.#of(host, kind);
    const restMs = restUntil - performance.now();
    return (
      (this.isDead(host, kind) ? 4000 : 0) +
      (this.#noRanges.has(host.base) ? 2000 : 0) +
      (tried.has(host.base) ? 1000 : 0) +
      (host.mirror ? 400 : 0) +
      (host.fallback ? 200 : 0) +
      // A short rest is waited for, for a long one (Retry-After) others are asked again.
      (restMs > 0 ? 100 + restMs / 10 : 0) +
      (this.#isPreferred(host) ? 0 : rankOf.otherScheme) +
      (this.isLong && !this.#isProven(host) ? rankOf.unproven : 0) +
      Math.min(failures, 50)
    );
  }

  /** Milliseconds that a host asked to be left alone for, or that it rests after failures. */
  waitMs(host: Host, kind: HealthKind): number {
    return Math.max(0, this.#of(host, kind).restUntil - performance.now());
  }

  /** True for a host that failed at this kind of object each time it was asked, and that was often enough. */
  isDead(host: Host, kind: HealthKind): boolean {
    const { failures, proven } = this.#of(host, kind);
    return failures >= (proven ? deadAfter.proven : deadAfter.unproven);
  }

  /** Why a host is not asked now, in words: it does not serve and was asked a short while ago, or wants to be left alone for long. */
  whyOut(host: Host, kind: HealthKind): string | undefined {
    const { isDown, problem } = this.#of(host, kind);
    const isOut = this.waitMs(host, kind) > (isDown && this.isDead(host, kind) ? 0 : longestWaitMs);
    return isOut ? (problem ?? 'it failed before') : undefined;
  }

  /** True when another host is known to serve, and not known to fail at this kind of object. */
  hasOthers(host: Host, kind: HealthKind): boolean {
    return this.all.some((other) => other !== host && this.#isProven(other) && !this.isDead(other, kind));
  }

  /** Says that the host served a right object of this kind. */
  succeeded(host: Host, kind: HealthKind): void {
    const health = this.#of(host, kind);
    this.#prove(health);
    Object.assign(health, {
      restUntil: 0,
      problem: undefined,
      unserved: new Set(),
      isDown: false,
    });
  }

  #prove(health: Health): void {
    this.#anyProven = true;
    Object.assign(health, { failures: 0, proven: true });
  }

  /** Says that the host answered a range as it was asked. */
  servedRange(host: Host): void {
    this.#noRanges.delete(host.base);
  }

  /** Asks a second host for what a first one is slow with, unless that is done for several objects: on a slow line all are. */
  hedge(ask: () => Promise<void>): Promise<void> | undefined {
    if (this.#hedges >= mostHedges) return undefined;
    this.#hedges += 1;
    return ask().finally(() => {
      this.#hedges -= 1;
    });
  }

  /** Says that another host was faster though it was asked later: it comes behind that one, at all that it has not yet been right at. */
  outrun(host: Host, kind: HealthKind): void {
    for (const each of kinds) if (each === kind || !this.#of(host, each).proven) this.#of(host, each).failures += 1;
  }

  /** Says that the host has not got the object. */
  lacks(host: Host, path: string): void {
    const hosts = this.#lacking.get(path) ?? new Map<Host, number>();
    this.#lacking.set(path, hosts.set(host, performance.now()));
  }

  /** The hosts that said lately that they have not got the object: nothing in it need be asked of them again. */
  lacking(path: string): Host[] {
    const since = performance.now() - lackingMs;
    return [...(this.#lacking.get(path) ?? [])].filter(([, time]) => time > since).map(([host]) => host);
  }

  /** Says that nobody is there, for any kind of object. */
  unreachable(host: Host, problem: string): void {
    for (const kind of kinds) {
      const health = this.#of(host, kind);
      Object.assign(health, { problem, isDown: true, failures: Math.max(health.failures, deadAfter.proven) });
      health.restUntil = performance.now() + deadRestMs;
    }
  }

  /**
   * Says that the host failed: it rests as long as it asked to (Retry-After), else longer each time, at most 2 s until it is dead. One that is
   * silent is so for every kind of object; one that cannot be reached under this scheme, and has another, is dead under this one.
   */
  failed(host: Host, kind: HealthKind, error: unknown, path = ''): void {
    if (codeOf(error) === 'E_ABORTED') return;
    const { retryAfter, ignoredRange, progressed, unreachable } = isPakratError(error) ? error.data : {};
    const isService = codeOf(error)?.startsWith('E_NETWORK') === true && ignoredRange !== true && !isAbsence(error);
    if (ignoredRange === true) this.#noRanges.add(host.base);
    const health = this.#of(host, kind);
    // It broke off, but what it sent before was right: that is its first failure.
    if (progressed === true) this.#prove(health);
    const problem = reasonOf(error);
    const isOther = (this.#schemes.get(placeOf(host)) ?? 0) > 1;
    if (unreachable === true && isOther && !this.#isProven(host)) {
      this.unreachable(host, problem);
      return;
    }
    const isSilent = codeOf(error) === 'E_NETWORK_TIMEOUT' && progressed !== true;
    for (const each of isSilent ? kinds : [kind]) {
      const state = this.#of(host, each);
      if (isService && state.unserved.size < downAfter) state.unserved.add(path);
      state.problem = problem;
      state.isDown = isService && (unreachable === true || state.unserved.size >= downAfter);
      if (isAbsence(error)) state.failures += 1;
      else
        rest(state, {
          failures: isSilent ? silenceWeight : 1,
          retryAfter: Number(retryAfter ?? Number.NaN),
          isService,
        });
    }
  }

  /** True when some host gave a right object, of whatever kind: the CDN is there, if badly. */
  get anyProven(): boolean {
    return this.#anyProven;
  }

  /** True when no host is left that may know ranges: each ignored one, or is dead to this kind of object. */
  noneKnowsRanges(kind: HealthKind): boolean {
    const asked = this.#noRanges.size > 0 ? this.all.filter((host) => problemOf(host) === undefined) : [];
    return asked.length > 0 && asked.every((host) => this.#noRanges.has(host.base) || this.isDead(host, kind));
  }
}

/** Lets a host rest after failures. */
function rest(
  health: Health,
  { failures, retryAfter, isService }: { failures: number; retryAfter: number; isService: boolean },
): void {
  const now = performance.now();
  if (health.restUntil > now && Number.isNaN(retryAfter)) return;
  health.failures += failures;
  health.restUntil = now + (Number.isNaN(retryAfter) ? restMs(health, isService) : retryAfter);
}

function restMs({ failures, proven, isDown }: Health, isService: boolean): number {
  const dead = failures - (proven ? deadAfter.proven : deadAfter.unproven);
  if (isDown && dead >= 0) return Math.min(deadRestMs * 2 ** dead, longestDeadRestMs);
  if (failures < restAfter) return 0;
  return isService ? Math.min(100 * 2 ** (failures - restAfter), longestRestMs) : longestWrongRestMs;
}
