import { breathe } from '../../core/breathe.ts';
import { throwIfAborted } from '../../core/errors.ts';
import { batchesOf } from '../../threads/batches.ts';
import { ThreadPool, threadUrl, usefulThreads } from '../../threads/thread-pool.ts';
import type { FilesForThreads } from '../source.ts';
import { type ChosenFile, chosenBatches } from './chosen-files.ts';
import type { ExtractTask, ExtractTaskResult } from './extract-tasks.ts';
import { addFailure, claimName, type Extraction, extractOne, refuse, writeClaimed } from './extraction.ts';

/** The job of a thread. */
export interface ExtractJob {
  /** The folder for the files. */
  to: string;
}

/** A key that threads are told when one of them lacked it. */
export interface ToldKey {
  name: string;
  key: Uint8Array;
}

/** To start threads takes as long as this many bytes or files take. */
const smallBytes = 48 << 20;
const smallFiles = 600;
/** Tasks that travel together: enough bytes to be hashed beside each other. */
const batchLimits = { bytes: 8 << 20, tasks: 512 };

/** Writes the files that were chosen: in threads where there are enough of them, else here. @throws as extractFiles */
export async function extractChosen(work: Extraction): Promise<void> {
  const { source, options, result } = work;
  const batches = chosenBatches(source, options, (name, error) => addFailure(result, name, error));
  const first = await batches.next();
  if (first.done === true) return;
  // A first batch that is full may be followed by any number.
  const pool = poolFor(work, first.value);
  const all = withFirst(first.value, batches);
  if (pool === undefined || source.forThreads === undefined) {
    for await (const batch of all) await extractHere(work, batch);
    return;
  }
  try {
    await new ThreadedExtraction(work, source.forThreads, pool).run(all);
  } finally {
    await pool.end();
  }
}

async function* withFirst<Item>(first: Item, rest: AsyncGenerator<Item>): AsyncGenerator<Item> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function extractHere(work: Extraction, batch: readonly ChosenFile[]): Promise<void> {
  for (const chosen of batch) {
    await breathe(work.options.signal);
    await extractOne(work, chosen);
  }
}

type Pool = ThreadPool<undefined, ExtractJob, ExtractTask, ExtractTaskResult[], ExtractTaskResult>;

function poolFor({ source, options }: Extraction, first: readonly ChosenFile[]): Pool | undefined {
  const { raw, threads: asked, workerUrl } = options;
  if (source.forThreads === undefined || raw === true) return undefined;
  const bytes = first.reduce((sum, { entry }) => sum + (entry.size ?? 0), 0);
  const isSmall = bytes < smallBytes && first.length < smallFiles;
  const threads = Math.min(asked ?? (isSmall ? 0 : usefulThreads()), first.length);
  const url = threads < 2 ? undefined : threadUrl('extract-worker', workerUrl ?? import.meta.url);
  return url && new ThreadPool({ url, setup: undefined, unpack: (results) => results }, threads);
}

/** A file of a batch, and how far it came. */
interface Item extends ChosenFile {
  /** Undefined when it may have none: then there is the error. */
  path: string | undefined;
  error: unknown;
  isDone: boolean;
}

/** Files that are planned together; they are with threads until all of them came back. */
interface PlannedBatch {
  items: Item[];
  tasks: ExtractTask[];
  /** Tasks that did not come back yet. */
  left: number;
  /** Comes with the last of them. */
  back: Promise<void>;
  comesBack: () => void;
}

/** An extraction with threads: they write what they can, and what they put back is written here, in its order. */
class ThreadedExtraction {
  readonly #work: Extraction;
  readonly #files: FilesForThreads;
  readonly #pool: Pool;
  readonly #underWay = new Map<ExtractTask, { item: Item; batch: PlannedBatch }>();
  readonly #told = new Set<string>();

  constructor(work: Extraction, files: FilesForThreads, pool: Pool) {
    this.#work = work;
    this.#files = files;
    this.#pool = pool;
  }

  async run(batches: AsyncIterable<ChosenFile[]>): Promise<void> {
    const { options, folder } = this.#work;
    await this.#pool.run({ to: folder.root }, this.#taskBatches(batches), {
      signal: options.signal,
      onResult: (task, result) => this.#take(task, result),
    });
  }

  /** Batches for threads. While they work at one, the next is planned and what came back of the one before is ended. */
  async *#taskBatches(batches: AsyncIterable<ChosenFile[]>): AsyncGenerator<ExtractTask[]> {
    let before: PlannedBatch | undefined;
    for await (const chosen of batches) {
      const batch = await this.#plan(chosen);
      yield* batchesOf(batch.tasks, batchLimits);
      if (before !== undefined && !(await this.#end(before))) return;
      before = batch;
    }
    if (before !== undefined) await this.#end(before);
  }

  async #plan(chosen: readonly ChosenFile[]): Promise<PlannedBatch> {
    const found = await this.#files.find(chosen.map(({ entry }) => entry));
    let comesBack = (): void => {};
    const back = new Promise<void>((resolve) => {
      comesBack = resolve;
    });
    const batch: PlannedBatch = { items: [], tasks: [], left: 0, back, comesBack };
    for (const [i, file] of chosen.entries()) {
      const { item, isNew } = this.#claim(file);
      batch.items.push(item);
      const encoded = found[i];
      // What is written a second time waits for the first.
      if (encoded === undefined || item.path === undefined || !isNew) continue;
      // Written out: a spread would have the runtime make a class for each file.
      const { file: from, offset, encodedSize, ekey, ckey, size } = encoded;
      const task = { file: from, offset, encodedSize, ekey, ckey, size, path: item.path, md5: file.entry.md5 };
      batch.tasks.push(task);
      this.#underWay.set(task, { item, batch });
    }
    batch.left = batch.tasks.length;
    if (batch.left === 0) batch.comesBack();
    return batch;
  }

  #claim({ entry, output }: ChosenFile): { item: Item; isNew: boolean } {
    const { folder } = this.#work;
    const before = folder.claimed;
    try {
      const path = claimName(this.#work, entry, output);
      return { item: { entry, output, path, error: undefined, isDone: false }, isNew: folder.claimed > before };
    } catch (error) {
      return { item: { entry, output, path: undefined, error, isDone: false }, isNew: false };
    }
  }

  #take(task: ExtractTask, outcome: ExtractTaskResult): void {
    const { result, options } = this.#work;
    const under = this.#underWay.get(task);
    if (under === undefined) return;
    this.#underWay.delete(task);
    const { item, batch } = under;
    if (typeof outcome === 'object') this.#tellKey(outcome.putBack);
    else {
      item.isDone = true;
      if (outcome === 'there') result.skipped += 1;
      else {
        result.files += 1;
        result.bytes += task.size;
      }
      options.onFile?.(task.size);
    }
    batch.left -= 1;
    if (batch.left === 0) batch.comesBack();
  }

  /** Tells threads a key that one of them lacked, once. One that is not known is told by whoever does the file again. */
  #tellKey(name: string | undefined): void {
    const key = name === undefined || this.#told.has(name) ? undefined : this.#files.keys.find(name);
    if (name === undefined || key === undefined) return;
    this.#told.add(name);
    const told: ToldKey = { name, key };
    this.#pool.tell(told);
  }

  /** Waits for a batch, and does here what threads did not. @returns false when all is to end before it came back */
  async #end({ items, back }: PlannedBatch): Promise<boolean> {
    const { signal } = this.#work.options;
    const isBack = await this.#pool.halted.before(() => back.then(() => true));
    throwIfAborted(signal);
    if (isBack === undefined) return false;
    for (const { entry, path, error, isDone } of items) {
      if (isDone) continue;
      await breathe(signal);
      if (path === undefined) refuse(this.#work, entry.name, error);
      else await writeClaimed(this.#work, entry, path);
    }
    return true;
  }
}
