import * as fs from 'node:fs';
import { toHex } from '../../core/bytes.ts';
import { codeOf, isPakratError, isSystemError } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import { BoundedRows, type CountedRow } from '../../core/tables/bounded-rows.ts';
import { storeError } from '../../files/durable.ts';
import { type OutputFolder, writeOutput } from '../../files/output/output-folder.ts';
import type { Source, SourceEntry } from '../source.ts';
import type { ChosenFile, OutputChoice } from './chosen-files.ts';

/** A file that was not written, and why; after the first ten thousand a row may stand for several. */
export interface ExtractFailure extends CountedRow {
  name: string;
  code: string;
  /** The name of the key that is missing. */
  key?: string;
  /** What to do next, where that is known. */
  hint?: string | undefined;
}

/** The outcome of an extraction. */
export interface ExtractResult {
  files: number;
  bytes: number;
  /** Files that were there already with the right content. */
  skipped: number;
  failed: ExtractFailure[];
  /** Files whose content may be wrong without anything that tells; left out when there are none. */
  unsure?: string[];
}

/** The files to extract, the folder for them, and whoever hears of it. */
export interface ExtractOptions extends OutputChoice {
  to: string;
  /** Take the stored bytes. */
  raw?: boolean | undefined;
  /** Threads; default as many as are worth it. */
  threads?: number | undefined;
  /** The folder that has `extract-worker.js`, as the URL of a file in it; default: that of the program. */
  workerUrl?: URL | undefined;
  onFile?: (bytes: number) => void;
}

/** An extraction under way. */
export interface Extraction {
  source: Source;
  folder: OutputFolder;
  result: ExtractResult;
  /** Those of the result. */
  failures: BoundedRows<ExtractFailure>;
  options: ExtractOptions;
  read: (entry: SourceEntry) => AsyncIterable<Uint8Array>;
}

/** The path that an entry gets, and keeps. @throws E_UNSAFE_PATH when it may have none */
export function claimName({ folder }: Extraction, entry: Pick<SourceEntry, 'name' | 'index'>, name: string): string {
  return folder.claim(name, entry.index === undefined ? entry.name : `${entry.name} (entry ${entry.index})`);
}

/** As {@link claimName}; undefined when it may have none, which is told. */
export function claimPath(
  work: Extraction,
  entry: Pick<SourceEntry, 'name' | 'index'>,
  name: string,
): string | undefined {
  try {
    return claimName(work, entry, name);
  } catch (error) {
    refuse(work, entry.name, error);
    return undefined;
  }
}

/** Tells of a file that is not written, which is done with it. @throws as {@link addFailure} */
export function refuse({ failures, options }: Extraction, name: string, error: unknown): void {
  addFailure(failures, name, error);
  options.onFile?.(0);
}

/** Failures as they come. Of very many those that lack the same key share a row, and those of a kind. */
export function failureRows(list: ExtractFailure[]): BoundedRows<ExtractFailure> {
  return new BoundedRows(list, (failure) => [`${failure.code} ${failure.key ?? ''}`, failure]);
}

/** Tells of a file that failed. @throws the error itself where it ends the whole extraction */
export function addFailure(failures: BoundedRows<ExtractFailure>, name: string, error: unknown): void {
  const code = codeOf(error);
  if (!isPakratError(error) || code === 'E_STORE_FULL' || code === 'E_ABORTED') throw error;
  const { keyName } = error.data ?? {};
  const failure = { name, code: error.code, message: error.message, hint: error.hint };
  failures.add(typeof keyName === 'string' ? { ...failure, key: keyName } : failure);
}

/** Counts a file among those that may be wrong. */
export function addUnsure(result: ExtractResult, name: string): void {
  result.unsure ??= [];
  result.unsure.push(name);
}

/** Writes a file, in this thread. */
export async function extractOne(work: Extraction, { entry, output }: ChosenFile): Promise<void> {
  const path = claimPath(work, entry, output);
  if (path !== undefined) await writeClaimed(work, entry, path);
}

/** Writes a file whose path was claimed, unless it is there already. */
export async function writeClaimed(work: Extraction, entry: SourceEntry, path: string): Promise<void> {
  const { source, folder, result, options, read } = work;
  try {
    const file = folder.fileFor(path);
    if (options.raw !== true && (await hasContent(file, entry))) {
      result.skipped += 1;
      options.onFile?.(entry.size ?? 0);
      return;
    }
    const bytes = await writeOutput(file, read(entry), entry.mtime);
    if (options.raw !== true && (await source.isUnsure?.(entry))) addUnsure(result, entry.name);
    result.files += 1;
    result.bytes += bytes;
    options.onFile?.(bytes);
  } catch (thrown) {
    refuse(work, entry.name, storeError(thrown, folder.root));
  }
}

/** True when the file is there with the content that the source promises. One that cannot be read is written anew, or that tells what is wrong. */
async function hasContent(file: string, entry: SourceEntry): Promise<boolean> {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (entry.md5 === undefined || stat?.isFile() !== true || stat.size !== entry.size) return false;
  const hash = md5Hasher();
  try {
    for await (const piece of fs.createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
  return toHex(hash.digest()) === entry.md5;
}
