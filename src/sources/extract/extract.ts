import { BoundedRows } from '../../core/tables/bounded-rows.ts';
import { storeError } from '../../files/durable.ts';
import { OutputFolder } from '../../files/output/output-folder.ts';
import { fileReader } from '../file-reader.ts';
import { isPakSource, type PakSource, type PakSourceEntry } from '../paks/pak-source.ts';
import type { PakTask, PakTaskResult } from '../paks/pak-tasks.ts';
import { PartedFiles } from '../paks/parted-files.ts';
import { runPakTasks } from '../paks/run-pak-tasks.ts';
import { selectFiles } from '../select.ts';
import type { Source } from '../source.ts';
import { nothingLeft, outputName } from './chosen-files.ts';
import { extractChosen } from './extract-chosen.ts';
import {
  addFailure,
  addUnsure,
  claimPath,
  type ExtractFailure,
  type Extraction,
  type ExtractOptions,
  type ExtractResult,
  failureRows,
} from './extraction.ts';
import { PakFiles } from './pak-files.ts';

export type { ExtractOptions, ExtractResult } from './extraction.ts';

/**
 * Writes files of a source below a folder. A file that fails leaves nothing under its name and does not keep the others back.
 * @throws E_NOT_FOUND when a name or glob chooses nothing, E_STORE_FULL on a full disk, E_ABORTED
 */
export async function extractFiles(source: Source, options: ExtractOptions): Promise<ExtractResult> {
  const read = fileReader(source, options);
  const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
  const failures = failureRows(result.failed);
  // The threads know a file by its number; in a list it may be there twice, under two names.
  const byNumber = isPakSource(source) && options.list === undefined;
  const folder = new OutputFolder(options.to, { claimsOnce: byNumber });
  const work: Extraction = { source, folder, result, failures, options, read };
  if (byNumber) await extractPak(source, work);
  else await extractChosen(work);
  return result;
}

async function extractPak(source: PakSource, work: Extraction): Promise<void> {
  const { result, failures, options } = work;
  const { to, raw = false, threads, signal } = options;
  const parted = new PartedFiles(work.folder);
  const failed: (ExtractFailure & { index: number })[] = [];
  const found = new BoundedRows(failed, (failure) => [failure.code, failure]);
  try {
    const files = await planPak(source, work, raw ? undefined : parted);
    const onResult = (task: PakTask, done: PakTaskResult): void => {
      const whole = task.part === undefined ? done : parted.add(task, done);
      if (whole === undefined) return;
      const { bytes, problem, unsure } = whole;
      const { index } = task;
      if (problem !== undefined) found.add({ index, name: files.nameOf(index), ...problem });
      else {
        result.files += 1;
        result.bytes += bytes;
        if (unsure === true) addUnsure(result, files.nameOf(index));
      }
      options.onFile?.(bytes);
    };
    await runPakTasks(source, { kind: 'extract', to, raw }, files, { threads, signal, onResult });
  } finally {
    parted.discard();
  }
  // Threads end in any order; reports should not.
  failed.sort((a, b) => a.index - b.index);
  for (const { index, ...failure } of failed) failures.add(failure);
}

/** The files of an extraction; what each is to be called is claimed. */
async function planPak(source: PakSource, work: Extraction, parted: PartedFiles | undefined): Promise<PakFiles> {
  const { options, failures } = work;
  const files = new PakFiles(source.pak, options);
  let [named, leftOut] = [0, 0];
  for await (const { index, name, size, row } of selectFiles<PakSourceEntry>(source, options)) {
    if (files.has(index)) continue;
    const output = outputName(name, options);
    if (output === undefined) leftOut += 1;
    else named += 1;
    const path = output === undefined ? undefined : claimPath(work, { name, index }, output);
    if (path === undefined) continue;
    try {
      const task = { index, size, path };
      files.add(task, parted?.split(source.pak, row, task) ?? [task]);
    } catch (thrown) {
      addFailure(failures, name, storeError(thrown, work.folder.root));
    }
  }
  if (named === 0 && leftOut > 0 && options.strip) throw nothingLeft(options);
  work.folder.endClaims();
  options.onPlan?.(files.count, files.bytes);
  return files;
}
