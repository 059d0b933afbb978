import type { EncodedFile } from '../../../builds/encoded-files.ts';
import { OutputFolder, type SeenFolders, writeOutput, writeWhole } from '../../../files/output/output-folder.ts';
import type { KeyRing } from '../../../formats/blte/keys.ts';
import { readBlte } from '../../../formats/blte/read.ts';
import { decodeWhole, isSmall, OpenedFiles, type PutBack, putBackFor, readerOf } from './decode-alone.ts';
import { ManyDecoder } from './decode-many.ts';
import { SameContent } from './same-content.ts';
import { Workroom } from './workroom.ts';

/** The job of a thread that writes files. */
export interface ExtractJob {
  /** The folder for the files. */
  to: string;
}

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
export type TaskResult = 'written' | 'there' | 'lacking' | PutBack;

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
  const folder = new OutputFolder(to, { isKnown: true });
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
    return putBackFor(error);
  }
}

/** Writes a file by itself: a large one, and whatever is not as most are. */
async function extractAlone(
  task: ExtractTask,
  file: string,
  { keys, checkpoint, files }: Pick<ExtractSurroundings, 'keys' | 'checkpoint'> & { files: OpenedFiles },
): Promise<void> {
  if (isSmall(task)) return writeWhole(file, decodeWhole(task, keys, files));
  const { encodedSize, ekey, ckey, size } = task;
  const read = readerOf(task, files);
  const known = { keys, ekey, ckey, decodedSize: size };
  await writeOutput(
    file,
    watched(
      readBlte(async (at, count) => read(at, count), encodedSize, known),
      checkpoint,
    ),
  );
}

async function* watched(pieces: AsyncIterable<Uint8Array>, checkpoint: () => void): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    checkpoint();
    yield piece;
  }
}
