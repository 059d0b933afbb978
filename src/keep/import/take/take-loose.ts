import { isPakratError, resultUnless, throwIfAborted } from '../../../core/errors.ts';
import { objectPath } from '../../../store/layout.ts';
import { batchesInOrder } from '../../../threads/batches.ts';
import { checkEntries, type EntryToCheck } from '../../../verify/check-entries.ts';
import type { FoundFile } from '../find/found-files.ts';
import type { ImportRun } from '../import-run.ts';
import { readPlain } from './entry-source.ts';
import { addObjects, type RightObject, together } from './take-small.ts';

/** The largest loose objects that are read whole. */
const mostBytes = 1 << 20;

/**
 * Takes small loose objects many at a time, as far as they are plain: not held, whole, and right.
 * @returns those that it took; the others are as they were, and nothing was told of them
 * @throws E_ABORTED, E_STORE…
 */
export async function takeSmallLoose(run: ImportRun, files: readonly FoundFile[]): Promise<Set<FoundFile>> {
  const taken = new Set<FoundFile>();
  const small = files.filter(({ size }) => size <= mostBytes);
  for (const group of batchesInOrder(small, together)) {
    throwIfAborted(run.settings.signal);
    const right = await rightOnes(
      run,
      group.flatMap((found) => readIfPlain(run, found) ?? []),
    );
    await addObjects(
      run,
      right.map(({ object }) => object),
    );
    for (const { found } of right) {
      run.pass(found.size);
      taken.add(found);
    }
  }
  return taken;
}

/** The encoded entry that a loose object is. */
interface LooseEntry extends EntryToCheck {
  found: FoundFile;
  object: RightObject;
  /** Its bytes, decrypted where the object is encrypted as a whole. */
  plain: Uint8Array;
}

/** @returns undefined for one that is not to be taken whole, or cannot be read */
function readIfPlain(run: ImportRun, found: FoundFile): LooseEntry | undefined {
  const { store } = run;
  const path = objectPath(found.name);
  if (store.ledger.completeSize(path) !== undefined || !run.isClaimed(path, found.size)) return undefined;
  return resultUnless(isPakratError, () => {
    const bytes = readPlain(found.file, mostBytes);
    const plain = store.objectKeys.decrypt(path, bytes);
    return { found, object: { ...found, bytes }, plain, ekey: found.name.hash, size: bytes.length, raw: false };
  });
}

async function rightOnes({ buffer, settings }: ImportRun, entries: readonly LooseEntry[]): Promise<LooseEntry[]> {
  const right: LooseEntry[] = [];
  const read = ({ plain }: LooseEntry, offset: number, size: number): Uint8Array =>
    plain.subarray(offset, offset + size);
  for await (const batch of checkEntries(entries, read, { buffer, signal: settings.signal }))
    for (const { entry, problem } of batch) if (problem === undefined) right.push(entry);
  return right;
}
