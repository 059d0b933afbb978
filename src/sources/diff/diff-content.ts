import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { isPakratError, type PakratError } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import type { Source, SourceEntry } from '../source.ts';
import { type DiffRow, type DiffSide, nameOf } from './diff-table.ts';

/** Two rows whose content must be read to be compared. */
export interface ContentPair {
  before: number;
  after: number;
}

interface ContentOptions {
  signal?: AbortSignal | undefined;
  /** Told of the bytes that were read. */
  onBytes?: ((bytes: number) => void) | undefined;
}

type ContentResult = { pair: ContentPair } & ({ same: boolean } | { error: PakratError });

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
    const before = await contents(
      sides.before,
      batch.map((pair) => pair.before),
      options,
    );
    const after = await contents(
      sides.after,
      batch.map((pair) => pair.after),
      options,
    );
    for (const [i, pair] of batch.entries()) {
      const [left, right] = [before[i], after[i]];
      const error = [left, right].find(isPakratError);
      yield error === undefined ? { pair, same: left === right } : { pair, error };
    }
  }
}

/** The MD5 of the file of each row, in hex, or the error that keeps it from being known. */
async function contents(
  { source, table }: DiffSide,
  numbers: readonly number[],
  options: ContentOptions,
): Promise<(string | PakratError)[]> {
  const rows = numbers.map((number) => table.at(number));
  const known = await Promise.all(
    rows.map(async (row) => (row.mark?.by === 'md5' ? row.mark.key : orError(source.get(addressOf(row))))),
  );
  await source.prepare(known.filter(isEntry));
  const keys: (string | PakratError)[] = [];
  for (const [i, one] of known.entries()) {
    await breathe(options.signal);
    const key = isEntry(one) ? await orError(contentMd5(source, one, options)) : one;
    if (isEntry(one) && typeof key === 'string') table.setMark(numbers[i] ?? 0, { by: 'md5', key });
    keys.push(key);
  }
  return keys;
}

function isEntry(one: string | PakratError | SourceEntry): one is SourceEntry {
  return typeof one !== 'string' && !isPakratError(one);
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
    await breathe(signal);
    hash.update(piece);
    onBytes?.(piece.length);
  }
  return toHex(hash.digest());
}
