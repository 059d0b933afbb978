import PQueue from 'p-queue';
import { askHosts } from '../../cdn/hosts/ask-hosts.ts';
import type { HealthKind, Host, Hosts } from '../../cdn/hosts/hosts.ts';
import { gotSomewhere } from '../../cdn/transport/crawl-watch.ts';
import { concatBytes } from '../../core/bytes.ts';
import { abortError, codeOf, type ErrorCode, isUnavailable, PakratError } from '../../core/errors.ts';
import type { Span } from '../../store/spans.ts';
import type { Engine } from './engine.ts';
import { Patience } from './patience.ts';
import type { RangeResult } from './range-job.ts';
import { type PackedJob, partOf, type RangeTargets } from './range-targets.ts';

/** The hosts and the engine that a transfer uses, and callbacks for what comes of it. */
export interface TransferOptions {
  hosts: Hosts;
  engine: Engine;
  /** Ranges in flight at a time. */
  jobs: number;
  attemptsPerHost: number;
  kind: HealthKind;
  /** Tell the ekeys of what failed: there may be millions. */
  withKeys?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called with spans of an object that are verified and on disk. */
  onSpans: (path: string, spans: Span[]) => void;
  /** Called with the index of a target that is verified to its end. */
  onDone?: (job: PackedJob, index: number) => void;
  /** Called when a job ended, whatever came of it. */
  onEnd?: (job: PackedJob) => void;
}

/** Entries that no host gave right, with the last reason. */
export interface TransferFailure {
  path: string;
  /** Ekeys of the entries, 16 bytes each, where they were asked for. */
  keys?: Uint8Array | undefined;
  code: string;
  message: string;
  hint?: string | undefined;
  /** Each host that has it gave it wrong. */
  wrong?: boolean;
}

/** Milliseconds that transfers in flight may take to end after an interruption. */
const graceMs = 900;

/**
 * Runs range jobs, some at a time, each on the host that does best; what a host got wrong is asked from the next one, and only that.
 * Ends when all are done or given up.
 * @returns what no host gave right
 * @throws E_ABORTED after an interruption, E_STORE… when this machine is the trouble; running jobs are ended first
 */
export async function transfer(jobs: Iterable<PackedJob>, options: TransferOptions): Promise<TransferFailure[]> {
  const queue = new PQueue({ concurrency: options.jobs });
  const failures: TransferFailure[] = [];
  const patience = new Patience();
  let fatal: unknown;
  const stopped = (): boolean => fatal !== undefined || options.signal?.aborted === true;
  const stop = (): void => {
    queue.clear();
    setTimeout(() => options.engine.abort(), graceMs).unref();
  };
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    for (const job of jobs) {
      // Few wait: a job of many small entries takes memory for each.
      await queue.onSizeLessThan(2);
      if (stopped()) break;
      void queue.add(async () => {
        try {
          const failure = await runJob(job, patience, options);
          if (failure !== undefined) failures.push(failure);
        } catch (error) {
          fatal ??= error;
          options.engine.abort();
          queue.clear();
        } finally {
          options.onEnd?.(job);
        }
      });
    }
    await queue.onIdle();
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  if (fatal !== undefined && codeOf(fatal) !== 'E_ABORTED') throw fatal;
  if (stopped()) throw abortError();
  return failures;
}

/** Runs a job, of whose targets nothing may be asked afterwards. */
async function runJob(
  job: PackedJob,
  patience: Patience,
  options: TransferOptions,
): Promise<TransferFailure | undefined> {
  const { hosts, kind, attemptsPerHost, signal } = options;
  const run = new JobRun(job, patience, options);
  try {
    await askHosts(hosts, { kind, what: job.path, attemptsPerHost, signal }, (host) => run.ask(host));
    return undefined;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const { code, message, hint, data } = error;
    const keys = options.withKeys === true ? run.leftKeys() : undefined;
    return { path: job.path, keys, code, message, hint, wrong: data.wrong === true };
  } finally {
    run.giveBack();
  }
}

/** A job that one host after the other is asked for, each for what is left of it. */
class JobRun {
  /** Parts that no host gave right yet. */
  #left: PackedJob[];
  readonly #job: PackedJob;
  readonly #patience: Patience;
  readonly #options: TransferOptions;
  readonly #asked = new Set<Host>();
  readonly #targets: Set<RangeTargets>;

  constructor(job: PackedJob, patience: Patience, options: TransferOptions) {
    this.#job = job;
    this.#left = [job];
    this.#patience = patience;
    this.#options = options;
    this.#targets = new Set([job.targets]);
  }

  /** @throws what was wrong first, when something is left; E_STORE… and the like when this machine is the trouble */
  async ask(host: Host): Promise<void> {
    const { hosts, kind } = this.#options;
    if (hosts.noneKnowsRanges(kind) && this.#job.allowWhole !== true) throw noRanges(this.#job.path);
    // Another host may have it right: only when one is asked again it is worth it to see what lies behind wrong entries.
    const isPatient = this.#asked.has(host);
    this.#asked.add(host);
    const begun = performance.now();
    const left: PackedJob[] = [];
    let gained = 0;
    let error: RangeResult['error'];
    for (const part of this.#left) {
      const { result, right, isDone } = await this.#fetch(part, host, isPatient);
      gained += right;
      error ??= result.error;
      if (!isDone) left.push(...leftOver(part, result.verified));
    }
    this.#left = left;
    for (const { targets } of left) this.#targets.add(targets);
    if (left.length === 0) return;
    const progressed = gotSomewhere(gained, performance.now() - begun);
    const cut = `${host.base}/${this.#job.path}: the answer was not complete`;
    const { code, message, hint, data } = error ?? { code: 'E_NETWORK', message: cut, hint: undefined, data: {} };
    throw new PakratError(code as ErrorCode, message, { hint, data: { ...data, progressed } });
  }

  /** @returns what came of a part, the bytes that are right now and were not before, and whether all of them are */
  async #fetch(
    part: PackedJob,
    host: Host,
    isPatient: boolean,
  ): Promise<{ result: RangeResult; right: number; isDone: boolean }> {
    const { hosts, kind, engine, onSpans, onDone } = this.#options;
    const patience = isPatient ? this.#patience.take(part.end - part.start) : 0;
    const asked = { ...part, hasAlternatives: hosts.hasOthers(host, kind), patience };
    const result = await engine.run(asked, host.base, (spans) => onSpans(part.path, spans));
    let right = 0;
    let done = 0;
    for (let index = 0; index < part.targets.length; index++) {
      const verified = result.verified[index] ?? 0;
      right += Math.max(verified - part.targets.held(index), 0);
      if (verified !== part.targets.size(index)) continue;
      onDone?.(part, index);
      done += 1;
    }
    this.#patience.settle(patience, { wrong: result.wrongBytes, right });
    if (result.rangeServed) hosts.servedRange(host);
    return { result, right, isDone: done === part.targets.length };
  }

  /** The ekeys of what is left, 16 bytes each. */
  leftKeys(): Uint8Array {
    return concatBytes(this.#left.map(({ targets }) => targets.keys));
  }

  /** Gives the memory of all targets back. */
  giveBack(): void {
    for (const targets of this.#targets) targets.giveBack();
  }
}

/** Ends a job at once: the same objects will be read whole instead. */
function noRanges(path: string): PakratError {
  return new PakratError('E_NETWORK_EXHAUSTED', `${path}: no host knows ranges`);
}

/** The rest of a job that is still to fetch, as jobs: the unverified entries, neighbours side by side as before. */
function leftOver(job: PackedJob, verified: ArrayLike<number>): PackedJob[] {
  const { targets } = job;
  const held = Float64Array.from({ length: targets.length }, (_, i) => Math.max(targets.held(i), verified[i] ?? 0));
  const runs: number[][] = [];
  let isNext = false;
  for (let index = 0; index < targets.length; index++) {
    const isLeft = held[index]! < targets.size(index);
    if (isLeft && isNext) runs.at(-1)?.push(index);
    else if (isLeft) runs.push([index]);
    isNext = isLeft;
  }
  return runs.map((run) => partOf(job, run, held));
}
