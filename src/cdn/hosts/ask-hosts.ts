import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { eitherSignal } from '../../core/breathe.ts';
import { abortError, codeOf, isDamage, isPakratError, messageOf, type PakratError } from '../../core/errors.ts';
import { reasonOf, redactUrl } from '../transport/http-head.ts';
import { exhausted, type HostFailure } from './host-failures.ts';
import { placeOf, shownHost } from './host-names.ts';
import { type HealthKind, type Host, type Hosts, isAbsence } from './hosts.ts';

/** A question to hosts, and the patience for it. */
interface AskOptions {
  kind: HealthKind;
  /** The path of the object, for messages, and to remember who has not got it. */
  what: string;
  /** Times that one host is asked at most. */
  attemptsPerHost: number;
  signal?: AbortSignal | undefined;
  /** For small objects: when the answer takes long, another host is asked meanwhile. */
  hedge?: Hedge | undefined;
}

/** The conditions under which another host is asked while one has not answered yet. */
interface Hedge {
  /** Milliseconds after which that is looked at, each time. */
  afterMs: number;
  /** True while the answer comes at a good pace. */
  isMoving: () => boolean;
}

/** Hosts that are asked for the same thing at a time, where that takes long. */
const maxLanes = 4;
/** Milliseconds that one question waits in all for hosts that rest. */
const mostWaitMs = 45_000;
/** Dead hosts that one question may wake, for they come last: there may be thousands. */
const mostDead = 4;
/** So many failures for each lane of a question to a long list open another, up to so many lanes. */
const failuresPerLane = 8;
const manyLanes = 16;
/** A question that had so many failures, and took so many milliseconds, ends. */
const mostFailures = 200;
const mostMs = 60_000;

/**
 * Puts a question to one host after the other, the best first, until one gives a right answer.
 * An answer that is wrong (status, range, length, hash) is the host's fault: it is noted against it and the next one is asked.
 * A host that says it has not got the object (404, 403, 410) is not asked for it again, now or later; one that was dead a moment ago is passed over.
 * @param ask its signal ends when another host was faster
 * @throws E_NOT_FOUND when every host said so, E_NETWORK_EXHAUSTED when all tries failed, E_ABORTED, or an error that is no host's fault
 */
export async function askHosts<Answer>(
  hosts: Hosts,
  options: AskOptions,
  ask: (host: Host, signal: AbortSignal | undefined) => Promise<Answer>,
): Promise<Answer> {
  const question = new Question(hosts, options, ask);
  const { hedge, signal } = options;
  const answer = await (hedge === undefined ? question.ask(signal) : race(question, hosts, hedge));
  if (answer === undefined) throw question.exhausted();
  return answer.value;
}

/** Asks one host after the other, in as many lanes as it takes: the first right answer ends the others. */
function race<Answer>(
  question: Question<Answer>,
  hosts: Hosts,
  { afterMs, isMoving }: Hedge,
): Promise<{ value: Answer } | undefined> {
  const over = new AbortController();
  const { signal } = question.options;
  const either = eitherSignal(over.signal, signal);
  // Each lane listens to it.
  setMaxListeners(0, either);
  let timer: NodeJS.Timeout | undefined;
  let lanes = 0;
  const raced = new Promise<{ value: Answer } | undefined>((resolve, reject) => {
    const begin = async (): Promise<void> => {
      lanes += 1;
      const answer = await question.ask(either).finally(() => {
        lanes -= 1;
      });
      if (answer !== undefined || lanes === 0) resolve(answer);
    };
    begin().catch(reject);
    question.onFailed = (count) => {
      if (hosts.isLong && lanes < manyLanes && count > failuresPerLane * lanes) begin().catch(reject);
    };
    timer = setInterval(() => {
      if (!isMoving() && lanes > 0 && lanes < maxLanes) hosts.hedge(begin)?.catch(reject);
    }, afterMs);
  });
  return raced.finally(() => {
    clearInterval(timer);
    question.over();
    over.abort(abortError());
  });
}

class Question<Answer> {
  readonly options: AskOptions;
  readonly #hosts: Hosts;
  readonly #put: (host: Host, signal: AbortSignal | undefined) => Promise<Answer>;
  readonly #tries = new Map<Host, number>();
  /** Hosts for which asking again cannot help. */
  readonly #without = new Set<Host>();
  readonly #absent = new Set<Host>();
  readonly #absentPlaces = new Set<string>();
  /** Hosts that gave it last, and gave it wrong. */
  readonly #wrong = new Set<Host>();
  readonly #failures: HostFailure[] = [];
  readonly #inFlight = new Set<Host>();
  readonly #woken = new Set<Host>();
  #tried = new Set<string>();
  #waitedMs = 0;
  readonly #begun = performance.now();
  /** Told how many failures there were. */
  onFailed: ((count: number) => void) | undefined;

  constructor(
    hosts: Hosts,
    options: AskOptions,
    put: (host: Host, signal: AbortSignal | undefined) => Promise<Answer>,
  ) {
    this.#hosts = hosts;
    this.options = options;
    this.#put = put;
    for (const host of hosts.lacking(options.what)) {
      this.#addAbsent(host);
      this.#failures.push({ host: redactUrl(host.base), message: 'it said that it has not got it' });
    }
  }

  /** Asks hosts until one answers. @returns undefined when none is left */
  async ask(signal: AbortSignal | undefined): Promise<{ value: Answer } | undefined> {
    const { kind } = this.options;
    let failed: { host: Host; reason: string } | undefined;
    for (;;) {
      const host = this.#next();
      if (host === undefined) return undefined;
      this.#inFlight.add(host);
      try {
        const waitMs = this.#hosts.waitMs(host, kind);
        if (failed !== undefined)
          this.#hosts.news.failed(
            `${shownHost(failed.host)}: ${failed.reason}, ${this.#plan(failed.host, host, waitMs)}`,
          );
        await this.#pause(waitMs, signal);
        this.#hosts.news.asking(host);
        const value = await this.#put(host, signal).finally(() => this.#hosts.news.answered(host));
        this.#hosts.succeeded(host, kind);
        return { value };
      } catch (error) {
        if (!isHostFault(error)) throw error;
        this.#failed(host, error);
        failed = { host, reason: reasonOf(error) };
      } finally {
        this.#inFlight.delete(host);
      }
    }
  }

  /** Another host won: those that still owe an answer were slow. */
  over(): void {
    for (const host of this.#inFlight) this.#hosts.outrun(host, this.options.kind);
  }

  #next(): Host | undefined {
    const { kind } = this.options;
    if (this.#failures.length >= mostFailures && performance.now() - this.#begun > mostMs) return undefined;
    const best = this.#hosts.best(kind, this.#tried, (host) => this.#isOpen(host));
    if (best === undefined) return undefined;
    const { host, allTried } = best;
    if (allTried) this.#tried = new Set();
    if (this.#hosts.isDead(host, kind)) this.#woken.add(host);
    return host;
  }

  #isOpen(host: Host): boolean {
    const { kind } = this.options;
    if (this.#hosts.whyOut(host, kind) !== undefined || this.#inFlight.has(host) || this.#without.has(host))
      return false;
    if (this.#isAbsentFrom(host)) return false;
    const isDead = this.#hosts.isDead(host, kind);
    if (isDead && !this.#woken.has(host) && this.#woken.size >= mostDead) return false;
    if (this.#waitedMs + this.#hosts.waitMs(host, kind) > mostWaitMs) return false;
    return (this.#tries.get(host) ?? 0) < (isDead ? 1 : this.options.attemptsPerHost);
  }

  /** Over HTTPS a host speaks for itself; what comes over plain HTTP may be somebody else's word. */
  #isAbsentFrom(host: Host): boolean {
    return this.#absent.has(host) || (this.#absentPlaces.size > 0 && this.#absentPlaces.has(placeOf(host)));
  }

  #addAbsent(host: Host): void {
    this.#absent.add(host);
    if (/^https:/i.test(host.base)) this.#absentPlaces.add(placeOf(host));
  }

  #failed(host: Host, error: unknown): void {
    const { kind, what } = this.options;
    const { progressed, ignoredRange } = isPakratError(error) ? error.data : {};
    this.#hosts.failed(host, kind, error, what);
    this.#failures.push({ host: redactUrl(host.base), message: messageOf(error) });
    this.#tried.add(host.base);
    this.onFailed?.(this.#failures.length);
    // A transfer that broke off after some right bytes is no try lost: the next one starts further on.
    if (progressed !== true) this.#tries.set(host, (this.#tries.get(host) ?? 0) + 1);
    if (ignoredRange === true) this.#without.add(host);
    if (isDamage(error)) this.#wrong.add(host);
    else this.#wrong.delete(host);
    if (!isAbsence(error)) return;
    this.#addAbsent(host);
    this.#hosts.lacks(host, what);
  }

  /** The next step after a failure, in words. */
  #plan(failed: Host, next: Host, waitMs: number): string {
    const when = waitMs >= 100 ? ` in ${Math.round(waitMs / 100) / 10} s` : '';
    if (placeOf(failed) !== placeOf(next)) return `asking ${shownHost(next)}${when}`;
    if (failed !== next) return `asking it over ${next.base.split(':')[0]?.toUpperCase()}${when}`;
    return `next try${when || ' now'}, ${(this.#tries.get(next) ?? 0) + 1} of ${this.options.attemptsPerHost}`;
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw abortError();
    if (ms <= 0) return;
    this.#waitedMs += ms;
    // Timers cut fractions off: who comes too early finds it resting, and its failure does not count.
    await sleep(Math.ceil(ms) + 1, undefined, { signal, ref: true }).catch(() => {
      throw abortError();
    });
  }

  exhausted(): PakratError {
    const { kind, what } = this.options;
    const asked = new Set(this.#failures.map(({ host }) => host));
    const passedOver = this.#hosts.all.flatMap((host) => {
      const message = asked.has(redactUrl(host.base)) ? undefined : this.#hosts.whyOut(host, kind);
      return message === undefined ? [] : [{ host: redactUrl(host.base), message }];
    });
    const failures = [...this.#failures, ...passedOver];
    return exhausted(this.#hosts, what, { absent: this.#absent, wrong: this.#wrong, failures });
  }
}

/** True for an error that says something about the host, not about us. */
export function isHostFault(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (code === 'E_NETWORK_EXHAUSTED') return false;
  return code.startsWith('E_NETWORK') || code.startsWith('E_FORMAT') || code === 'E_INTEGRITY';
}
