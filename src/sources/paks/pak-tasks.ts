import { codeOf, isPakratError, PakratError } from '../../core/errors.ts';
import { storeError } from '../../files/durable.ts';
import {
  OutputFolder,
  type SeenFolders,
  writeAtOnce,
  writeOutput,
  writePart,
  writePartAtOnce,
} from '../../files/output/output-folder.ts';
import { slicePieces } from '../../files/pieces.ts';
import { entryAt } from '../../paks/many-entries.ts';
import { isUnsure, momentBytes, noEntry, type Pak, type PakEntry, type VerifyWork } from '../../paks/pak.ts';

/** A job with many entries of a PAK. Plain data, for it travels to threads. */
export type PakJob = { kind: 'extract'; to: string; raw: boolean } | ({ kind: 'verify' } & VerifyWork);

/** One entry that it is done with, or part of a large one. */
export interface PakTask {
  /** Number of the entry. */
  index: number;
  /** Bytes that have to be read or written: the measure by which work is shared out. */
  size: number;
  /** Output path, checked and relative; for an extraction. */
  path: string;
  /** The part that is meant, of decoded bytes; it is written at its place in a file that is there. */
  part?: { offset: number; file: string };
}

/** The result of a task. */
export interface PakTaskResult {
  /** Bytes written, or bytes checked. */
  bytes: number;
  problem?: { code: string; message: string; hint?: string | undefined } | undefined;
  /** The content may be wrong, and nothing in the PAK tells. */
  unsure?: boolean;
  /** Right by its bounds alone: there is no hash to check. */
  unproven?: boolean;
}

/**
 * Does a task. Throws only what must end the whole job: E_STORE_FULL, E_ABORTED, and bugs.
 * @param seen output folders that were looked at within this moment
 */
export type PakTaskRunner = (task: PakTask, seen?: SeenFolders) => Promise<PakTaskResult>;

/** Lets signals be heard. @throws E_ABORTED */
type Checkpoint = () => Promise<void> | void;

/** The runner for a job. `checkpoint` is called between pieces of files; what it throws ends the job. */
export function pakTaskRunner(pak: Pak, job: PakJob, checkpoint: Checkpoint): PakTaskRunner {
  const work = job.kind === 'verify' ? verifier(pak, job) : extractor(pak, job, checkpoint);
  // Of bytes as they are stored there is nothing to be unsure of.
  const mayBeUnsure = job.kind === 'verify' || !job.raw;
  return async (task, seen) => {
    const turn = checkpoint();
    if (turn !== undefined) await turn;
    const entry = entryAt(pak, task.index);
    if (entry === undefined) throw noEntry(task.index);
    try {
      const done = await work(entry, task, seen);
      const isAsked = done.problem === undefined && mayBeUnsure && entry.mayBeUnsure === true;
      return isAsked && (await isUnsure(pak, entry)) ? { ...done, unsure: true } : done;
    } catch (thrown) {
      const error = job.kind === 'extract' ? storeError(thrown, job.to) : thrown;
      const code = codeOf(error);
      if (!isPakratError(error) || code === 'E_STORE_FULL' || code === 'E_ABORTED') throw error;
      return { bytes: 0, problem: { code: error.code, message: error.message, hint: error.hint } };
    }
  };
}

type EntryWork = (entry: PakEntry, task: PakTask, seen?: SeenFolders) => Promise<PakTaskResult>;

function verifier(pak: Pak, work: VerifyWork): EntryWork {
  const checker = work.decode === true ? undefined : pak.checkerAtOnce?.();
  return async (entry) => {
    const isRight = await checker;
    if (isRight?.(entry) === true) return { bytes: entry.storedSize };
    const problem = await pak.verify(entry, work);
    const { storedSize: bytes } = entry;
    if (problem !== undefined) return { bytes, problem };
    return (await pak.hasProof(entry, work)) ? { bytes } : { bytes, unproven: true };
  };
}

function extractor(pak: Pak, { to, raw }: { to: string; raw: boolean }, checkpoint: Checkpoint): EntryWork {
  const folder = new OutputFolder(to, { isKnown: true });
  const reader = raw ? undefined : pak.readerAtOnce?.();
  return async (entry, { path, size, part }, seen) => {
    const read = size > momentBytes ? undefined : await reader;
    if (part !== undefined) {
      const written = read && writePartAtOnce(part.file, part.offset, read(entry, { offset: part.offset, size }));
      if (written !== undefined) return { bytes: written };
      const pieces = pak.readRange?.(entry, part.offset, size) ?? slicePieces(pak.read(entry), part.offset, size);
      return { bytes: await writePart(part.file, part.offset, watched(pieces, checkpoint)) };
    }
    const file = folder.fileFor(path, seen);
    const written = read && writeAtOnce(file, read(entry), entry.mtime);
    if (written !== undefined) return { bytes: written };
    const pieces = raw ? readRaw(pak, entry) : pak.read(entry);
    return { bytes: await writeOutput(file, watched(pieces, checkpoint), entry.mtime) };
  };
}

function readRaw(pak: Pak, entry: PakEntry): AsyncIterable<Uint8Array> {
  if (pak.readRaw !== undefined) return pak.readRaw(entry);
  throw new PakratError('E_UNSUPPORTED', `entries of ${pak.family} PAKs cannot be taken out raw`);
}

async function* watched(pieces: AsyncIterable<Uint8Array>, checkpoint: Checkpoint): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    await checkpoint();
    yield piece;
  }
}
