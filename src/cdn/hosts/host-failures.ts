import { PakratError } from '../../core/errors.ts';
import { type Host, placeOf, shownHost } from './host-names.ts';
import type { Hosts } from './hosts.ts';

/** What a host answered that was no answer. */
export interface HostFailure {
  /** Its base, as it may be shown. */
  host: string;
  message: string;
}

/**
 * The error of a question that no host answered rightly.
 * @param answers.absent hosts that have not got it, @param answers.wrong those that gave it wrong to the last
 */
export function exhausted(
  hosts: Hosts,
  what: string,
  answers: { absent: ReadonlySet<Host>; wrong: ReadonlySet<Host>; failures: readonly HostFailure[] },
): PakratError {
  const { failures } = answers;
  const lines = failures.map((failure) => failureLine(failure, what));
  const { places } = hosts;
  const data = {
    object: what,
    hosts: places.size,
    attempts: failures.length,
    failures: [...new Set(lines)].slice(0, 8),
  };
  if (hosts.all.length === 0) {
    return new PakratError('E_NETWORK_EXHAUSTED', `${what}: no host is known`, {
      hint: 'Name one with --cdn-host.',
      data,
    });
  }
  // A fallback may never have been meant to answer: where it fails otherwise, the word of those that are counts.
  const main = hosts.all.filter(({ fallback }) => !fallback);
  const mostMeant = main.length > 0 ? main : hosts.all;
  const asked = new Set(mostMeant.map(placeOf));
  const without = new Set([...answers.absent].map(placeOf));
  if ([...asked].every((place) => without.has(place))) {
    const [first, ...others] = new Set(mostMeant.map(shownHost));
    const who = others.length > 0 ? `${first} and ${others.length} more` : first;
    return new PakratError('E_NOT_FOUND', `no host has ${what}: ${who} said so`, {
      hint: 'The CDN forgets builds after some weeks; --cdn-host can name a mirror that kept it.',
      data,
    });
  }
  const wrong = new Set([...answers.wrong].map(placeOf));
  const isWrong = [...asked].every((place) => without.has(place) || wrong.has(place));
  // The first to be asked is the best one: what comes last is a fallback that may never have been meant to answer.
  const which = places.size <= 1 ? 'the only host failed' : `none of ${places.size} hosts gave it`;
  return new PakratError('E_NETWORK_EXHAUSTED', `${what}: ${which}: ${lines[0] ?? 'no answer'}`, {
    hint: isWrong
      ? 'Each host that has it gives it wrong: --cdn-host can name a mirror that has it right.'
      : 'Check the network and run the same command again; --cdn-host asks other hosts.',
    data: { ...data, ...(isWrong && { wrong: true }) },
  });
}

/** A failure with its host in front, and without the object, which is named already. */
function failureLine({ host, message }: HostFailure, what: string): string {
  const start = `${host}/${what}: `;
  return `${host}: ${message.startsWith(start) ? message.slice(start.length) : message}`;
}
