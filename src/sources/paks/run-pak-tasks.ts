import { breathe } from '../../core/breathe.ts';
import { throwIfAborted } from '../../core/errors.ts';
import { PakPool, type PoolHooks, usefulThreads } from './pak-pool.ts';
import type { PakSource } from './pak-source.ts';
import { type PakJob, type PakTask, pakTaskRunner } from './pak-tasks.ts';

/** The number of threads for tasks, with the hooks of their pool. */
export interface PakTaskOptions extends PoolHooks {
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
  tasks: readonly PakTask[],
  options: PakTaskOptions = {},
): Promise<void> {
  throwIfAborted(options.signal);
  const pool = poolFor(source, job, { tasks, threads: options.threads });
  if (pool === undefined) return runHere(source, job, tasks, options);
  try {
    await pool.run(job, tasks, options);
  } finally {
    await pool.end();
  }
}

function poolFor(
  { from, pool }: PakSource,
  job: PakJob,
  { tasks, threads: asked }: { tasks: readonly PakTask[]; threads: number | undefined },
): PakPool | undefined {
  const bytes = tasks.reduce((sum, { size }) => sum + size, 0);
  const isSmall = bytes < smallBytes && tasks.length < smallFiles;
  const threads = Math.min(asked ?? (isSmall ? 0 : usefulThreads()), tasks.length);
  // A check of a large entry hears no signal, and a thread can be ended.
  if (threads < (job.kind === 'verify' ? 1 : 2) || from === undefined) return undefined;
  return asked === undefined && pool !== undefined ? pool : new PakPool(from, threads);
}

async function runHere(
  source: PakSource,
  job: PakJob,
  tasks: readonly PakTask[],
  { signal, onResult }: PakTaskOptions,
): Promise<void> {
  const run = pakTaskRunner(source.pak, job, () => breathe(signal));
  for (const task of tasks) {
    const result = await run(task);
    onResult?.(task, result);
  }
}
