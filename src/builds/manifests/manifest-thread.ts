import * as fs from 'node:fs';
import { ReusedBytes } from '../../core/tables/large-bytes.ts';
import { readInto } from '../../files/read-at.ts';
import { readBlte } from '../../formats/blte/read.ts';
import { secondThread, ThreadPool, type ThreadUse } from '../../threads/thread-pool.ts';
import { writeManifest } from './write-manifest.ts';

/** A manifest that is held: where its encoded bytes lie, what it must be, and where it goes. Plain data, for it travels. */
export interface ManifestTask {
  file: string;
  offset: number;
  encodedSize: number;
  /** Hex. */
  ekey: string;
  /** Hex. */
  ckey: string;
  /** Decoded bytes, where they are known. */
  size: number | undefined;
  /** The derived file that it becomes, and the folder for its temporary name. */
  path: string;
  temporary: string;
}

/** To start a thread takes as long as to decode this many bytes. */
const smallBytes = 16 << 20;

/**
 * Decodes a manifest in a thread of its own, for whoever has something else to do meanwhile.
 * @returns false where it was not done: it is small, there is to be no thread, or something is wrong, which whoever does it here is told
 */
export async function decodeInThread(
  task: ManifestTask,
  { signal, ...use }: ThreadUse & { signal?: AbortSignal | undefined },
): Promise<boolean> {
  const url = task.encodedSize < smallBytes ? undefined : secondThread('manifest-worker', use, import.meta.url);
  if (url === undefined) return false;
  const unpack = (results: undefined[]): undefined[] => results;
  const pool = new ThreadPool<undefined, undefined, ManifestTask, undefined[], undefined>(
    { url, setup: undefined, unpack },
    1,
  );
  try {
    await pool.run(undefined, [[task]].values(), { signal });
    return true;
  } catch {
    return false;
  } finally {
    await pool.end();
  }
}

/** Does such a task, in a thread; it knows no keys. @param checkpoint called between pieces @throws as `checkpoint`, `writeManifest` and reading do */
export async function decodeManifest(task: ManifestTask, checkpoint: () => void): Promise<void> {
  const { file, offset, encodedSize, ekey, size: decodedSize } = task;
  const fd = fs.openSync(file, 'r');
  const memory = new ReusedBytes();
  const read = async (at: number, size: number): Promise<Uint8Array> => {
    checkpoint();
    const bytes = memory.take(size);
    readInto(fd, bytes, { offset: offset + at, what: `entry ${ekey}` });
    return bytes;
  };
  try {
    await writeManifest(readBlte(read, encodedSize, { ekey, decodedSize, isReused: true }), task);
  } finally {
    fs.closeSync(fd);
  }
}
