import { setTimeout as sleep } from 'node:timers/promises';
import { abortError, codeOf, messageOf, PakratError } from '../../core/errors.ts';
import type { HealthKind, Host, Hosts } from './hosts.ts';
import { redactUrl } from './http-head.ts';

interface AskOptions {
  kind: HealthKind;
  /** The path of the object, for messages. */
  what: string;
  /** Times that one host is asked at most. */
  attemptsPerHost: number;
  signal?: AbortSignal | undefined;
}

/**
 * Puts a question to one host after the other, the best first, until one gives a right answer.
 * An answer that is wrong (status, range, length, hash) is the host's fault: it is noted against it and the next one is asked.
 * A host that says it has not got the object (404, 403, 410) is not asked for it again.
 * @throws E_NOT_FOUND when every host said so that is no fallback, E_NETWORK_EXHAUSTED when all tries failed, E_ABORTED, or an error that is no host's fault
 */
export async function askHosts<Answer>(
  hosts: Hosts,
  options: AskOptions,
  ask: (host: Host) => Promise<Answer>,
): Promise<Answer> {
  const tries = new Map<string, number>();
  const without = new Set<string>();
  const absent = new Set<string>();
  const failures: HostFailure[] = [];
  let tried = new Set<string>();
  for (;;) {
    const left = hosts.ranked(options.kind, tried).filter((host) => {
      const limit = hosts.isDead(host, options.kind) ? 1 : options.attemptsPerHost;
      return !without.has(host.base) && (tries.get(host.base) ?? 0) < limit;
    });
    const host = left[0];
    if (host === undefined) throw exhausted(hosts, options, { absent, failures });
    if (left.every((other) => tried.has(other.base))) tried = new Set();
    await pause(hosts.waitMs(host, options.kind), options.signal);
    try {
      const answer = await ask(host);
      hosts.succeeded(host, options.kind);
      return answer;
    } catch (error) {
      if (!isHostFault(error)) throw error;
      hosts.failed(host, options.kind, error);
      failures.push({ host: redactUrl(host.base), message: messageOf(error) });
      tried.add(host.base);
      // A transfer that broke off after some right bytes is no try lost: the next one starts further on.
      if ((error as PakratError).data?.progressed !== true) tries.set(host.base, (tries.get(host.base) ?? 0) + 1);
      if (isHopeless(error)) without.add(host.base);
      if (isAbsent(error)) absent.add(host.base);
    }
  }
}

/** True for an error that says something about the host, not about us. */
export function isHostFault(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (code === 'E_NETWORK_EXHAUSTED') return false;
  return code.startsWith('E_NETWORK') || code.startsWith('E_FORMAT') || code === 'E_INTEGRITY';
}

/** True when asking the same host again for the same thing cannot help: it has not got it, or it knows no ranges. */
function isHopeless(error: unknown): boolean {
  return isAbsent(error) || (error as PakratError).data?.ignoredRange === true;
}

function isAbsent(error: unknown): boolean {
  return [403, 404, 410].includes(Number((error as PakratError).data?.status));
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) throw abortError();
  if (ms <= 0) return;
  await sleep(ms, undefined, { signal, ref: true }).catch(() => {
    throw abortError();
  });
}

interface HostFailure {
  host: string;
  message: string;
}

function exhausted(
  hosts: Hosts,
  options: AskOptions,
  tally: { absent: ReadonlySet<string>; failures: readonly HostFailure[] },
): PakratError {
  const lines = tally.failures.map((failure) => failureLine(failure, options.what));
  const data = {
    object: options.what,
    hosts: hosts.all.length,
    attempts: tally.failures.length,
    failures: [...new Set(lines)].slice(0, 8),
  };
  if (hosts.all.length === 0) {
    return new PakratError('E_NETWORK_EXHAUSTED', `${options.what}: no host is known`, {
      hint: 'Name one with --cdn-host.',
      data,
    });
  }
  // A fallback may never have been meant to answer: where it fails otherwise, the word of those that are counts.
  const main = hosts.all.filter(({ fallback }) => !fallback);
  if ((main.length > 0 ? main : hosts.all).every(({ base }) => tally.absent.has(base))) {
    return new PakratError('E_NOT_FOUND', `no host has ${options.what}`, {
      hint: 'The CDN forgets builds after some weeks; --cdn-host can name a mirror that kept it.',
      data,
    });
  }
  // The first to be asked is the best one: what comes last is a fallback that may never have been meant to answer.
  const count = hosts.all.length;
  const which = count === 1 ? 'the only host failed' : `none of ${count} hosts gave it`;
  return new PakratError('E_NETWORK_EXHAUSTED', `${options.what}: ${which}: ${lines[0] ?? 'no answer'}`, {
    hint: 'Check the network and run the same command again; --cdn-host asks other hosts.',
    data,
  });
}

/** A failure with its host in front, and without the object, which is named already. */
function failureLine({ host, message }: HostFailure, what: string): string {
  const start = `${host}/${what}: `;
  return `${host}: ${message.startsWith(start) ? message.slice(start.length) : message}`;
}
