import { breathe } from '../core/breathe.ts';
import { isOurTrouble, isPakratError, type PakratError } from '../core/errors.ts';
import { EntryVerifier, type VerifiedEntry } from './entry-verifier.ts';
import { HashBuffer, type HashStream, type VerifiedSink } from './hash-buffer.ts';

/** Reads bytes of an encoded entry, decrypted where its object is encrypted as a whole; offsets count from the start of the entry. They are good until the next are read. */
type ReadEntry<Entry> = (entry: Entry, offset: number, size: number) => Uint8Array;

/** An encoded entry of which all, or the first `held` bytes, are to be checked. */
export interface EntryToCheck extends VerifiedEntry {
  /** Bytes from its start that are there; absent: all of it. */
  held?: number | undefined;
}

/** The outcome of a check: how many bytes from the entry's start are right, and the first thing that is wrong. */
export interface CheckedEntry<Entry> {
  entry: Entry;
  right: number;
  problem: { code: string; message: string; cause?: unknown } | undefined;
}

const pieceSize = 256 << 10;
/** Entries that are judged at a time, and their bytes: their chunks are hashed many at a time. */
const batchSize = 256;
const batchBytes = 64 << 20;

/** The signal that ends a check, and a buffer for whoever checks many objects one after the other: to make one takes a while. */
interface CheckOptions {
  signal?: AbortSignal | undefined;
  buffer?: HashBuffer | undefined;
  /** Gets the bytes that turn out right, at their place in the object. Its trouble ends the check. */
  sink?: VerifiedSink | undefined;
}

/** Keeps nothing: only the hashes matter here. */
const noSink: VerifiedSink = { write() {}, spool: () => ({ append() {}, replay() {}, close() {} }) };

/**
 * Checks encoded entries against their keys: the header's MD5 is the ekey, each chunk has the MD5 that the header says. No key is needed to
 * do so. Entries are read one after the other, and judged and given in batches, in their order.
 * @param read errors of ours that it throws are the entry's problem; others end the check
 * @throws E_ABORTED, E_STORE… from the sink
 */
export async function* checkEntries<Entry extends EntryToCheck>(
  entries: Iterable<Entry>,
  read: ReadEntry<Entry>,
  { signal, buffer = new HashBuffer(), sink = noSink }: CheckOptions = {},
): AsyncGenerator<CheckedEntry<Entry>[]> {
  const stream = buffer.open(sink);
  let batch: ReadingEntry<Entry>[] = [];
  let [bytes, sinceTurn] = [0, 0];
  const judge = (): CheckedEntry<Entry>[] => {
    stream.flush();
    const outcomes = batch.map(outcomeOf);
    batch = [];
    bytes = 0;
    return outcomes;
  };
  try {
    for (const entry of entries) {
      const reading: ReadingEntry<Entry> = { entry, verifier: undefined, error: undefined };
      batch.push(reading);
      for (const size of readPieces(reading, stream, read)) {
        bytes += size;
        sinceTurn += size;
        if (sinceTurn < pieceSize) continue;
        sinceTurn = 0;
        await breathe(signal);
      }
      if (batch.length < batchSize && bytes < batchBytes) continue;
      await breathe(signal);
      yield judge();
    }
    await breathe(signal);
    if (batch.length > 0) yield judge();
  } finally {
    stream.close();
  }
}

interface ReadingEntry<Entry> {
  entry: Entry;
  verifier: EntryVerifier | undefined;
  error: PakratError | undefined;
}

/** Gives the bytes of an entry to a verifier of its own, and says how many come next. */
function* readPieces<Entry extends EntryToCheck>(
  reading: ReadingEntry<Entry>,
  stream: HashStream,
  read: ReadEntry<Entry>,
): Generator<number> {
  const { entry } = reading;
  const { held = entry.size } = entry;
  try {
    reading.verifier = new EntryVerifier(entry, stream);
    for (let done = 0; done < held; done += pieceSize) {
      const size = Math.min(pieceSize, held - done);
      yield size;
      reading.verifier.push(read(entry, done, size));
    }
  } catch (error) {
    if (!isPakratError(error) || isOurTrouble(error)) throw error;
    reading.error = error;
  } finally {
    reading.verifier?.close();
  }
}

/** A chunk that is held in part cannot be right. */
function outcomeOf<Entry extends EntryToCheck>({ entry, verifier, error }: ReadingEntry<Entry>): CheckedEntry<Entry> {
  const { held = entry.size, ekey } = entry;
  const right = verifier?.verified ?? 0;
  const found = error ?? verifier?.failure;
  if (found === undefined && right === held) return { entry, right, problem: undefined };
  const code = found?.code ?? 'E_INTEGRITY';
  const message = found?.message ?? `entry ${ekey}: ${held - right} bytes have no hash yet`;
  return { entry, right, problem: { code, message, cause: found?.cause } };
}
