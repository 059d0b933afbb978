import { setMaxListeners } from 'node:events';
import { Worker } from 'node:worker_threads';
import { HttpClient, type HttpLimits } from '../../cdn/transport/http.ts';
import { rateLimit, unlimited } from '../../cdn/transport/rate-limit.ts';
import { abortError, messageOf, PakratError } from '../../core/errors.ts';
import type { Span } from '../../store/spans.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';
import { fetchRange, type RangeJob, type RangeResult } from './fetch-range.ts';

/** Settings of an engine; plain data, for they travel to threads. */
export interface EngineOptions {
  limits: HttpLimits;
  temporary: string;
  maxRangeBytes: number;
  slowestBytesPerSecond: number;
  /** Threads that work beside each other, each with an engine like this. */
  threads?: number;
  /** The file that a thread runs; absent: the one that lies beside this program. */
  workerUrl?: URL | undefined;
  /** Bytes a second for all transfers together; undefined for no limit. */
  bytesPerSecond?: number | undefined;
}

/** What an engine tells while it works. */
export interface EngineEvents {
  /** These spans of an object are verified and on disk. */
  onSpans: (path: string, spans: Span[]) => void;
  onReceived: (bytes: number) => void;
  onRequest: () => void;
}

/** Runs range jobs: fetch, check, write, flush. Where it does so (here, in threads) is its own affair. */
export interface Engine {
  run(job: RangeJob, base: string): Promise<RangeResult>;
  /** Ends running transfers; what they verified is still flushed and reported. */
  abort(): void;
  close(): Promise<void>;
}

/** An engine in this thread: right for small work and for a limited rate. */
export function localEngine(options: EngineOptions, events: EngineEvents): Engine {
  const http = new HttpClient(options.limits);
  const rate = options.bytesPerSecond === undefined ? unlimited : rateLimit(options.bytesPerSecond);
  const room = new HashBuffer(options.threads);
  const controller = new AbortController();
  // Every transfer listens to it, and there may be many.
  setMaxListeners(0, controller.signal);
  const { temporary, maxRangeBytes, slowestBytesPerSecond } = options;
  return {
    run: (job, base) =>
      fetchRange(job, base, {
        ...{ http, rate, room, temporary, maxRangeBytes, slowestBytesPerSecond, signal: controller.signal },
        ...events,
      }),
    abort: () => controller.abort(abortError()),
    close: () => http.close(),
  };
}

const youngSpaceMb = 2;

/** What travels to a worker. */
export type ToWorker = { type: 'run'; id: number; job: RangeJob; base: string } | { type: 'abort' } | { type: 'close' };
/** What a worker sends back. */
export type FromWorker =
  | { type: 'spans'; path: string; spans: Span[] }
  | { type: 'received'; bytes: number; requests: number }
  | { type: 'result'; id: number; result: RangeResult };

/**
 * An engine in threads, each of which owns its transfers from the socket to the disk: hashing is the bottleneck,
 * and no bytes pass between threads.
 */
export function threadEngine(threads: number, options: EngineOptions, events: EngineEvents): Engine {
  const connections = Math.ceil(options.limits.connections / threads);
  const { workerUrl = new URL('./transfer-worker.js', import.meta.url), ...shared } = options;
  const workers = Array.from({ length: threads }, () =>
    startWorker(workerUrl, { ...shared, threads, limits: { ...options.limits, connections } }, events),
  );
  return {
    async run(job, base) {
      const idlest = workers.reduce((best, worker) => (worker.waiting.size < best.waiting.size ? worker : best));
      return idlest.run(job, base);
    },
    abort: () => {
      for (const worker of workers) worker.post({ type: 'abort' });
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

interface RunningWorker {
  waiting: Map<number, { resolve: (result: RangeResult) => void; reject: (error: unknown) => void }>;
  post(message: ToWorker): void;
  run(job: RangeJob, base: string): Promise<RangeResult>;
  close(): Promise<void>;
}

function startWorker(url: URL, options: EngineOptions, events: EngineEvents): RunningWorker {
  const thread = new Worker(url, {
    workerData: options,
    // Pieces of bodies die young: a small young generation gives their memory back soon.
    resourceLimits: { maxYoungGenerationSizeMb: youngSpaceMb },
  });
  const waiting: RunningWorker['waiting'] = new Map();
  let nextId = 0;
  const fail = (error: unknown): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  thread.on('message', (message: FromWorker) => {
    if (message.type === 'spans') events.onSpans(message.path, message.spans);
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
  const post = (message: ToWorker): void => thread.postMessage(message);
  return {
    waiting,
    post,
    run(job, base) {
      nextId += 1;
      const id = nextId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        post({ type: 'run', id, job, base });
      });
    },
    async close() {
      const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      post({ type: 'close' });
      await ended;
    },
  };
}
