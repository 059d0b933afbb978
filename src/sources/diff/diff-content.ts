import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { isPakratError, type PakratError } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import type { ReaderAtOnce, Source, SourceEntry } from '../source.ts';
import { type DiffRow, nameOf } from './diff-table.ts';

/** Two rows whose content must be read to be compared. */
export interface ContentPair {
  before: DiffRow;
  after: DiffRow;
}

interface ContentOptions {
  signal?: AbortSignal | undefined;
  /** Told of the bytes that were read. */
  onBytes?: ((bytes: number) => void) | undefined;
}

type ContentResult = { same: boolean } | { error: PakratError };

/**
 * Compares some contents by their MD5, which is put into the rows. A side that knows it is not read.
 * @returns of each pair whether its contents are the same, or the error of a file that cannot be read. @throws E_ABORTED, E_STORE_FULL
 */
export async function compareContents(
  sources: { before: Source; after: Source },
  pairs: readonly ContentPair[],
  options: ContentOptions,
): Promise<ContentResult[]> {
  const before = await contents(
    sources.before,
    pairs.map((pair) => pair.before),
    options,
  );
  const after = await contents(
    sources.after,
    pairs.map((pair) => pair.after),
    options,
  );
  return pairs.map((_, i) => {
    const error = [before[i], after[i]].find(isPakratError);
    return error === undefined ? { same: before[i] === after[i] } : { error };
  });
}

/** The MD5 of the file of each row, in hex, or the error that keeps it from being known. */
async function contents(
  source: Source,
  rows: readonly DiffRow[],
  options: ContentOptions,
): Promise<(string | PakratError)[]> {
  const known = await Promise.all(
    rows.map(async (row) => (row.mark?.by === 'md5' ? row.mark.key : orError(entryOf(source, row)))),
  );
  await source.prepare(known.filter(isEntry));
  const reader = await source.readerAtOnce?.();
  const keys: (string | PakratError)[] = [];
  for (const [i, one] of known.entries()) {
    await breathe(options.signal);
    const key = isEntry(one)
      ? (md5AtOnce(reader, one, options) ?? (await orError(contentMd5(source, one, options))))
      : one;
    if (isEntry(one) && typeof key === 'string') rows[i]!.mark = { by: 'md5', key };
    keys.push(key);
  }
  return keys;
}

function isEntry(one: string | PakratError | SourceEntry): one is SourceEntry {
  return typeof one !== 'string' && !isPakratError(one);
}

async function entryOf(source: Source, row: DiffRow): Promise<SourceEntry> {
  if (row.index === undefined) return source.get(nameOf(row));
  return source.rowAt?.(row.index) ?? source.get(`index:${row.index}`);
}

async function orError<Value>(value: Promise<Value>): Promise<Value | PakratError> {
  try {
    return await value;
  } catch (error) {
    if (!isPakratError(error) || error.code === 'E_ABORTED' || error.code === 'E_STORE_FULL') throw error;
    return error;
  }
}

/** The MD5 of a small file that can be read without waiting; undefined for any other. */
function md5AtOnce(
  reader: ReaderAtOnce | undefined,
  entry: SourceEntry,
  { onBytes }: ContentOptions,
): string | undefined {
  if (reader === undefined) return undefined;
  const hash = md5Hasher();
  const pieces = reader.read(entry);
  let bytes = 0;
  let next = pieces.next();
  for (; next.done !== true; next = pieces.next()) {
    hash.update(next.value);
    bytes += next.value.length;
  }
  if (!next.value) return undefined;
  onBytes?.(bytes);
  return toHex(hash.digest());
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
