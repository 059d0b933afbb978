import * as fs from 'node:fs';
import { toHex } from '../../core/bytes.ts';
import { codeOf, isPakratError } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import { storeError } from '../../files/durable.ts';
import { OutputFolder, writeOutput } from '../../files/output/output-folder.ts';
import { fileReader } from '../file-reader.ts';
import { isPakSource, type PakSource, type PakSourceEntry } from '../paks/pak-source.ts';
import type { PakTask, PakTaskResult } from '../paks/pak-tasks.ts';
import { PartedFiles } from '../paks/parted-files.ts';
import { runPakTasks } from '../paks/run-pak-tasks.ts';
import { selectFiles } from '../select.ts';
import type { Source, SourceEntry } from '../source.ts';
import { type ChosenFile, chosenFiles, nothingLeft, type OutputChoice, outputName } from './chosen-files.ts';

interface ExtractFailure {
  name: string;
  code: string;
  message: string;
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
  /** Threads for a PAK; default as many as are worth it. */
  threads?: number | undefined;
  onFile?: (bytes: number) => void;
}

interface Extraction {
  source: Source;
  folder: OutputFolder;
  result: ExtractResult;
  options: ExtractOptions;
}

/**
 * Writes files of a source below a folder. A file that fails leaves nothing under its name and does not keep the others back.
 * @throws E_NOT_FOUND when a name or glob chooses nothing, E_STORE_FULL on a full disk, E_ABORTED
 */
export async function extractFiles(source: Source, options: ExtractOptions): Promise<ExtractResult> {
  const read = fileReader(source, options);
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  const work: Extraction = { source, folder: new OutputFolder(options.to), result, options };
  // The threads know a file by its number; in a list it may be there twice, under two names.
  if (isPakSource(source) && options.list === undefined) await extractPak(source, work);
  else {
    const onMissing = (name: string, error: unknown): void => addFailure(result, name, error);
    for await (const chosen of chosenFiles(source, options, onMissing)) await extractOne(work, chosen, read);
  }
  return result;
}

/** The path that an entry gets, once; undefined when it is left out, is there already in this run, or may have none. */
function claimPath(
  { folder, result, options }: Extraction,
  entry: Pick<SourceEntry, 'name' | 'index'>,
  name: string,
): string | undefined {
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
  const { keyName } = error.data ?? {};
  const failure = { name, code: error.code, message: error.message, hint: error.hint };
  result.failed.push(typeof keyName === 'string' ? { ...failure, key: keyName } : failure);
}

/** Counts a file among those that may be wrong. */
export function addUnsure(result: ExtractResult, name: string): void {
  result.unsure ??= [];
  result.unsure.push(name);
}

async function extractPak(source: PakSource, work: Extraction): Promise<void> {
  const { result, options } = work;
  const { to, raw = false, threads, signal } = options;
  const parted = new PartedFiles(work.folder);
  const failed: (ExtractFailure & { index: number })[] = [];
  try {
    const { tasks, names } = await planPak(source, work, raw ? undefined : parted);
    const onResult = (task: PakTask, done: PakTaskResult): void => {
      const whole = task.part === undefined ? done : parted.add(task, done);
      if (whole === undefined) return;
      const { bytes, problem, unsure } = whole;
      const name = names.get(task.index) ?? '';
      if (problem !== undefined) failed.push({ index: task.index, name, ...problem });
      else {
        result.files += 1;
        result.bytes += bytes;
        if (unsure === true) addUnsure(result, name);
      }
      options.onFile?.(bytes);
    };
    await runPakTasks(source, { kind: 'extract', to, raw }, tasks, { threads, signal, onResult });
  } finally {
    parted.discard();
  }
  // Threads end in any order; reports should not.
  failed.sort((a, b) => a.index - b.index);
  for (const { name, code, message, hint } of failed) result.failed.push({ name, code, message, hint });
}

/** The tasks of an extraction, and the names of their entries by number. */
async function planPak(
  source: PakSource,
  work: Extraction,
  parted: PartedFiles | undefined,
): Promise<{ tasks: PakTask[]; names: Map<number, string> }> {
  const { options, result } = work;
  const tasks: PakTask[] = [];
  const names = new Map<number, string>();
  let bytes = 0;
  let [named, leftOut] = [0, 0];
  for await (const { index, name, size, row } of selectFiles<PakSourceEntry>(source, options)) {
    const output = names.has(index) ? undefined : outputName(name, options);
    if (output !== undefined) named += 1;
    else if (!names.has(index)) leftOut += 1;
    const path = output === undefined ? undefined : claimPath(work, { name, index }, output);
    if (path === undefined) continue;
    try {
      const task = { index, size, path };
      tasks.push(...(parted?.split(source.pak, row, task) ?? [task]));
    } catch (thrown) {
      addFailure(result, name, storeError(thrown, work.folder.root));
      continue;
    }
    names.set(index, name);
    bytes += size;
  }
  if (named === 0 && leftOut > 0 && options.strip) throw nothingLeft(options);
  options.onPlan?.(names.size, bytes);
  return { tasks, names };
}

async function extractOne(
  work: Extraction,
  { entry, output }: ChosenFile,
  read: (entry: SourceEntry) => AsyncIterable<Uint8Array>,
): Promise<void> {
  const { source, folder, result, options } = work;
  const path = claimPath(work, entry, output);
  if (path === undefined) return;
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
