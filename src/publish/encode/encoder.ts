import { Worker } from 'node:worker_threads';
import { breathe } from '../../core/breathe.ts';
import { type ErrorCode, PakratError, throwIfAborted } from '../../core/errors.ts';
import { usefulThreads } from '../../threads/thread-pool.ts';
import { type EncodeAnswer, type EncodeTask, runEncodeTask } from './encode-task.ts';
import { joined, transferOf } from './joined.ts';

/** A thread's answer to a task. It is sent some tasks at a time, and answers as many. */
export type EncodeReply = { done: EncodeAnswer } | { error: { code: string | undefined; message: string } };

/** The threads of an encoder, and the signal that stops it. */
export interface EncoderOptions {
  /** Default 0: all is done in the thread that asks. */
  threads?: number | undefined;
  /** The folder that has `encode-worker.js`, as the URL of a file in it; default: that of this module. */
  workerUrl?: URL | undefined;
  signal?: AbortSignal | undefined;
}

/** To start threads takes about as long as to encode this much. */
const smallBytes = 1 << 20;
/** To encode anything at all takes about as long as to encode so many bytes more. */
const taskBytes = 4096;

/** Room for what dies young in a thread, in MiB: pieces of files outlive the work on them by as much. */
const youngMiB = 4;

/** Tasks are sent together up to so many bytes of what they take: to send one takes about as long as to do one of the least. */
const batchBytes = 1 << 18;

/** What it takes to encode a content, in bytes. */
export function encodingWeight(size: number): number {
  return size + taskBytes;
}

/** Encodes contents, in threads as soon as that is worth it. Needs `end`. */
export class Encoder {
  readonly signal: AbortSignal | undefined;
  /** Bytes of contents that are in work at once, for all threads to be busy. */
  readonly windowBytes: number;
  readonly #threads: number;
  readonly #workerUrl: URL | undefined;
  readonly #pool: EncodeThread[] = [];
  #bytes = 0;
  #isEnded = false;

  constructor({ threads = 0, workerUrl, signal }: EncoderOptions) {
    this.#threads = usefulThreads(threads);
    this.#workerUrl = workerUrl;
    this.signal = signal;
    this.windowBytes = this.#threads < 2 ? 0 : this.#threads * (2 << 20);
    // A patch of large contents hears no signal.
    signal?.addEventListener('abort', this.#halt, { once: true });
  }

  readonly #halt = (): void => void this.end();

  /** Does a task. @throws as encodeBlte, E_ABORTED */
  async run(task: EncodeTask): Promise<EncodeAnswer> {
    if (this.#isEnded) throw new PakratError('E_ABORTED', 'encoding has ended');
    this.#bytes += encodingWeight(task.content.length);
    if (this.#threads < 2 || this.#bytes < smallBytes) {
      await breathe(this.signal);
      return runEncodeTask(task);
    }
    throwIfAborted(this.signal);
    try {
      return await this.#thread().run(task);
    } finally {
      throwIfAborted(this.signal);
    }
  }

  /** The one that has least to do. */
  #thread(): EncodeThread {
    if (this.#pool.length === 0) {
      const url = new URL('./encode-worker.js', this.#workerUrl ?? import.meta.url);
      for (let i = 0; i < this.#threads; i++) this.#pool.push(new EncodeThread(url));
    }
    return this.#pool.reduce((a, b) => (b.waitingBytes < a.waitingBytes ? b : a));
  }

  /** Ends the threads, whatever they do. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.signal?.removeEventListener('abort', this.#halt);
    await Promise.all(this.#pool.splice(0).map((thread) => thread.end()));
  }
}

interface Waiting {
  size: number;
  resolve: (answer: EncodeAnswer) => void;
  reject: (error: unknown) => void;
}

class EncodeThread {
  waitingBytes = 0;
  readonly #worker: Worker;
  /** In the order of their tasks, which is that of the answers. */
  readonly #waiting: Waiting[] = [];
  /** Tasks that are sent together, and what they take. */
  #batch: EncodeTask[] = [];
  #batchBytes = 0;
  #soon: NodeJS.Immediate | undefined;

  constructor(url: URL) {
    this.#worker = new Worker(url, { resourceLimits: { maxYoungGenerationSizeMb: youngMiB } });
    this.#worker.on('message', (replies: EncodeReply[]) => {
      for (const reply of replies) {
        const task = this.#next();
        if ('done' in reply) task?.resolve(reply.done);
        else task?.reject(new PakratError((reply.error.code ?? 'E_FORMAT') as ErrorCode, reply.error.message));
      }
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('a thread ended before its work')));
  }

  #next(): Waiting | undefined {
    const task = this.#waiting.shift();
    this.waitingBytes -= task?.size ?? 0;
    return task;
  }

  #fail(error: unknown): void {
    for (let task = this.#next(); task !== undefined; task = this.#next()) task.reject(error);
  }

  run(task: EncodeTask): Promise<EncodeAnswer> {
    const size = encodingWeight(task.content.length);
    this.waitingBytes += size;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ size, resolve, reject });
      this.#batch.push(task);
      this.#batchBytes += size;
      if (this.#batchBytes >= batchBytes) this.#send();
      // Whoever gives more does so before the event loop turns.
      else this.#soon ??= setImmediate(() => this.#send());
    });
  }

  #send(): void {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    const tasks = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    const isOwn = tasks.every((task) => task.kind === 'chunk' && task.isOwn);
    const contents = joined(
      tasks.map(({ content }) => content),
      isOwn,
    );
    const sent = tasks.map((task, i) => ({ ...task, content: contents[i] }));
    this.#worker.postMessage(sent, transferOf(contents));
  }

  async end(): Promise<void> {
    clearImmediate(this.#soon);
    await this.#worker.terminate();
  }
}
