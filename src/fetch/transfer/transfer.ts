import PQueue from 'p-queue';
import { askHosts } from '../../cdn/hosts/ask-hosts.ts';
import type { HealthKind, Hosts } from '../../cdn/hosts/hosts.ts';
import { gotSomewhere } from '../../cdn/transport/crawl-watch.ts';
import { concatBytes } from '../../core/bytes.ts';
import { abortError, codeOf, type ErrorCode, isUnavailable, PakratError } from '../../core/errors.ts';
import type { Span } from '../../store/spans.ts';
import type { Engine } from './engine.ts';
import { type PackedJob, partOf } from './range-targets.ts';

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
          const failure = await runJob(job, options);
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
async function runJob(job: PackedJob, options: TransferOptions): Promise<TransferFailure | undefined> {
  let remaining = [job];
  const targets = new Set([job.targets]);
  const ask = { kind: options.kind, what: job.path, attemptsPerHost: options.attemptsPerHost, signal: options.signal };
  try {
    await askHosts(options.hosts, ask, async (host) => {
      if (options.hosts.noneKnowsRanges(options.kind) && job.allowWhole !== true) throw noRanges(job.path);
      const next: PackedJob[] = [];
      let error: PakratError | undefined;
      const begun = performance.now();
      let gained = 0;
      const hasProgressed = (): boolean => gotSomewhere(gained, performance.now() - begun);
      for (const part of remaining) {
        const ask = { ...part, hasAlternatives: options.hosts.hasOthers(host, options.kind) };
        const result = await options.engine.run(ask, host.base, (spans) => options.onSpans(part.path, spans));
        let done = 0;
        for (let index = 0; index < part.targets.length; index++) {
          const verified = result.verified[index] ?? 0;
          gained += Math.max(verified - part.targets.held(index), 0);
          if (verified !== part.targets.size(index)) continue;
          options.onDone?.(part, index);
          done += 1;
        }
        if (done < part.targets.length) next.push(...leftOver(part, result.verified));
        if (result.rangeServed) options.hosts.servedRange(host);
        if (result.error !== undefined) {
          const { code, message, hint, data } = result.error;
          error ??= new PakratError(code as ErrorCode, message, {
            hint,
            data: { ...data, progressed: hasProgressed() },
          });
        }
      }
      remaining = next;
      for (const part of remaining) targets.add(part.targets);
      if (remaining.length > 0) {
        const what = `${host.base}/${job.path}: the answer was not complete`;
        throw error ?? new PakratError('E_NETWORK', what, { data: { progressed: hasProgressed() } });
      }
    });
    return undefined;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const keys = options.withKeys === true ? concatBytes(remaining.map(({ targets }) => targets.keys)) : undefined;
    const { code, message, hint } = error as PakratError;
    return { path: job.path, keys, code, message, hint };
  } finally {
    for (const used of targets) used.giveBack();
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
