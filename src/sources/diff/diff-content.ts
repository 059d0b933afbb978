import { toHex } from '../../core/bytes.ts';
import { isPakratError, type PakratError, throwIfAborted } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import type { Source, SourceEntry } from '../source.ts';
import { type DiffRow, type DiffSide, nameOf } from './diff-table.ts';

/** Two rows whose content must be read to be compared. */
export interface ContentPair {
  before: number;
  after: number;
}

/** How contents are compared. */
export interface ContentOptions {
  signal?: AbortSignal | undefined;
  /** Told of the bytes that were read. */
  onBytes?: ((bytes: number) => void) | undefined;
}

/** What a comparison of contents came to. */
export type ContentResult = { pair: ContentPair } & ({ same: boolean } | { error: PakratError });

/** So many files are prepared together. */
const batchSize = 500;

/**
 * Compares contents by their MD5, which is put into the rows. A side that knows it is not read.
 * A file that cannot be read is a result, too. @throws E_ABORTED, E_STORE_FULL
 */
export async function* compareContents(
  sides: { before: DiffSide; after: DiffSide },
  pairs: readonly ContentPair[],
  options: ContentOptions,
): AsyncGenerator<ContentResult> {
  for (let first = 0; first < pairs.length; first += batchSize) {
    const batch = pairs.slice(first, first + batchSize);
    const before = await contents(sides.before, (pair) => pair.before, { batch, options });
    const after = await contents(sides.after, (pair) => pair.after, { batch, options });
    for (const [i, pair] of batch.entries()) {
      const [left, right] = [before[i]!, after[i]!];
      if (typeof left !== 'string') yield { pair, error: left };
      else if (typeof right !== 'string') yield { pair, error: right };
      else yield { pair, same: left === right };
    }
  }
}

interface Batch {
  batch: readonly ContentPair[];
  options: ContentOptions;
}

/** The MD5 of each file, in hex, or why there is none. */
async function contents(
  { source, table }: DiffSide,
  rowOf: (pair: ContentPair) => number,
  { batch, options }: Batch,
): Promise<(string | PakratError)[]> {
  const rows = batch.map((pair) => table.at(rowOf(pair)));
  const entries = await Promise.all(
    rows.map(async (row) => (row.mark?.by === 'md5' ? undefined : orError(source.get(addressOf(row))))),
  );
  const found = entries.filter((entry) => entry !== undefined && !isPakratError(entry));
  if (found.length > 0) await source.prepare(found as SourceEntry[]);
  const keys: (string | PakratError)[] = [];
  for (const [i, entry] of entries.entries()) {
    throwIfAborted(options.signal);
    if (entry === undefined) keys.push(rows[i]!.mark!.key);
    else keys.push(isPakratError(entry) ? entry : await orError(contentMd5(source, entry, options)));
    const key = keys.at(-1)!;
    if (typeof key === 'string') table.setMark(rowOf(batch[i]!), { by: 'md5', key });
  }
  return keys;
}

function addressOf(row: DiffRow): string {
  return row.index === undefined ? nameOf(row) : `index:${row.index}`;
}

async function orError<Value>(value: Promise<Value>): Promise<Value | PakratError> {
  try {
    return await value;
  } catch (error) {
    if (!isPakratError(error) || error.code === 'E_ABORTED' || error.code === 'E_STORE_FULL') throw error;
    return error;
  }
}

async function contentMd5(source: Source, entry: SourceEntry, { signal, onBytes }: ContentOptions): Promise<string> {
  const hash = md5Hasher();
  for await (const piece of source.read(entry)) {
    throwIfAborted(signal);
    hash.update(piece);
    onBytes?.(piece.length);
  }
  return toHex(hash.digest());
}
