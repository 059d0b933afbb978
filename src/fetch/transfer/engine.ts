import { Worker } from 'node:worker_threads';
import { HttpClient, type HttpLimits } from '../../cdn/transport/http.ts';
import { type RateLimit, unlimited } from '../../cdn/transport/rate-limit.ts';
import { readBytes } from '../../cdn/transport/read-buffer.ts';
import { messageOf, PakratError, throwIfAborted } from '../../core/errors.ts';
import type { Span } from '../../store/spans.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';
import { SmallEntries } from '../../verify/small-entries.ts';
import { fetchRange, type RangeTools } from './fetch-range.ts';
import type { RangeResult } from './range-job.ts';
import type { PackedJob, TargetColumns } from './range-targets.ts';

/** Settings of an engine; plain data, for they travel to threads. */
export interface EngineOptions extends Pick<RangeTools, 'temporary' | 'maxRangeBytes'> {
  limits: HttpLimits;
  /** Threads that work beside each other, each with an engine like this. */
  threads?: number;
  /** The file that a thread runs; absent: the one that lies beside this program. */
  workerUrl?: URL | undefined;
}

/** Called while an engine works: with the bytes of each piece that came, and for each request. */
export type EngineEvents = Pick<RangeTools, 'onReceived' | 'onRequest'>;

/** Who hears of a job, and who may end it. */
export interface RunOptions {
  /** Called with spans of the job's object that are verified and on disk. */
  onSpans: (spans: Span[]) => void;
  /** Ends the job; what it verified is still flushed and reported. One engine has jobs of several transfers, which do not end together. */
  signal: AbortSignal;
}

/** Runs range jobs, in this thread or in others: fetch, check, write, flush. */
export interface Engine {
  run(job: PackedJob, base: string, options: RunOptions): Promise<RangeResult>;
  close(): Promise<void>;
}

/**
 * An engine in this thread: right for small work and for a limited rate.
 * @param rate shared with whoever else fetches
 */
export function rangeEngine(options: EngineOptions, events: EngineEvents, rate: RateLimit = unlimited): Engine {
  const http = new HttpClient(options.limits);
  const buffer = new HashBuffer(options.threads);
  const small = SmallEntries.create(readBytes);
  const { temporary, maxRangeBytes } = options;
  const tools = { http, rate, buffer, small, temporary, maxRangeBytes, ...events };
  return {
    run: (job, base, { onSpans, signal }) => fetchRange(job, base, { ...tools, onSpans, signal }),
    close: () => http.close(),
  };
}

const youngSpaceMb = 2;

/** A job as a thread is told of it. */
interface SentJob extends Omit<PackedJob, 'targets'> {
  targets: TargetColumns;
}

/** Messages to a worker. */
export type ToWorker =
  | { type: 'run'; id: number; job: SentJob; base: string }
  | { type: 'abort'; id: number }
  | { type: 'close' };
/** Messages of a worker. */
export type FromWorker =
  | { type: 'spans'; id: number; spans: Span[] }
  | { type: 'received'; bytes: number; requests: number }
  | { type: 'result'; id: number; result: RangeResult };

/** Bytes that every thread has to do before one more is worth it, which takes 0.2 s of processor time to start. */
const fullLoad = 12 << 20;
/** Bytes that take as long as what is done for an entry whatever its size. */
const entryLoad = 2048;

/**
 * An engine in threads, each of which owns its transfers from the socket to the disk: hashing is the bottleneck,
 * and no bytes pass between threads. The first starts at once, others when those that run have enough to do.
 */
export function threadEngine(threads: number, options: EngineOptions, events: EngineEvents): Engine {
  const { workerUrl = new URL('./transfer-worker.js', import.meta.url), ...shared } = options;
  const start = (): RunningWorker => startWorker(workerUrl, { ...shared, threads }, events);
  const workers = [start()];
  const idlest = (): RunningWorker => workers.reduce((best, worker) => (worker.load < best.load ? worker : best));
  return {
    async run(job, base, options) {
      throwIfAborted(options.signal);
      if (idlest().load >= fullLoad && workers.length < threads) workers.push(start());
      return idlest().run(job, base, options);
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

interface WaitingJob {
  /** Its bytes, with those that its entries stand for. */
  load: number;
  resolve: (result: RangeResult) => void;
  reject: (error: unknown) => void;
  onSpans: RunOptions['onSpans'];
}

interface RunningWorker {
  /** That of all its jobs. */
  readonly load: number;
  run(job: PackedJob, base: string, options: RunOptions): Promise<RangeResult>;
  close(): Promise<void>;
}

function startWorker(url: URL, options: EngineOptions, events: EngineEvents): RunningWorker {
  const thread = new Worker(url, {
    workerData: options,
    // Pieces of bodies die young: a small young generation gives their memory back soon.
    resourceLimits: { maxYoungGenerationSizeMb: youngSpaceMb },
  });
  const waiting = new Map<number, WaitingJob>();
  let nextId = 0;
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  thread.on('message', (message: FromWorker) => {
    if (message.type === 'spans') waiting.get(message.id)?.onSpans(message.spans);
    else if (message.type === 'received') {
      events.onReceived(message.bytes);
      for (let i = 0; i < message.requests; i++) events.onRequest();
    } else {
      waiting.get(message.id)?.resolve(message.result);
      waiting.delete(message.id);
    }
  });
  thread.on('error', (error) => fail(new Error(`a transfer thread died: ${messageOf(error)}`, { cause: error })));
  thread.on('exit', () => fail(new PakratError('E_ABORTED', 'a transfer thread ended')));
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const post = (message: ToWorker): void => thread.postMessage(message);
  return {
    get load() {
      let all = 0;
      for (const { load } of waiting.values()) all += load;
      return all;
    },
    run(job, base, { onSpans, signal }) {
      nextId += 1;
      const id = nextId;
      const end = (): void => post({ type: 'abort', id });
      signal.addEventListener('abort', end, { once: true });
      const result = new Promise<RangeResult>((resolve, reject) => {
        // One that ended, or never began, answers nothing.
        if (failure !== undefined) return reject(failure);
        const { keys, numbers } = job.targets;
        const load = job.end - job.start + job.targets.length * entryLoad;
        waiting.set(id, { load, resolve, reject, onSpans });
        post({ type: 'run', id, job: { ...job, targets: { keys, numbers } }, base });
      });
      return result.finally(() => signal.removeEventListener('abort', end));
    },
    async close() {
      post({ type: 'close' });
      await exited;
    },
  };
}
