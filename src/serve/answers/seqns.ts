import { isStoreTrouble, resultUnless } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import type { Store } from '../../store/store.ts';

/** Gives the sequence number of an answer: higher whenever its content is another, and never lower. */
export type NumberAnswer = (subject: string, content: string, lowest: number | undefined) => number;

/**
 * Numbers what the server says, for clients take an answer with a lower number for a stale one. The store remembers the last number of each subject
 * with a hash of what was said, over restarts. Where it cannot be written, and where no service ever gave a number, the time does: seconds since 1970.
 */
export function answerNumbers(store: Store): NumberAnswer {
  const numbered = new Map<string, Numbered>();
  return (subject, content, lowest = 0) => {
    const hash = md5Hex(new TextEncoder().encode(content));
    const last = numbered.get(subject) ?? remembered(store, subject);
    const next = { seqn: nextSeqn(last, hash, lowest), hash };
    if (last?.hash !== hash || last.seqn !== next.seqn) {
      if (!remember(store, subject, next)) next.seqn = Math.max(next.seqn, lowest, last?.hash === hash ? 0 : seconds());
    }
    numbered.set(subject, next);
    return next.seqn;
  };
}

/** A number, and the MD5 of what was said under it. */
interface Numbered {
  seqn: number;
  hash: string;
}

function nextSeqn(last: Numbered | undefined, hash: string, lowest: number): number {
  if (last !== undefined) return Math.max(lowest, last.hash === hash ? last.seqn : last.seqn + 1);
  return lowest > 0 ? lowest : seconds();
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

function settingOf(subject: string): string {
  return `served:${subject}`;
}

function remembered({ ledger }: Store, subject: string): Numbered | undefined {
  const [, seqn, hash] = /^(\d{1,15}) ([0-9a-f]{32})$/.exec(ledger.setting(settingOf(subject)) ?? '') ?? [];
  return seqn === undefined || hash === undefined ? undefined : { seqn: Number(seqn), hash };
}

/** False where the store cannot be written. */
function remember({ ledger, writable }: Store, subject: string, { seqn, hash }: Numbered): boolean {
  if (!writable) return false;
  const write = (): boolean => {
    ledger.setSetting(settingOf(subject), `${seqn} ${hash}`);
    return true;
  };
  return resultUnless(isStoreTrouble, write) ?? false;
}
