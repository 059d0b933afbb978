import type { EncodedFile } from '../../builds/encoded-files.ts';
import { breathe } from '../../core/breathe.ts';
import { giveBack } from '../../core/tables/large-bytes.ts';
import { batchesInOrder } from '../../threads/batches.ts';
import type { Source } from '../source.ts';
import { type ChosenFile, chosenBatches } from './chosen-files.ts';
import { type FileThreads, keyTeller, withThreads } from './extract-pool.ts';
import type { ExtractOptions } from './extraction.ts';
import { isSmall } from './threads/decode-alone.ts';
import { type DecodedBatch, type DecodeResult, resultsOf } from './threads/decode-tasks.ts';

/** A file that was chosen and made ready, and its content where a thread had it, which is there until the next file is asked for; what has none is to be read. */
interface FileAhead {
  chosen: ChosenFile;
  content: Uint8Array | undefined;
}

/** A file, and what a thread is told to decode it; undefined for one that is read here. */
interface Item {
  chosen: ChosenFile;
  task: EncodedFile | undefined;
  size: number;
}

/** Files that were asked for together. */
interface Group {
  items: readonly Item[];
  results: Promise<DecodeResult[]>;
}

/** A few of these are under way at once, and contents wait for whoever takes them. */
const groupLimits = { bytes: 2 << 20, tasks: 256 };

type Threads = FileThreads<undefined, EncodedFile, DecodedBatch, DecodeResult>;

/**
 * The files that names and globs choose, then those of the list, in this order, each ready to be read. Of a build threads decode the next ones meanwhile, where that pays.
 * @param onMissing told of entries of the list that are not there
 * @throws as chosenBatches
 */
export async function* filesAhead(
  source: Source,
  options: Omit<ExtractOptions, 'to'>,
  onMissing: (name: string, error: unknown) => void,
): AsyncGenerator<FileAhead> {
  const program = { ...options, program: 'decode-worker', unpack: resultsOf };
  const batches = chosenBatches(source, options, onMissing);
  const { all, threads } = await withThreads<undefined, EncodedFile, DecodedBatch, DecodeResult>(
    source,
    batches,
    program,
  );
  try {
    threads?.pool.begin(undefined);
    for await (const { items, results } of groups(source, all, threads)) {
      const decoded = await results;
      const contents = decoded.values();
      for (const { chosen, task } of items) {
        await breathe(options.signal);
        const content = task && contents.next().value;
        yield { chosen, content: content instanceof Uint8Array ? content : undefined };
      }
      // All of them lie in one memory.
      const some = decoded.find((result) => result instanceof Uint8Array);
      if (some !== undefined) giveBack(some);
    }
  } finally {
    await threads?.pool.end();
  }
}

/** Groups of files that were prepared, in order, as many of them under way as threads have room for. */
async function* groups(
  source: Source,
  batches: AsyncIterable<ChosenFile[]>,
  threads: Threads | undefined,
): AsyncGenerator<Group> {
  const tellKey = threads && keyTeller(threads.pool, threads.files.keys);
  const ask = async (tasks: EncodedFile[]): Promise<DecodeResult[]> => {
    if (threads === undefined || tasks.length === 0) return [];
    const results = await threads.pool.ask(tasks);
    for (const result of results) if (!(result instanceof Uint8Array)) tellKey?.(result.putBack);
    return results;
  };
  const mostAhead = threads?.pool.room ?? 0;
  const ahead: Group[] = [];
  for await (const batch of batches) {
    const entries = batch.map(({ entry }) => entry);
    await source.prepare(entries);
    const found = (await threads?.files.find(entries)) ?? [];
    const items = batch.map((chosen, i): Item => {
      const task = found[i];
      return task !== undefined && isSmall(task)
        ? { chosen, task, size: task.size }
        : { chosen, task: undefined, size: 0 };
    });
    for (const group of batchesInOrder(items, groupLimits)) {
      const results = ask(group.flatMap(({ task }) => task ?? []));
      // An error is told when it is this group's turn.
      results.catch(() => {});
      ahead.push({ items: group, results });
      if (ahead.length > mostAhead) yield ahead.shift()!;
    }
  }
  yield* ahead;
}
