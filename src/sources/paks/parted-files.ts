import { codeOf, messageOf } from '../../core/errors.ts';
import { storeError } from '../../files/durable.ts';
import { type OutputFolder, openParted, type PartedOutput } from '../../files/output/output-folder.ts';
import type { Pak, PakEntry } from '../../paks/pak.ts';
import type { PakTask, PakTaskResult } from './pak-tasks.ts';

/** Smaller files are no work for more than one thread. */
const minFileBytes = 48 << 20;
/** Decoded bytes of a part, about. */
const partBytes = 8 << 20;

interface OpenFile {
  output: PartedOutput;
  mtime: Date | undefined;
  /** Parts that are still missing. */
  left: number;
  bytes: number;
  problem: PakTaskResult['problem'];
}

/** The large files of an extraction, which several threads write together. Needs `discard`, whatever happens. */
export class PartedFiles {
  readonly #folder: OutputFolder;
  readonly #open = new Map<number, OpenFile>();

  constructor(folder: OutputFolder) {
    this.#folder = folder;
  }

  /**
   * The tasks for the parts of a file; the task itself where it is small, or where only the whole of it can be read and proved.
   * @throws E_UNSAFE_PATH, and errors of the file system
   */
  split(pak: Pak, entry: PakEntry, task: PakTask): PakTask[] {
    const unit = entry.size < minFileBytes ? undefined : pak.partSize?.(entry);
    if (unit === undefined) return [task];
    const output = openParted(this.#folder.fileFor(task.path));
    const step = Math.ceil(partBytes / unit) * unit;
    const parts: PakTask[] = [];
    for (let offset = 0; offset < entry.size; offset += step) {
      parts.push({ ...task, size: Math.min(step, entry.size - offset), part: { offset, file: output.temporary } });
    }
    this.#open.set(task.index, { output, mtime: entry.mtime, left: parts.length, bytes: 0, problem: undefined });
    return parts;
  }

  /** Takes what came of a part, and gives the file its name with the last one: then it returns what came of the file. */
  add({ index }: PakTask, { bytes, problem }: PakTaskResult): PakTaskResult | undefined {
    const file = this.#open.get(index);
    if (file === undefined) return undefined;
    file.left -= 1;
    file.bytes += bytes;
    file.problem ??= problem;
    if (file.left > 0) return undefined;
    this.#open.delete(index);
    if (file.problem !== undefined) {
      file.output.discard();
      return { bytes: 0, problem: file.problem };
    }
    try {
      file.output.finish(file.mtime);
      return { bytes: file.bytes };
    } catch (thrown) {
      file.output.discard();
      const error = storeError(thrown, this.#folder.root);
      return { bytes: 0, problem: { code: codeOf(error) ?? 'E_STORE', message: messageOf(error) } };
    }
  }

  /** Takes away what was not finished. */
  discard(): void {
    for (const { output } of this.#open.values()) output.discard();
    this.#open.clear();
  }
}
