import { breathe } from '../../core/breathe.ts';
import { codeOf, PakratError, throwIfAborted } from '../../core/errors.ts';
import { nameParts } from '../../files/output/output-path.ts';
import { type FileChoice, nameTest, selectBatches } from '../select.ts';
import type { Source, SourceEntry } from '../source.ts';
import type { ListEntry } from './extract-list.ts';

/** The files that are to be written, and the names that they get. */
export interface OutputChoice extends FileChoice, OutputNaming {
  /** Files with names of their own to write them under. Without `names` these are all. */
  list?: readonly ListEntry[] | undefined;
  /** Told how many files there are and their bytes: of few at once, of many some time after the first are given out. */
  onPlan?: ((files: number, bytes: number) => void) | undefined;
}

/** A file that was chosen. */
export interface ChosenFile {
  entry: SourceEntry;
  /** The name to write it under, not yet safe. */
  output: string;
}

/** Files that are prepared together: enough for long ranges, few enough to start writing soon. */
const batchSize = 2000;

/**
 * The files that names and globs choose, then those of the list: as many at a time as are best made ready together, which whoever takes them does. A batch that is
 * not full is the last.
 * @param onMissing told of entries of the list that are not there
 * @throws E_NOT_FOUND when `strip` leaves nothing of any name, as selectFiles, E_ABORTED
 */
export async function* chosenBatches(
  source: Source,
  choice: OutputChoice,
  onMissing: (name: string, error: unknown) => void,
): AsyncGenerator<ChosenFile[]> {
  let count: Count | undefined;
  try {
    for await (const batch of inBatches(choose(source, choice, onMissing), batchSize)) {
      count ??= batch.length < batchSize ? countNow(batch, choice) : startCount(source, choice);
      await breathe(choice.signal);
      yield batch;
    }
  } finally {
    // The source may be closed next.
    await count?.end();
  }
}

/** Files that are being counted. */
interface Count {
  end(): Promise<void>;
}

/** A first batch that is not full has all there are. */
function countNow(batch: readonly ChosenFile[], { onPlan }: OutputChoice): Count {
  onPlan?.(
    batch.length,
    batch.reduce((sum, { entry }) => sum + (entry.size ?? 0), 0),
  );
  return { end: async () => {} };
}

/** Goes through all files that are chosen, beside the work on them. */
function startCount(source: Source, choice: OutputChoice): Count {
  const { onPlan } = choice;
  const ended = new AbortController();
  const count = async (): Promise<void> => {
    let [files, bytes] = [0, 0];
    const silent = { ...choice, signal: ended.signal, onNote: undefined };
    for await (const batch of choose(source, silent, () => {})) {
      throwIfAborted(ended.signal);
      files += batch.length;
      for (const { entry } of batch) bytes += entry.size ?? 0;
    }
    onPlan?.(files, bytes);
  };
  // Whatever is wrong, the work itself tells.
  const counted = onPlan === undefined ? Promise.resolve() : count().catch(() => {});
  return {
    end() {
      ended.abort();
      return counted;
    },
  };
}

async function* choose(
  source: Source,
  choice: OutputChoice,
  onMissing: (name: string, error: unknown) => void,
): AsyncGenerator<ChosenFile[]> {
  const { list, names } = choice;
  let [written, leftOut] = [0, 0];
  const chosen = (entry: SourceEntry, output = outputName(entry.name, choice)): ChosenFile | undefined => {
    if (output === undefined) leftOut += 1;
    else written += 1;
    return output === undefined ? undefined : { entry, output };
  };
  if (list === undefined || names.length > 0) {
    for await (const batch of selectBatches(source, choice)) yield batch.flatMap((entry) => chosen(entry) ?? []);
  }
  const isWanted = nameTest(choice);
  for (const { name, output } of list ?? []) {
    const entry = await findListed(source, name, onMissing);
    if (entry === undefined || !isWanted(entry.name) || (await choice.regex?.finds(entry.name)) === false) continue;
    const file = chosen(entry, output);
    if (file !== undefined) yield [file];
  }
  if (written === 0 && leftOut > 0 && choice.strip) throw nothingLeft(choice);
}

async function findListed(
  source: Source,
  name: string,
  onMissing: (name: string, error: unknown) => void,
): Promise<SourceEntry | undefined> {
  try {
    return await source.get(name);
  } catch (error) {
    if (codeOf(error) !== 'E_NOT_FOUND' && codeOf(error) !== 'E_USAGE') throw error;
    onMissing(name, error);
    return undefined;
  }
}

async function* inBatches<Item>(lists: AsyncIterable<readonly Item[]>, size: number): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  for await (const items of lists) {
    for (const item of items) {
      if (batch.push(item) < size) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The parts of a name that its output name has. */
export interface OutputNaming {
  /** Parts that are taken off the front; a name that has no more parts than that is left out. */
  strip?: number | undefined;
  /** Only the last part is kept. */
  flat?: boolean | undefined;
}

/** A name that stands for an id or a key. It has a colon, which file names cannot have. */
const standIn = /^(fdid|ckey|ekey):/;
/** What makes a name another one by taking it to its parts: a colon, a back-slash, a slash in front, a part that is a dot. */
const needsParts = /[:\\]|^\/|(?:^|\/)\.\//;

/** The output name for a name, not yet safe; undefined when it is left out. */
export function outputName(name: string, { strip = 0, flat = false }: OutputNaming): string | undefined {
  const plain = name.replace(standIn, '$1-');
  if (strip === 0 && !flat && !needsParts.test(plain)) return plain;
  const parts = nameParts(plain);
  if (flat) return parts.at(-1);
  return parts.length > strip ? parts.slice(strip).join('/') : undefined;
}

/** The error for when `strip` leaves nothing of any name: an empty folder would look like success. */
export function nothingLeft({ strip = 0 }: OutputNaming): PakratError {
  const message = `nothing is left to write: no name that was chosen has ${strip} folders`;
  return new PakratError('E_NOT_FOUND', message, { hint: 'Take fewer folders off with --strip.' });
}
