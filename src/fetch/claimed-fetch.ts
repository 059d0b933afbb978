import { pause } from '../core/breathe.ts';
import type { Claim } from '../store/claims.ts';
import { objectHash } from '../store/layout.ts';
import { covers, heldUntil } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { RangeJob, RangeTarget } from './transfer/range-job.ts';

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

  /** A moment until it is worth asking again. @throws E_ABORTED */
  async moment(): Promise<void> {
    this.#since ??= performance.now();
    if (!this.#told && performance.now() - this.#since > quietMs) {
      this.#told = true;
      this.#onWait?.();
    }
    await pause(askAgainMs, this.#signal);
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

/** Range jobs, each claimed when its turn comes; what others fetch is put off. Needs `close`. */
export class ClaimedJobs {
  /** Jobs of which others fetch something. */
  putOff: RangeJob[] = [];
  readonly #store: Store;
  readonly #claims = new Map<RangeJob, Claim>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** What is missing now of some jobs, and fetched by nobody else. */
  *take(jobs: Iterable<RangeJob>): Generator<RangeJob> {
    for (const job of jobs) for (const part of stillMissing(this.#store, job)) if (this.#claim(part)) yield part;
  }

  #claim(job: RangeJob): boolean {
    const claims = this.#store.claims();
    if (claims === undefined) return true;
    const start = job.targets[0]?.offset ?? job.start;
    const claim = claims.take(job.path, start, Math.max(job.end, start + 1));
    // It may have been fetched and released between the look and the claim.
    if (claim !== undefined && isMissing(this.#store, job)) {
      this.#claims.set(job, claim);
      return true;
    }
    claim?.release();
    this.putOff.push(job);
    return false;
  }

  /** Lets go of a job whose bytes are in the ledger. */
  release(job: RangeJob): void {
    this.#claims.get(job)?.release();
    this.#claims.delete(job);
  }

  close(): void {
    for (const job of [...this.#claims.keys()]) this.release(job);
  }
}

/** True where all of a job is missing just as it says: what {@link stillMissing} gives back is the job itself. */
function isMissing(store: Store, job: RangeJob): boolean {
  const [left, ...others] = stillMissing(store, job);
  return (
    left !== undefined &&
    others.length === 0 &&
    left.start === job.start &&
    left.end === job.end &&
    left.targets.length === job.targets.length &&
    left.targets.every((target, i) => target.offset === job.targets[i]!.offset && target.held === job.targets[i]!.held)
  );
}

/** What is left of a job by what the ledger has now, its neighbours side by side as before. */
function stillMissing({ ledger }: Store, job: RangeJob): RangeJob[] {
  if (ledger.completeSize(job.path) !== undefined) return [];
  const spans = ledger.spansWithin(job.path, job.targets[0]?.offset ?? job.start, job.end);
  const left: RangeJob[] = [];
  let last: RangeJob | undefined;
  for (const target of job.targets) {
    const { ekey, offset, size, raw } = target;
    const end = offset + size;
    const held = raw === true && !covers(spans, offset, end) ? 0 : Math.min(heldUntil(spans, offset) - offset, size);
    // A loose object that is verified to its end still needs its name.
    if (held === size && ekey !== objectHash(job.path)) {
      // A host that knows no ranges sends all of it once, not once for each part.
      if (job.allowWhole !== true) last = undefined;
    } else if (last === undefined) {
      last = { ...job, targets: [withHeld(target, held)], start: offset + held, end };
      left.push(last);
    } else {
      last.targets.push(withHeld(target, held));
      last.end = end;
    }
  }
  return left;
}

/** The target itself where nothing changed: a build has millions. */
function withHeld(target: RangeTarget, held: number): RangeTarget {
  return target.held === held ? target : { ...target, held };
}
