import { pause } from '../core/breathe.ts';
import type { Claim } from '../store/claims.ts';
import { covers, heldUntil } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { isLoose, type PackedJob, partOf } from './transfer/range-targets.ts';

const askAgainMs = 100;
/** Milliseconds of waiting that need not be told. */
const quietMs = 1_000;

/** Waits for what other processes fetch, and says so once when it takes long. */
export class Waiting {
  readonly #signal: AbortSignal | undefined;
  readonly #onWait: (() => void) | undefined;
  #since: number | undefined;
  #told = false;

  constructor(signal: AbortSignal | undefined, onWait: (() => void) | undefined) {
    this.#signal = signal;
    this.#onWait = onWait;
  }

  /** A moment until it is worth asking again. @param signal ends it; default: that of all that waits @throws E_ABORTED */
  async moment(signal = this.#signal): Promise<void> {
    this.#since ??= performance.now();
    if (!this.#told && performance.now() - this.#since > quietMs) {
      this.#told = true;
      this.#onWait?.();
    }
    await pause(askAgainMs, signal);
  }
}

/**
 * Claims a whole object as soon as nobody fetches it.
 * @returns undefined when it is held by then, or the store has no claims
 * @throws E_ABORTED, E_STORE…
 */
export async function claimObject(store: Store, path: string, waiting: Waiting): Promise<Claim | undefined> {
  const isHeld = (): boolean => store.ledger.completeSize(path) !== undefined;
  for (const claims = store.claims(); claims !== undefined; await waiting.moment()) {
    const claim = isHeld() ? undefined : claims.take(path, 0, Number.MAX_SAFE_INTEGER);
    // It may have been fetched and released between the look and the claim.
    if (claim !== undefined && !isHeld()) return claim;
    claim?.release();
    if (isHeld()) return undefined;
  }
  return undefined;
}

/** Range jobs, each claimed when its turn comes; what others fetch is put off, and what needs another file. Needs `close`. */
export class ClaimedJobs {
  /** Jobs of which others fetch something, or whose file a broken disk did not let be written to. */
  #putOff: PackedJob[] = [];
  /** Paths of objects whose file has to be replaced, and of those whose file was. */
  readonly #spoilt = new Set<string>();
  readonly #renewed = new Set<string>();
  readonly #store: Store;
  readonly #claims = new Map<PackedJob, Claim>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** What is missing now of some jobs, and fetched by nobody else. */
  *take(jobs: Iterable<PackedJob>): Generator<PackedJob> {
    for (const job of jobs) for (const part of stillMissing(this.#store, job)) if (this.#claim(part)) yield part;
  }

  #claim(job: PackedJob): boolean {
    const claims = this.#store.claims();
    if (claims === undefined) return true;
    const start = firstOffset(job);
    const claim = claims.take(job.path, start, Math.max(job.end, start + 1));
    // It may have been fetched and released between the look and the claim.
    if (claim !== undefined && isMissing(this.#store, job)) {
      this.#claims.set(job, claim);
      return true;
    }
    claim?.release();
    this.#putOff.push(job);
    return false;
  }

  /** True while there are jobs that were put off. */
  get hasPutOff(): boolean {
    return this.#putOff.length > 0;
  }

  /** The jobs that were put off and can be tried again: not those whose file has to be replaced before. They are put off no more. */
  takePutOff(): PackedJob[] {
    const waits = ({ path }: PackedJob): boolean => this.#spoilt.has(path);
    const jobs = this.#putOff.filter((job) => !waits(job));
    this.#putOff = this.#putOff.filter(waits);
    return jobs;
  }

  /** Puts a job off because a broken disk does not let its file be written to. @returns false where that is another file already: it is the disk as such */
  putOffSpoilt(job: PackedJob): boolean {
    if (this.#renewed.has(job.path)) return false;
    this.#spoilt.add(job.path);
    this.#putOff.push(job);
    return true;
  }

  /**
   * Replaces files that a broken disk does not let be written to, but for those that somebody writes to all the same.
   * @returns whether any was replaced
   * @throws E_STORE…
   */
  renewSpoilt(): boolean {
    const before = this.#renewed.size;
    for (const path of this.#spoilt) {
      const claim = this.#store.claims()?.take(path, 0, Number.MAX_SAFE_INTEGER);
      if (claim === undefined) continue;
      try {
        this.#store.files.renew(path);
      } finally {
        claim.release();
      }
      this.#spoilt.delete(path);
      this.#renewed.add(path);
    }
    return this.#renewed.size > before;
  }

  /** Lets go of a job whose bytes are in the ledger. */
  release(job: PackedJob): void {
    this.#claims.get(job)?.release();
    this.#claims.delete(job);
  }

  close(): void {
    for (const job of [...this.#claims.keys()]) this.release(job);
  }
}

/** Where its first entry begins, held in part or not. */
function firstOffset({ targets, start }: PackedJob): number {
  return targets.length === 0 ? start : targets.offset(0);
}

/** True where all of a job is missing just as it says: what {@link stillMissing} gives back is the job itself. */
function isMissing(store: Store, job: PackedJob): boolean {
  const [left, ...others] = stillMissing(store, job);
  return (
    left !== undefined &&
    others.length === 0 &&
    left.start === job.start &&
    left.end === job.end &&
    // Where nothing changed it has the same ones.
    left.targets === job.targets
  );
}

/** What is left of a job by what the ledger has now, its neighbours side by side as before. */
function stillMissing({ ledger }: Store, job: PackedJob): PackedJob[] {
  if (ledger.completeSize(job.path) !== undefined) return [];
  const { targets, raw } = job;
  const spans = ledger.spansWithin(job.path, firstOffset(job), job.end);
  // Of most jobs nothing was ever held, and each has thousands of entries.
  if (spans.length === 0 && targets.lackAll) return [job];
  const held = new Float64Array(targets.length);
  const runs: number[][] = [];
  let last: number[] | undefined;
  for (let index = 0; index < targets.length; index++) {
    const offset = targets.offset(index);
    const size = targets.size(index);
    const isRight = raw !== true || covers(spans, offset, offset + size);
    held[index] = isRight ? Math.min(heldUntil(spans, offset) - offset, size) : 0;
    // A loose object that is verified to its end still needs its name.
    if (held[index] === size && !isLoose(job)) {
      // A host that knows no ranges sends all of it once, not once for each part.
      if (job.allowWhole !== true) last = undefined;
    } else if (last === undefined) {
      last = [index];
      runs.push(last);
    } else {
      last.push(index);
    }
  }
  return runs.map((run) => partOf(job, run, held));
}
