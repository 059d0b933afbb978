import { breathe } from '../../../core/breathe.ts';
import { isOurTrouble, isPakratError, PakratError } from '../../../core/errors.ts';
import { outputPath } from '../../../files/output/output-path.ts';
import { outputName } from '../../../sources/extract/chosen-files.ts';
import { type FileName, getEntry } from '../../../sources/names/find-entry.ts';
import type { NameIndex } from '../../../sources/names/name-index.ts';
import type { Source, SourceEntry } from '../../../sources/source.ts';
import { folderAt, lineAt } from '../served/place.ts';
import { parseQuery, searchNames } from '../served/search-names.ts';
import type { Lease } from '../served/served-sources.ts';

/** The files that a person chose. */
export interface Selection {
  /** By their places among the names, see `placeOf`. */
  files: readonly string[];
  /** As well; all that is below them. They lie in `below`. */
  folders: readonly string[];
  /** Full path with a slash at its end, '' for the top. With neither files nor folders all that is below it is meant. */
  below: string;
  /** Of the folders only what this finds. */
  query: string;
}

/** A file on its way into a zip or a tar. */
export interface SelectedFile {
  /** Safe on every system. */
  path: string;
  size: number;
  mtime: Date | undefined;
  /** Its bytes, which proved right once. */
  content(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** The name under which a zip or a tar tells of the files that it lacks. */
export const failuresName = 'FILES-THAT-COULD-NOT-BE-READ.txt';

/** Stands for what was ticked and is another file by now. */
const changed = '(what was ticked has changed: tick it again)';

/** Content up to this size is held until it is whole; more is decoded twice, first to see that it is right. */
const heldSize = 16 << 20;
/** Names that are asked for at a time. */
const namesAtOnce = 1000;

/**
 * The files of a selection, one after the other, each when all of it was decoded and proved right. Those that cannot be had come last, as a text
 * that names them.
 * @throws E_USAGE for a search that cannot be used, E_STORE…, E_ABORTED
 */
export async function* selectedFiles(
  lease: Lease,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<SelectedFile> {
  const failures: string[] = [];
  const taken = new Set<string>([failuresName.toLowerCase()]);
  for await (const file of chosenNames(lease, selection, signal)) {
    try {
      const entry = await getEntry(lease.source, file);
      if (entry.hidden !== undefined && file.index === undefined) continue;
      const path = outputPath(outputName(entry.name, {}) ?? '');
      if (taken.has(path.toLowerCase()))
        throw new PakratError('E_UNSAFE_PATH', 'another file would have the same name on some systems');
      const { size, whole } = await measure(lease.source, entry, signal);
      taken.add(path.toLowerCase());
      const content = (): AsyncIterable<Uint8Array> | Iterable<Uint8Array> => whole ?? lease.source.read(entry);
      yield { path, size, mtime: entry.mtime, content };
    } catch (error) {
      if (isOurTrouble(error) || !isPakratError(error)) throw error;
      failures.push(`${JSON.stringify(file.name)}: ${error.message} (${error.code})\n`);
    }
  }
  if (failures.length === 0) return;
  const text = Buffer.from(failures.join(''));
  yield { path: failuresName, size: text.length, mtime: undefined, content: () => [text] };
}

async function* chosenNames(
  lease: Lease,
  { files, folders, below, query }: Selection,
  signal: AbortSignal,
): AsyncGenerator<FileName> {
  const index = await lease.names();
  for (const place of files) yield lineAt(index, place) ?? { name: changed };
  if (files.length + folders.length === 0) yield* namesBelow(index, below, { query, signal });
  for (const place of folders) {
    const folder = folderAt(index, place, below);
    if (folder === undefined) yield { name: changed };
    else yield* namesBelow(index, folder, { query: '', signal });
  }
}

async function* namesBelow(
  index: NameIndex,
  folder: string,
  { query, signal }: { query: string; signal: AbortSignal },
): AsyncGenerator<FileName> {
  const wanted = parseQuery(query);
  for (let from: number | undefined = 0; from !== undefined; ) {
    const found: Awaited<ReturnType<typeof searchNames>> = await searchNames(index, wanted, {
      folder,
      from,
      limit: namesAtOnce,
      signal,
    });
    yield* found.rows;
    from = found.next;
  }
}

async function measure(
  source: Source,
  entry: SourceEntry,
  signal: AbortSignal,
): Promise<{ size: number; whole: Uint8Array[] | undefined }> {
  let whole: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const piece of source.read(entry)) {
    await breathe(signal);
    size += piece.length;
    if (size > heldSize) whole = undefined;
    whole?.push(piece.slice());
  }
  return { size, whole };
}
