import * as fs from 'node:fs';
import { toHex } from '../core/bytes.ts';
import { codeOf, isPakratError, messageOf, PakratError } from '../core/errors.ts';
import { hasGlob, nameMatcher } from '../core/glob.ts';
import { md5Hasher } from '../core/hash.ts';
import { storeError } from '../store/durable.ts';
import { OutputFolder, writeOutput } from './output-path.ts';
import type { Source, SourceEntry } from './source.ts';

/** A file that was not extracted, and why. */
export interface ExtractFailure {
  name: string;
  code: string;
  message: string;
}

/** What an extraction did. */
export interface ExtractResult {
  files: number;
  bytes: number;
  /** Files that were there already with the right content. */
  skipped: number;
  failed: ExtractFailure[];
}

/** What to extract and where to. */
export interface ExtractOptions {
  /** Names or globs; empty for everything. */
  names: readonly string[];
  to: string;
  signal?: AbortSignal | undefined;
  onFile?: (entry: SourceEntry, bytes: number) => void;
}

/** So many files are prepared together: enough for long ranges, few enough to start writing soon. */
const batchSize = 2000;

/**
 * The entries that names and globs choose. An argument that is a file's exact name is that file, even if it looks like a glob.
 * @throws E_NOT_FOUND when an argument chooses nothing
 */
async function* selectFiles(source: Source, names: readonly string[]): AsyncGenerator<SourceEntry> {
  const globs: string[] = [];
  for (const name of names) {
    try {
      yield await source.get(name);
    } catch (error) {
      if (!isPakratError(error) || error.code !== 'E_NOT_FOUND' || !hasGlob(name)) throw error;
      globs.push(name);
    }
  }
  if (names.length > 0 && globs.length === 0) return;
  const matchers = globs.map((glob) => ({ glob, matches: nameMatcher([glob]), found: false }));
  const matches = (name: string): boolean => {
    let any = names.length === 0;
    for (const matcher of matchers) {
      if (!matcher.matches(name)) continue;
      matcher.found = true;
      any = true;
    }
    return any;
  };
  yield* source.list(matches);
  const empty = matchers.find((matcher) => !matcher.found);
  if (empty !== undefined) {
    throw new PakratError('E_NOT_FOUND', `no file of ${source.label} matches ${empty.glob}`, {
      data: { glob: empty.glob },
    });
  }
}

/**
 * Writes files of a source below a folder. A file that fails leaves nothing under its name and does not keep the others back.
 * @throws E_NOT_FOUND when a name or glob chooses nothing, E_STORE_FULL on a full disk, E_ABORTED
 */
export async function extractFiles(source: Source, options: ExtractOptions): Promise<ExtractResult> {
  const folder = new OutputFolder(options.to);
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  const run = async (batch: readonly SourceEntry[]): Promise<void> => {
    options.signal?.throwIfAborted();
    await source.prepare(batch);
    for (const entry of batch) {
      options.signal?.throwIfAborted();
      await extractOne({ source, folder, result, onFile: options.onFile }, entry);
    }
  };
  let batch: SourceEntry[] = [];
  for await (const entry of selectFiles(source, options.names)) {
    batch.push(entry);
    if (batch.length < batchSize) continue;
    await run(batch);
    batch = [];
  }
  await run(batch);
  return result;
}

interface Extraction {
  source: Source;
  folder: OutputFolder;
  result: ExtractResult;
  onFile: ExtractOptions['onFile'];
}

async function extractOne({ source, folder, result, onFile }: Extraction, entry: SourceEntry): Promise<void> {
  try {
    const file = folder.place(entry.name.replace(/^(fdid|ckey|ekey):/, '$1-'));
    if (await hasContent(file, entry)) {
      result.skipped += 1;
      onFile?.(entry, entry.size ?? 0);
      return;
    }
    const bytes = await writeOutput(file, source.read(entry), entry.mtime);
    result.files += 1;
    result.bytes += bytes;
    onFile?.(entry, bytes);
  } catch (thrown) {
    const error = storeError(thrown, folder.root);
    const code = codeOf(error);
    if (!isPakratError(error) || code === 'E_STORE_FULL' || code === 'E_ABORTED') throw error;
    result.failed.push({ name: entry.name, code: error.code, message: messageOf(error) });
    onFile?.(entry, 0);
  }
}

/** True when the file is there with the content that the source promises. */
async function hasContent(file: string, entry: SourceEntry): Promise<boolean> {
  if (entry.md5 === undefined || fs.statSync(file, { throwIfNoEntry: false })?.size !== entry.size) return false;
  const hash = md5Hasher();
  for await (const piece of fs.createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  return toHex(hash.digest()) === entry.md5;
}
