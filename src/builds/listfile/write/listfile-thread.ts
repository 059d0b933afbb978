import { throwIfAborted } from '../../../core/errors.ts';
import type { LookupFolders } from '../../../store/layout.ts';
import { secondThread, ThreadPool, type ThreadUse } from '../../../threads/thread-pool.ts';
import type { ListedRows } from './listed-rows.ts';
import type { FoundFolders, PlacedNames } from './sorted-names.ts';

/** Names in memory that threads share. */
export type SharedNames = ListedRows & PlacedNames;

/** The names that a thread goes through, while they still come. */
export interface ListfileJob {
  names: SharedNames;
  folders: LookupFolders;
  /** How many there are by now, and whether they are all. */
  progress: Int32Array;
}

/** Find the folders of all names; bring them in the order of their hashes; write BASE.hashes. */
export type ListfileTask = 'folders' | 'hashes' | { base: string; of: number };

/** Where in {@link ListfileJob.progress} each number is. */
export const [countAt, isAllAt] = [0, 1];

/** A thread that goes through names while others are still read, and then writes BASE.hashes while BASE.names and BASE.ids are written. Needs `close`. */
export class ListfileThread {
  readonly #pool: ThreadPool<
    undefined,
    ListfileJob,
    ListfileTask,
    (FoundFolders | undefined)[],
    FoundFolders | undefined
  >;
  readonly #progress = new Int32Array(new SharedArrayBuffer(8));
  readonly #end = new AbortController();
  readonly #run: Promise<void>;
  readonly #folders = new Answer<FoundFolders | undefined>();
  readonly #hashed = new Answer<void>();
  readonly #write = new Answer<ListfileTask | undefined>();

  /** Starts it over names that are in shared memory; undefined where there is to be none. */
  static start(names: SharedNames, folders: LookupFolders, use: ThreadUse): ListfileThread | undefined {
    const url = secondThread('listfile-worker', use, import.meta.url);
    return url && new ListfileThread(url, names, folders);
  }

  private constructor(url: URL, names: SharedNames, folders: LookupFolders) {
    this.#pool = new ThreadPool({ url, setup: undefined, unpack: (results) => results }, 1);
    const job = { names, folders, progress: this.#progress };
    this.#run = this.#pool.run(job, this.#tasks(), {
      signal: this.#end.signal,
      onResult: (task, found) => {
        if (task === 'folders') this.#folders.give(found);
        else if (task === 'hashes') this.#hashed.give();
      },
    });
    // Whoever waits for an answer is told.
    this.#run.catch(() => {});
  }

  async *#tasks(): AsyncGenerator<ListfileTask[]> {
    yield ['folders'];
    yield ['hashes'];
    const write = await this.#write.given;
    if (write !== undefined) yield [write];
  }

  /** Says how many names there are by now. */
  reach(count: number): void {
    Atomics.store(this.#progress, countAt, count);
    Atomics.notify(this.#progress, countAt);
  }

  /** Says that there are no more. @returns their folders @throws what ended the thread */
  async foundFolders(): Promise<FoundFolders | undefined> {
    Atomics.store(this.#progress, isAllAt, 1);
    Atomics.notify(this.#progress, countAt);
    await Promise.race([this.#folders.given, this.#run]);
    return this.#folders.given;
  }

  /** Waits until all names are hashed. @throws what ended the thread */
  async hashed(): Promise<void> {
    await Promise.race([this.#hashed.given, this.#run]);
  }

  /** Writes BASE.hashes, when all else of the rows is there. @throws E_ABORTED, E_STORE… */
  async write(base: string, of: number, signal?: AbortSignal): Promise<void> {
    const end = (): void => this.#end.abort();
    signal?.addEventListener('abort', end);
    try {
      throwIfAborted(signal);
      this.#write.give({ base, of });
      await this.#run;
    } finally {
      signal?.removeEventListener('abort', end);
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#write.give(undefined);
    await this.#pool.end();
  }
}

/** What comes later. */
class Answer<Value> {
  readonly given: Promise<Value>;
  give: (value: Value) => void = () => {};

  constructor() {
    this.given = new Promise((resolve) => {
      this.give = resolve;
    });
  }
}
