import * as fs from 'node:fs';
import { breathe } from '../../../core/breathe.ts';
import { codeOf, isDamage, isDiskBroken, isPakratError, resultUnless } from '../../../core/errors.ts';
import { inStore, writeAll } from '../../../files/durable.ts';
import { readable, readInto } from '../../../files/read-at.ts';
import { removeTemporary } from '../../../files/temporary.ts';
import type { Claim } from '../../../store/claims.ts';
import { type ObjectName, objectPath } from '../../../store/layout.ts';
import type { Proof } from '../../../verify/entry-columns.ts';
import type { ProofTask } from '../../proofs/proof-tasks.ts';
import { proveBatches, startProofs } from '../../proofs/prove-objects.ts';
import type { FoundFile } from '../find/found-files.ts';
import { addAmount, addLinked } from '../import-report.ts';
import type { ImportRun } from '../import-run.ts';
import { openFound } from './entry-source.ts';
import { type Copy, placeFiles, writeCopy } from './place-whole.ts';
import { hasSmall, sharedCopy } from './take-small.ts';

/** A copy that threads look at, and what it is a copy of. */
interface Candidate extends Copy {
  found: FoundFile;
  /** The file of its index; undefined for a loose object. */
  index: string | undefined;
  claim: Claim;
}

/**
 * Takes archives whose indices are here, and large loose objects, that are there whole and right, and of which nothing is held: while one is copied,
 * threads hash those before it. Does nothing where threads do not pay.
 * @returns those that it took; of the others nothing was told
 * @throws E_ABORTED, E_STORE…
 */
export async function takeWholeInThreads(run: ImportRun, files: readonly FoundFile[]): Promise<Set<FoundFile>> {
  const taken = new Set<FoundFile>();
  const likely = files.filter((found) => isLikelyWhole(run, found));
  const bytes = likely.reduce((sum, { size }) => sum + size, 0);
  const pool = startProofs({ bytes, objects: likely.length }, run.settings.use ?? {});
  if (pool === undefined) return taken;
  const candidates = new Map<string, Candidate>();
  const letGo = (candidate: Candidate): void => {
    candidates.delete(candidate.path);
    if (!run.settings.dryRun) removeTemporary(candidate.from);
    candidate.claim.release();
  };
  try {
    for await (const { task, proof } of proveBatches(pool, tasksOf(run, likely, candidates), run.settings.signal)) {
      const candidate = candidates.get(task.path)!;
      // What is looked at again is counted again.
      if (proof === undefined) run.pass(-candidate.size);
      else await place(run, candidate, proof);
      if (proof !== undefined) taken.add(candidate.found);
      letGo(candidate);
    }
  } finally {
    for (const candidate of candidates.values()) letGo(candidate);
  }
  return taken;
}

/** True where nothing speaks against that a file is all of its object: it has no holes, the store that it is of claims all of it, and nothing of it is held here. */
function isLikelyWhole(run: ImportRun, { name, file, size }: FoundFile): boolean {
  const { ledger, objectKeys } = run.store;
  const path = objectPath(name);
  if (ledger.spans(path).length > 0 || !run.isClaimed(path, size)) return false;
  if (resultUnless(isPakratError, () => objectKeys.keyOf(path) === undefined) !== true) return false;
  const stat = resultUnless(isDiskBroken, () => fs.lstatSync(file, { throwIfNoEntry: false }));
  return stat?.isFile() === true && (stat.blocks ?? Number.MAX_SAFE_INTEGER) * 512 >= size;
}

/** Copies one after the other, for threads to look at. */
async function* tasksOf(
  run: ImportRun,
  files: readonly FoundFile[],
  candidates: Map<string, Candidate>,
): AsyncGenerator<ProofTask[]> {
  for (const found of files) {
    const { name, size } = found;
    const path = objectPath(name);
    // It may lie in the folder twice.
    const claim = candidates.has(path) ? undefined : run.claim(path, 0, Number.MAX_SAFE_INTEGER);
    if (claim === undefined) continue;
    // It may have been fetched and released between the look and the claim.
    const isHeld = run.store.ledger.spans(path).length > 0;
    const copy = isHeld ? undefined : await copyOf(run, found).catch(releasing(claim));
    if (copy === undefined) {
      claim.release();
      continue;
    }
    const index = indexFile(run, name);
    candidates.set(path, { ...copy, found, index, claim });
    const spans = [{ start: 0, end: size }];
    yield [{ path, name, file: copy.from, index, wholeSize: size, spans, size }];
  }
}

function releasing(claim: Claim): (error: unknown) => never {
  return (error) => {
    claim.release();
    throw error;
  };
}

async function place(run: ImportRun, copy: Candidate, { entries }: Proof): Promise<void> {
  const { settings, report, store } = run;
  if (!settings.dryRun) await placeFiles(store, [copy]);
  run.touch(copy.path);
  addAmount(report.taken, { entries: copy.index === undefined ? 0 : entries, bytes: copy.size });
  if (copy.kind === 'link') addLinked(report, copy.size);
}

function indexFile(run: ImportRun, name: ObjectName): string | undefined {
  const index: ObjectName = { ...name, suffix: '.index' };
  if (!hasSmall(run, index)) return undefined;
  return run.seen.get(objectPath(index)) ?? run.store.file(objectPath(index));
}

/** @returns undefined for a file that cannot be read */
async function copyOf(run: ImportRun, { name, file, size }: FoundFile): Promise<Copy | undefined> {
  const copy = { path: objectPath(name), size };
  const itself = { kind: 'bytes' as const, from: file };
  const shared = run.settings.dryRun ? itself : sharedCopy(run, file, { clone: true });
  if (shared !== undefined) {
    run.pass(size);
    return { ...copy, ...shared };
  }
  const from = await copyBytes(run, file, size);
  return from === undefined ? undefined : { ...copy, kind: 'bytes', from };
}

const pieceBytes = 1 << 20;

async function copyBytes(run: ImportRun, file: string, size: number): Promise<string | undefined> {
  const from = writeCopy(run.store, new Uint8Array());
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size));
  let done = 0;
  try {
    const source = openFound(file);
    try {
      const target = inStore(from, () => fs.openSync(from, 'r+'));
      try {
        while (done < size) {
          const bytes = piece.subarray(0, size - done);
          readable(file, () => readInto(source.fd, bytes, { offset: done, what: file }));
          inStore(from, () => writeAll(target, bytes, done));
          done += bytes.length;
          run.pass(bytes.length);
          await breathe(run.settings.signal);
        }
      } finally {
        fs.closeSync(target);
      }
    } finally {
      fs.closeSync(source.fd);
    }
    return from;
  } catch (error) {
    removeTemporary(from);
    run.pass(-done);
    if (!isDamage(error) && codeOf(error) !== 'E_NOT_FOUND') throw error;
    return undefined;
  }
}
