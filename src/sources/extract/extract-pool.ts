import type { KeyRing } from '../../formats/blte/keys.ts';
import { ThreadPool, type ThreadProgram, threadUrl, usefulThreads } from '../../threads/thread-pool.ts';
import type { FilesForThreads, Source } from '../source.ts';
import type { ChosenFile } from './chosen-files.ts';
import type { ExtractOptions } from './extraction.ts';
import type { ToldKey } from './threads/told-keys.ts';

/** To start threads takes as long as this many bytes or files take. */
const smallBytes = 48 << 20;
const smallFiles = 600;

/** The threads that may be used, and what their program is. */
interface PoolOptions<Packed, Result> extends Pick<ExtractOptions, 'raw' | 'threads' | 'workerUrl'> {
  /** The name of the program. */
  program: string;
  unpack: ThreadProgram<undefined, unknown, Packed, Result>['unpack'];
}

/** Threads for files of a source, and the files as they take them. */
export interface FileThreads<Job, Task, Packed, Result> {
  pool: ThreadPool<undefined, Job, Task, Packed, Result>;
  files: FilesForThreads;
}

/**
 * Starts threads for batches of chosen files where there are enough of them: they need `end` of their pool.
 * @returns all batches again; no threads where there are too few files, or the source has none for them
 * @throws what the first batch does
 */
export async function withThreads<Job, Task, Packed, Result>(
  { forThreads }: Source,
  batches: AsyncGenerator<ChosenFile[]>,
  { program, unpack, raw, threads: asked, workerUrl }: PoolOptions<Packed, Result>,
): Promise<{ all: AsyncIterable<ChosenFile[]>; threads: FileThreads<Job, Task, Packed, Result> | undefined }> {
  const next = await batches.next();
  const first = next.done === true ? [] : next.value;
  const all = next.done === true ? batches : withFirst(first, batches);
  if (forThreads === undefined || raw === true) return { all, threads: undefined };
  // A first batch that is full may be followed by any number.
  const bytes = first.reduce((sum, { entry }) => sum + (entry.size ?? 0), 0);
  const isFew = bytes < smallBytes && first.length < smallFiles;
  const threads = Math.min(usefulThreads(asked ?? (isFew ? 0 : undefined)), first.length);
  // One is worth it on a machine with one core, too: many files at a time take a third of the work of one after the other.
  const url = threads < 1 ? undefined : threadUrl(program, workerUrl ?? import.meta.url);
  if (url === undefined) return { all, threads: undefined };
  return { all, threads: { pool: new ThreadPool({ url, setup: undefined, unpack }, threads), files: forThreads } };
}

async function* withFirst<Item>(first: Item, rest: AsyncGenerator<Item>): AsyncGenerator<Item> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** Tells threads a key that one of them lacked, once. One that is not known is told by whoever does the file again. */
export function keyTeller(pool: { tell(told: ToldKey): void }, keys: KeyRing): (name: string | undefined) => void {
  const told = new Set<string>();
  return (name) => {
    const key = name === undefined || told.has(name) ? undefined : keys.find(name);
    if (name === undefined || key === undefined) return;
    told.add(name);
    pool.tell({ name, key });
  };
}
