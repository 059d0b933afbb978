import { existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type NameFile, NameIndex } from '../../../sources/names/name-index.ts';
import type { BuildRow } from '../../../store/ledger/rows.ts';

/** The build whose names a thread writes. */
export interface NamesOrder extends Pick<BuildRow, 'product' | 'buildConfig'> {
  /** Folder of the store. */
  store: string;
  locale: string;
}

/** The file that a thread wrote, and remarks on what it lacks. */
export interface MadeNames {
  file: Omit<NameFile, 'fd'>;
  notes: readonly string[];
}

/** Names, and remarks for a person on what they lack. */
export interface ReadNames {
  index: NameIndex;
  notes: readonly string[];
}

/**
 * Has a thread open a build and write its names, while this one serves others. What is derived of the build is there afterwards.
 * @param workerUrl the program of the thread, where it is not beside this file
 * @returns undefined where there is no such program, or the thread failed: whoever does it here is told why
 */
export async function namesInThread(
  order: NamesOrder,
  workerUrl: URL = new URL('./names-worker.js', import.meta.url),
): Promise<ReadNames | undefined> {
  if (!existsSync(fileURLToPath(workerUrl))) return undefined;
  const worker = new Worker(workerUrl, { workerData: order });
  const made = await new Promise<MadeNames | undefined>((resolve) => {
    let names: MadeNames | undefined;
    worker.once('message', (message: MadeNames) => {
      names = message;
    });
    worker.once('error', () => resolve(undefined));
    worker.once('exit', () => resolve(names));
  });
  if (made === undefined) return undefined;
  // What comes from a thread is no Buffer any more.
  const { file, notes } = made;
  const marks = file.marks.map(({ at, name }) => ({ at, name: Buffer.from(name) }));
  return { index: new NameIndex({ ...file, marks, fd: openSync(file.path, 'r') }), notes };
}
