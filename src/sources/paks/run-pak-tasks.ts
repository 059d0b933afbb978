import { breathe } from '../../core/breathe.ts';
import { throwIfAborted } from '../../core/errors.ts';
import { addAll } from '../../core/tables/add-all.ts';
import { countEntries, eachEntry, entryAt, shareDirectory } from '../../paks/many-entries.ts';
import type { Pak, VerifyWork } from '../../paks/pak.ts';
import { usefulThreads } from '../../threads/thread-pool.ts';
import { problemRows, type VerifyProblem, type VerifyResult } from '../../verify/verify-result.ts';
import { PakPool, type PakPoolHooks } from './pak-pool.ts';
import type { PakSource } from './pak-source.ts';
import { type PakJob, type PakTask, pakTaskRunner } from './pak-tasks.ts';

interface PakTaskOptions extends PakPoolHooks {
  /** Default: as many as the machine has cores, 8 at most, and none for small work. */
  threads?: number | undefined;
}

/** To start threads takes as long as this many bytes or files take. */
const smallBytes = 48 << 20;
const smallFiles = 600;

/**
 * Does a job with many entries of a PAK: in threads that each open it for themselves when that is worth it, else here.
 * A task that fails has its problem in its result.
 * @throws E_ABORTED, E_STORE_FULL and what is a bug; nothing half-written is left
 */
export async function runPakTasks(
  source: PakSource,
  job: PakJob,
  tasks: Iterable<PakTask>,
  options: PakTaskOptions = {},
): Promise<void> {
  throwIfAborted(options.signal);
  const pool = poolFor(source, job, { tasks, threads: options.threads });
  if (pool === undefined) return runHere(source, job, tasks, options);
  try {
    await pool.run({ job, directory: shareDirectory(source.pak) }, tasks, options);
  } finally {
    await pool.end();
  }
}

function poolFor(
  { from, pool }: PakSource,
  job: PakJob,
  { tasks, threads: asked }: { tasks: Iterable<PakTask>; threads: number | undefined },
): PakPool | undefined {
  let [count, bytes] = [0, 0];
  for (const { size } of tasks) {
    count += 1;
    bytes += size;
  }
  const isSmall = bytes < smallBytes && count < smallFiles;
  const threads = Math.min(usefulThreads(asked ?? (isSmall ? 0 : undefined)), count);
  // A check of a large entry hears no signal, and a thread can be ended.
  if (threads < (job.kind === 'verify' ? 1 : 2) || from === undefined) return undefined;
  return asked === undefined && pool !== undefined ? pool : new PakPool(from, threads);
}

async function runHere(
  source: PakSource,
  job: PakJob,
  tasks: Iterable<PakTask>,
  { signal, onResult }: PakTaskOptions,
): Promise<void> {
  const run = pakTaskRunner(source.pak, job, () => breathe(signal));
  for (const task of tasks) {
    const result = await run(task);
    onResult?.(task, result);
  }
}

/** The tasks of a check, one for each entry: there may be millions, and each is made when it is asked for. */
class CheckTasks implements Iterable<PakTask> {
  readonly #sizes: Float64Array;
  readonly bytes: number;

  constructor(pak: Pak) {
    this.#sizes = new Float64Array(countEntries(pak));
    for (const { index, storedSize } of eachEntry(pak)) this.#sizes[index] = storedSize;
    this.bytes = this.#sizes.reduce((sum, size) => sum + size, 0);
  }

  get count(): number {
    return this.#sizes.length;
  }

  *[Symbol.iterator](): Generator<PakTask> {
    for (let index = 0; index < this.#sizes.length; index++) yield { index, size: this.#sizes[index]!, path: '' };
  }
}

/** The depth of a check, the number of threads for it, and the hooks that hear of it. */
export interface VerifyOptions extends VerifyWork {
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
  onPlan?: ((files: number, bytes: number) => void) | undefined;
  onEntry?: ((bytes: number) => void) | undefined;
}

/**
 * Checks the directory of a PAK and every entry in it, hidden ones too, as far as the format allows.
 * @throws E_KEY_MISSING when the directory is locked, E_ABORTED
 */
export async function verifyPak(source: PakSource, options: VerifyOptions = {}): Promise<VerifyResult> {
  const { pak } = source;
  const result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  const directory = await pak.verifyDirectory();
  if (directory !== undefined) result.bad.push({ name: '', ...directory });
  const tasks = new CheckTasks(pak);
  options.onPlan?.(tasks.count, tasks.bytes);
  const nameOf = (index: number): string => entryAt(pak, index)?.name ?? '';
  const found: VerifyProblem[] = [];
  const problems = problemRows(found);
  await runPakTasks(source, { kind: 'verify', decode: options.decode }, tasks, {
    threads: options.threads,
    signal: options.signal,
    onResult({ index }, { bytes, problem, unsure, unproven }) {
      result.checked.entries += 1;
      result.checked.bytes += bytes;
      if (problem !== undefined) problems.add({ name: nameOf(index), index, ...problem });
      if (unsure === true) {
        result.unsure ??= [];
        result.unsure.push(nameOf(index));
      }
      if (unproven === true) {
        result.unproven ??= { entries: 0, bytes: 0 };
        result.unproven.entries += 1;
        result.unproven.bytes += bytes;
      }
      options.onEntry?.(bytes);
    },
  });
  // Threads end in any order; reports should not.
  addAll(
    result.bad,
    found.sort((a, b) => (a.index ?? 0) - (b.index ?? 0)),
  );
  return result;
}
