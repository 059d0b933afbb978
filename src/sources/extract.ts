import * as fs from 'node:fs';
import { toHex } from '../core/bytes.ts';
import { codeOf, isPakratError, PakratError } from '../core/errors.ts';
import { md5Hasher } from '../core/hash.ts';
import { storeError } from '../store/durable.ts';
import { type OutputNaming, outputName } from './output-name.ts';
import { OutputFolder, writeOutput } from './output-path.ts';
import { isPakSource, type PakSource, type PakSourceEntry } from './pak-source.ts';
import type { PakTask } from './pak-tasks.ts';
import { runPakTasks } from './run-pak-tasks.ts';
import { type FileChoice, selectFiles } from './select.ts';
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
  /** Files whose content may be wrong without anything that tells; left out when there are none. */
  unsure?: string[];
}

/** What to extract and where to. */
export interface ExtractOptions extends FileChoice, OutputNaming {
  to: string;
  /** Take the stored bytes. */
  raw?: boolean | undefined;
  /** Threads for a PAK; default as many as are worth it. */
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Told the number of bytes that there will be, where that is known before. */
  onPlan?: ((files: number, bytes: number) => void) | undefined;
  onFile?: (bytes: number) => void;
}

/** So many files of a build are prepared together: enough for long ranges, few enough to start writing soon. */
const batchSize = 2000;

/**
 * Writes files of a source below a folder. A file that fails leaves nothing under its name and does not keep the others back.
 * @throws E_NOT_FOUND when a name or glob chooses nothing, E_STORE_FULL on a full disk, E_ABORTED
 */
export async function extractFiles(source: Source, options: ExtractOptions): Promise<ExtractResult> {
  if (options.raw === true && source.readRaw === undefined) throw noRaw(source);
  const folder = new OutputFolder(options.to);
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  const work: Extraction = { folder, result, options };
  if (isPakSource(source)) await extractPak(source, work);
  else await extractInBatches(source, work);
  return result;
}

/** The error for a source whose stored bytes cannot be had. */
export function noRaw({ label }: Source): PakratError {
  return new PakratError('E_UNSUPPORTED', `${label}: files of this source cannot be taken out raw`, {
    hint: 'Leave --raw away.',
  });
}

interface Extraction {
  folder: OutputFolder;
  result: ExtractResult;
  options: ExtractOptions;
}

/** The path that an entry gets, once; undefined when it is left out, is there already in this run, or may have none. */
function claimPath({ folder, result, options }: Extraction, entry: SourceEntry): string | undefined {
  const name = outputName(entry.name, options);
  if (name === undefined) return undefined;
  try {
    return folder.claim(name, entry.index === undefined ? entry.name : `${entry.name} (entry ${entry.index})`);
  } catch (error) {
    addFailure(result, entry.name, error);
    options.onFile?.(0);
    return undefined;
  }
}

function addFailure(result: ExtractResult, name: string, error: unknown): void {
  const code = codeOf(error);
  if (!isPakratError(error) || code === 'E_STORE_FULL' || code === 'E_ABORTED') throw error;
  result.failed.push({ name, code: error.code, message: error.message });
}

async function extractPak(source: PakSource, work: Extraction): Promise<void> {
  const { result, options } = work;
  const { to, raw = false, threads, signal } = options;
  const tasks = new Map<number, PakTask>();
  const names = new Map<number, string>();
  let bytes = 0;
  for await (const entry of selectFiles<PakSourceEntry>(source, options)) {
    if (tasks.has(entry.index)) continue;
    const path = claimPath(work, entry);
    if (path === undefined) continue;
    names.set(entry.index, entry.name);
    tasks.set(entry.index, { index: entry.index, size: entry.size, path });
    bytes += entry.size;
  }
  options.onPlan?.(tasks.size, bytes);
  const failed: { index: number; failure: ExtractFailure }[] = [];
  await runPakTasks(source, { kind: 'extract', to, raw }, [...tasks.values()], {
    ...{ threads, signal },
    onResult({ index, bytes, problem, unsure }) {
      const name = names.get(index)!;
      if (problem !== undefined) failed.push({ index, failure: { name, ...problem } });
      else {
        result.files += 1;
        result.bytes += bytes;
        if (unsure === true) result.unsure = [...(result.unsure ?? []), name];
      }
      options.onFile?.(bytes);
    },
  });
  // Threads end in any order; reports should not.
  failed.sort((a, b) => a.index - b.index);
  result.failed.push(...failed.map(({ failure }) => failure));
}

async function extractInBatches(source: Source, work: Extraction): Promise<void> {
  const { options } = work;
  const run = async (batch: readonly SourceEntry[]): Promise<void> => {
    options.signal?.throwIfAborted();
    await source.prepare(batch);
    for (const entry of batch) {
      options.signal?.throwIfAborted();
      await extractOne(source, work, entry);
    }
  };
  let batch: SourceEntry[] = [];
  for await (const entry of selectFiles(source, options)) {
    batch.push(entry);
    if (batch.length < batchSize) continue;
    await run(batch);
    batch = [];
  }
  await run(batch);
}

async function extractOne(source: Source, work: Extraction, entry: SourceEntry): Promise<void> {
  const { folder, result, options } = work;
  const path = claimPath(work, entry);
  if (path === undefined) return;
  try {
    const file = folder.makeWay(path);
    if (await hasContent(file, entry)) {
      result.skipped += 1;
      options.onFile?.(entry.size ?? 0);
      return;
    }
    const bytes = await writeOutput(file, source.read(entry), entry.mtime);
    result.files += 1;
    result.bytes += bytes;
    options.onFile?.(bytes);
  } catch (thrown) {
    addFailure(result, entry.name, storeError(thrown, folder.root));
    options.onFile?.(0);
  }
}

/** True when the file is there with the content that the source promises. */
async function hasContent(file: string, entry: SourceEntry): Promise<boolean> {
  if (entry.md5 === undefined || fs.statSync(file, { throwIfNoEntry: false })?.size !== entry.size) return false;
  const hash = md5Hasher();
  for await (const piece of fs.createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  return toHex(hash.digest()) === entry.md5;
}
