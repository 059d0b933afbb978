import * as fs from 'node:fs';
import type { EncodedFile } from '../../../builds/encoded-files.ts';
import { codeOf, isPakratError } from '../../../core/errors.ts';
import { OutputFolder, type SeenFolders, writeOutput, writeWhole } from '../../../files/output/output-folder.ts';
import { readAt } from '../../../files/read-at.ts';
import { decodeBlte } from '../../../formats/blte/decode.ts';
import type { KeyRing } from '../../../formats/blte/keys.ts';
import { readBlte } from '../../../formats/blte/read.ts';
import { ManyDecoder } from './decode-many.ts';
import { SameContent } from './same-content.ts';
import { Workroom } from './workroom.ts';

/** A file for a thread to write. Plain data, for it travels. */
export interface ExtractTask extends EncodedFile {
  /** Output path, checked and relative. */
  path: string;
  /** Its folder was not there before the first file came to it. */
  isFolderNew: boolean;
}

/** A file for a thread to look for: what has its size and content already is not written again. */
export interface CheckTask {
  path: string;
  size: number;
  /** MD5 of the content in hex. */
  md5: string;
}

/**
 * The outcome of a task: the file was written, is there already, or is not or is another; or it was put back. What is put back left nothing behind, and
 * whoever planned the work does it again, in the one way that knows what to do about damage, missing keys and the rest.
 */
export type TaskResult =
  | 'written'
  | 'there'
  | 'lacking'
  /** With the name of the key that was not at hand, where that was it. */
  | { putBack: string | undefined };

/** Objects up to this size, encoded and decoded, are read and decoded at once. */
const wholeBytes = 8 << 20;

/** Files that a thread has open to read from: systems let a process have few. */
const mostOpen = 8;

/** What a thread needs beside its tasks. */
interface ExtractSurroundings {
  /** The folder for the files. */
  to: string;
  keys: KeyRing;
  /** Called between pieces of files; what it throws ends the job. */
  checkpoint: () => void;
}

/** Does batches of tasks. Throws only what ends the job: E_ABORTED. */
export function extractRunner({
  to,
  keys,
  checkpoint,
}: ExtractSurroundings): (tasks: (CheckTask | ExtractTask)[]) => Promise<TaskResult[]> {
  const folder = new OutputFolder(to, true);
  const room = new Workroom();
  const sameContent = new SameContent(folder.root, room, checkpoint);
  const decoder = new ManyDecoder(room, keys);
  return async (tasks) => {
    const results = new Map<CheckTask | ExtractTask, TaskResult>();
    // A batch is done within a moment.
    const seen: SeenFolders = new Map();
    for (const task of sameContent.find(tasks.filter(isCheckTask)))
      results.set(task, await resultOf(() => void folder.fileFor(task.path, seen, true), 'there'));
    const files = new OpenedFiles();
    const alone = { keys, checkpoint, files };
    try {
      for (const { task, content } of decoder.decode(tasks.filter(isExtractTask), (file) => files.open(file))) {
        checkpoint();
        const work = (): void | Promise<void> => {
          const file = folder.fileFor(task.path, seen, task.isFolderNew);
          return content === undefined ? extractAlone(task, file, alone) : writeWhole(file, content);
        };
        results.set(task, await resultOf(work, 'written'));
      }
      return tasks.map((task) => results.get(task) ?? 'lacking');
    } finally {
      files.close();
    }
  };
}

function isExtractTask(task: CheckTask | ExtractTask): task is ExtractTask {
  return 'file' in task;
}

function isCheckTask(task: CheckTask | ExtractTask): task is CheckTask {
  return 'md5' in task;
}

async function resultOf(work: () => void | Promise<void>, result: 'written' | 'there'): Promise<TaskResult> {
  try {
    await work();
    return result;
  } catch (error) {
    if (codeOf(error) === 'E_ABORTED') throw error;
    const keyName = isPakratError(error) ? error.data.keyName : undefined;
    return { putBack: typeof keyName === 'string' ? keyName : undefined };
  }
}

/** Writes a file by itself: a large one, and whatever is not as most are. */
async function extractAlone(
  task: ExtractTask,
  file: string,
  { keys, checkpoint, files }: Pick<ExtractSurroundings, 'keys' | 'checkpoint'> & { files: OpenedFiles },
): Promise<void> {
  const { encodedSize, size, ekey, ckey } = task;
  const fd = files.open(task.file);
  const read = (offset: number, count: number): Uint8Array => readAt(fd, task.offset + offset, count, `entry ${ekey}`);
  const known = { keys, ekey, ckey, decodedSize: size };
  if (encodedSize <= wholeBytes && size <= wholeBytes) {
    writeWhole(file, decodeBlte(read(0, encodedSize), known));
  } else {
    const pieces = readBlte(async (offset, count) => read(offset, count), encodedSize, known);
    await writeOutput(file, watched(pieces, checkpoint));
  }
}

async function* watched(pieces: AsyncIterable<Uint8Array>, checkpoint: () => void): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    checkpoint();
    yield piece;
  }
}

/** Files that many tasks read from, open for one batch: what lies at a path may be another file later. */
class OpenedFiles {
  readonly #fds = new Map<string, number>();

  open(file: string): number {
    const known = this.#fds.get(file);
    if (known !== undefined) return known;
    if (this.#fds.size >= mostOpen) this.close();
    const fd = fs.openSync(file, 'r');
    this.#fds.set(file, fd);
    return fd;
  }

  close(): void {
    for (const fd of this.#fds.values()) fs.closeSync(fd);
    this.#fds.clear();
  }
}
