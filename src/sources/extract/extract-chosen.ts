import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { throwIfAborted } from '../../core/errors.ts';
import { batchesOf } from '../../threads/batches.ts';
import { type ChosenFile, chosenBatches } from './chosen-files.ts';
import { type FileThreads, keyTeller, withThreads } from './extract-pool.ts';
import { addFailure, claimName, type Extraction, extractOne, refuse, writeClaimed } from './extraction.ts';
import type { CheckTask, ExtractJob, ExtractTask, TaskResult } from './threads/extract-tasks.ts';

/** Tasks that travel together: enough bytes to be hashed beside each other. */
const batchLimits = { bytes: 8 << 20, tasks: 512 };
/** To look for large files takes one lane for each. */
const checkLimits = { bytes: 256 << 20, tasks: 512 };

/** Writes the files that were chosen: in threads where there are enough of them, else here. @throws as extractFiles */
export async function extractChosen(work: Extraction): Promise<void> {
  const { source, options, failures } = work;
  const batches = chosenBatches(source, options, (name, error) => addFailure(failures, name, error));
  const program = { ...options, program: 'extract-worker', unpack: (results: TaskResult[]) => results };
  const { all, threads } = await withThreads<ExtractJob, Task, TaskResult[], TaskResult>(source, batches, program);
  if (threads === undefined) {
    for await (const batch of all) await extractHere(work, batch);
    return;
  }
  try {
    await new ThreadedExtraction(work, threads).run(all);
  } finally {
    await threads.pool.end();
  }
}

async function extractHere(work: Extraction, batch: readonly ChosenFile[]): Promise<void> {
  await work.source.prepare(batch.map(({ entry }) => entry));
  for (const chosen of batch) {
    await breathe(work.options.signal);
    await extractOne(work, chosen);
  }
}

type Task = CheckTask | ExtractTask;
type Threads = FileThreads<ExtractJob, Task, TaskResult[], TaskResult>;

/** A file of a batch, and how far it came. */
interface Item extends ChosenFile {
  /** Undefined when it may have none: then there is the error. */
  path: string | undefined;
  error: unknown;
  /** False for what is written a second time, which waits for the first. */
  isNew: boolean;
  isFolderNew: boolean;
  isDone: boolean;
}

/** Files that go to threads together. */
interface Batch {
  items: Item[];
  /** Tasks that did not come back yet. */
  left: number;
  /** Comes with the last of them. */
  back: Promise<void>;
  comesBack: () => void;
}

/**
 * An extraction with threads: they look for files that are there already, and write the others as far as they can. What they put back is written here, in
 * its order. What is there need neither be fetched nor looked up.
 */
class ThreadedExtraction {
  readonly #work: Extraction;
  readonly #files: Threads['files'];
  readonly #pool: Threads['pool'];
  readonly #underWay = new Map<Task, { item: Item; batch: Batch }>();
  readonly #tellKey: (name: string | undefined) => void;
  /** Whether a folder was there when its first file came. */
  readonly #folders = new Map<string, boolean>();

  constructor(work: Extraction, { files, pool }: Threads) {
    this.#work = work;
    this.#files = files;
    this.#pool = pool;
    this.#tellKey = keyTeller(pool, files.keys);
    this.#folders.set('', !work.folder.isNew);
  }

  async run(batches: AsyncIterable<ChosenFile[]>): Promise<void> {
    const { options, folder } = this.#work;
    await this.#pool.run({ to: folder.root }, this.#taskBatches(batches), {
      signal: options.signal,
      onResult: (task, result) => this.#take(task, result),
    });
  }

  /** Batches for threads. While they look for files of one, those of the one before are planned to be written, and what came back of one more is ended. */
  async *#taskBatches(batches: AsyncIterable<ChosenFile[]>): AsyncGenerator<Task[]> {
    let sought: Batch | undefined;
    let written: Batch | undefined;
    for await (const chosen of andNothingTwice(batches)) {
      const batch: Batch = { items: chosen.map((file) => this.#claim(file)), ...nothingLeft };
      const checks = batch.items.map((item) => this.#checkTask(item));
      yield* batchesOf(this.#begin(batch, checks), checkLimits);
      if (sought !== undefined) {
        if (!(await this.#isBack(sought))) return;
        yield* batchesOf(this.#begin(sought, await this.#plan(sought)), batchLimits);
        if (written !== undefined && !(await this.#end(written))) return;
      }
      written = sought;
      sought = batch;
    }
  }

  #claim({ entry, output }: ChosenFile): Item {
    const { folder } = this.#work;
    const before = folder.claimed;
    try {
      const path = claimName(this.#work, entry, output);
      const isNew = folder.claimed > before;
      return { entry, output, path, error: undefined, isNew, isFolderNew: !this.#hasFolder(path), isDone: false };
    } catch (error) {
      return { entry, output, path: undefined, error, isNew: false, isFolderNew: false, isDone: false };
    }
  }

  /** The task to look for a file; undefined where it cannot be there, or nothing tells its content. */
  #checkTask({ entry, path, isNew, isFolderNew }: Item): CheckTask | undefined {
    const { size, md5 } = entry;
    if (path === undefined || !isNew || isFolderNew || size === undefined || md5 === undefined) return undefined;
    return { path, size, md5 };
  }

  #hasFolder(path: string): boolean {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const isThere = existsSync(join(this.#work.folder.root, folder));
    this.#folders.set(folder, isThere);
    return isThere;
  }

  /** Fetches what is not there, and says how each file of it is written; undefined for one that is left to this thread. */
  async #plan({ items }: Batch): Promise<(ExtractTask | undefined)[]> {
    const wanted = items.filter(({ isDone }) => !isDone).map(({ entry }) => entry);
    if (wanted.length > 0) await this.#work.source.prepare(wanted);
    const found = (await this.#files.find(wanted)).values();
    return items.map(({ path, isNew, isFolderNew, isDone }) => {
      const encoded = isDone ? undefined : found.next().value;
      if (encoded === undefined || path === undefined || !isNew) return undefined;
      // Written out: a spread would have the runtime make a class for each file.
      const { file, offset, encodedSize, ekey, ckey, size } = encoded;
      return { file, offset, encodedSize, ekey, ckey, size, path, isFolderNew };
    });
  }

  /** Says which tasks of a batch go to threads. @param tasks one for each item, or undefined */
  #begin<Given extends Task>(batch: Batch, tasks: readonly (Given | undefined)[]): Given[] {
    const given: Given[] = [];
    for (const [i, task] of tasks.entries()) {
      if (task === undefined) continue;
      given.push(task);
      this.#underWay.set(task, { item: batch.items[i]!, batch });
    }
    batch.left = given.length;
    if (batch.left > 0)
      batch.back = new Promise((resolve) => {
        batch.comesBack = resolve;
      });
    return given;
  }

  #take(task: Task, outcome: TaskResult): void {
    const { result, options } = this.#work;
    const under = this.#underWay.get(task);
    if (under === undefined) return;
    this.#underWay.delete(task);
    const { item, batch } = under;
    if (typeof outcome === 'object') this.#tellKey(outcome.putBack);
    else if (outcome !== 'lacking') {
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

  /** Waits for a batch. @returns false when all is to end before it came back */
  async #isBack({ back }: Batch): Promise<boolean> {
    const isBack = await this.#pool.halted.before(() => back.then(() => true));
    throwIfAborted(this.#work.options.signal);
    return isBack === true;
  }

  /** Waits for a batch, and does here what threads did not. @returns as {@link #isBack} */
  async #end(batch: Batch): Promise<boolean> {
    const { signal } = this.#work.options;
    if (!(await this.#isBack(batch))) return false;
    for (const { entry, path, error, isDone } of batch.items) {
      if (isDone) continue;
      await breathe(signal);
      if (path === undefined) refuse(this.#work, entry.name, error);
      else await writeClaimed(this.#work, entry, path);
    }
    return true;
  }
}

/** Of a batch that no thread has. */
const nothingLeft: Omit<Batch, 'items'> = { left: 0, back: Promise.resolve(), comesBack() {} };

/** What comes last goes through all steps, too. */
async function* andNothingTwice(batches: AsyncIterable<ChosenFile[]>): AsyncGenerator<ChosenFile[]> {
  yield* batches;
  yield [];
  yield [];
}
