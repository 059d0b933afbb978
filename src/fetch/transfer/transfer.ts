import { setMaxListeners } from 'node:events';
import PQueue from 'p-queue';
import { askHosts } from '../../cdn/hosts/ask-hosts.ts';
import type { HealthKind, Host, Hosts } from '../../cdn/hosts/hosts.ts';
import { gotSomewhere } from '../../cdn/transport/crawl-watch.ts';
import { concatBytes } from '../../core/bytes.ts';
import { abortError, codeOf, type ErrorCode, isUnavailable, PakratError } from '../../core/errors.ts';
import { isSpoilt } from '../../files/durable.ts';
import type { Span } from '../../store/spans.ts';
import type { Engine } from './engine.ts';
import { Patience } from './patience.ts';
import type { RangeResult } from './range-job.ts';
import { type PackedJob, partOf, type RangeTargets } from './range-targets.ts';

/** The hosts and the engine that a transfer uses, and callbacks for what comes of it. */
export interface TransferOptions {
  hosts: Hosts;
  /** Asked for when there is something to fetch. */
  engine: () => Promise<Engine>;
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
  /** Called for a job whose file a broken disk does not let be written to. @returns true where somebody looks after it, and it is no failure */
  onSpoilt?: (job: PackedJob) => boolean;
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

/** The error that a failure stands for. @param ekeys of its entries, hex, for whoever asks for them by these */
export function failureError(failure: TransferFailure, ekeys?: readonly string[]): PakratError {
  const { code, message, hint, path, wrong } = failure;
  const data = { object: path, ...(ekeys && { ekeys }), ...(wrong && { wrong }) };
  return new PakratError(code as ErrorCode, message, { hint, data });
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
  const end = new TransferEnd(options.signal);
  const tools = { ...options, end, patience: new Patience() };
  let fatal: unknown;
  try {
    for (const job of jobs) {
      // Few wait: a job of many small entries takes memory for each.
      await queue.onSizeLessThan(2);
      if (end.asking.aborted) break;
      void queue.add(async () => {
        try {
          // Those that wait still when it ends are not begun.
          if (end.asking.aborted) return;
          const failure = await runJob(job, tools);
          if (failure !== undefined) failures.push(failure);
        } catch (error) {
          fatal ??= error;
          end.now();
        } finally {
          options.onEnd?.(job);
        }
      });
    }
    await queue.onIdle();
  } finally {
    end.close();
  }
  if (fatal !== undefined && codeOf(fatal) !== 'E_ABORTED') throw fatal;
  if (end.asking.aborted) throw abortError();
  return failures;
}

/** The end of a transfer before it is done: an interruption, or trouble of this machine. Others that use its engine go on. Needs `close`. */
class TransferEnd {
  readonly #asking = new AbortController();
  readonly #running = new AbortController();
  /** Ends the asking: nothing more is begun. */
  readonly asking = this.#asking.signal;
  /** Ends what is in flight. */
  readonly running = this.#running.signal;
  readonly #signal: AbortSignal | undefined;
  readonly #stop = (): void => {
    this.#asking.abort(abortError());
    setTimeout(() => this.now(), graceMs).unref();
  };

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    // Every job listens to them.
    setMaxListeners(0, this.asking, this.running);
    if (signal?.aborted === true) this.#stop();
    else signal?.addEventListener('abort', this.#stop, { once: true });
  }

  /** Ends all of it, without a grace. */
  now(): void {
    this.#asking.abort(abortError());
    this.#running.abort(abortError());
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#stop);
  }
}

interface JobTools extends TransferOptions {
  end: TransferEnd;
  patience: Patience;
}

/** Runs a job, of whose targets nothing may be asked afterwards, unless somebody looks after it. */
async function runJob(job: PackedJob, tools: JobTools): Promise<TransferFailure | undefined> {
  const { hosts, kind, attemptsPerHost, end, withKeys } = tools;
  const run = new JobRun(job, tools);
  let isKept = false;
  try {
    const asked = { kind, what: job.path, attemptsPerHost, signal: end.asking };
    await askHosts(hosts, asked, (host) => run.ask(host));
    return undefined;
  } catch (error) {
    isKept = isSpoilt(error) && tools.onSpoilt?.(job) === true;
    if (isKept) return undefined;
    if (!isUnavailable(error)) throw error;
    const { code, message, hint, data } = error;
    const keys = withKeys === true ? run.leftKeys() : undefined;
    return { path: job.path, keys, code, message, hint, wrong: data.wrong === true };
  } finally {
    if (!isKept) run.giveBack();
  }
}

/** A job that one host after the other is asked for, each for what is left of it. */
class JobRun {
  /** Parts that no host gave right yet. */
  #left: PackedJob[];
  readonly #job: PackedJob;
  readonly #tools: JobTools;
  readonly #asked = new Set<Host>();
  readonly #targets: Set<RangeTargets>;

  constructor(job: PackedJob, tools: JobTools) {
    this.#job = job;
    this.#left = [job];
    this.#tools = tools;
    this.#targets = new Set([job.targets]);
  }

  /** @throws what was wrong first, when something is left; E_STORE… and the like when this machine is the trouble */
  async ask(host: Host): Promise<void> {
    const { hosts, kind } = this.#tools;
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
    const { hosts, kind, end, onSpans, onDone } = this.#tools;
    const patience = isPatient ? this.#tools.patience.take(part.end - part.start) : 0;
    const asked = { ...part, hasAlternatives: hosts.hasOthers(host, kind), patience };
    const run = { onSpans: (spans: Span[]): void => onSpans(part.path, spans), signal: end.running };
    const engine = await this.#tools.engine();
    const result = await engine.run(asked, host.base, run);
    let right = 0;
    let done = 0;
    for (let index = 0; index < part.targets.length; index++) {
      const verified = result.verified[index] ?? 0;
      right += Math.max(verified - part.targets.held(index), 0);
      if (verified !== part.targets.size(index)) continue;
      onDone?.(part, index);
      done += 1;
    }
    this.#tools.patience.settle(patience, { wrong: result.wrongBytes, right });
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
