import { closeSync } from 'node:fs';
import { codeOf, isPakratError, resultUnless } from '../../../core/errors.ts';
import { readAt, readable } from '../../../files/read-at.ts';
import { objectPath } from '../../../store/layout.ts';
import { checkEntries } from '../../../verify/check-entries.ts';
import { keyOfEntry, sizeByTable } from '../../../verify/entry-key.ts';
import { type ArchiveEntry, archiveEntries } from '../../store-checks.ts';
import type { FoundFile } from '../find/found-files.ts';
import { addAmount, addLinked } from '../import-report.ts';
import type { ImportRun } from '../import-run.ts';
import { archiveFile, openFound } from './entry-source.ts';
import { type CopyKind, placeWhole } from './place-whole.ts';
import { type EntryWork, missingEntries, takeEntries } from './take-entries.ts';

/**
 * Takes an archive, of which the index is here, or a loose object, as far as it is right and not held.
 * @returns work that waits for another process
 * @throws E_ABORTED, E_STORE…
 */
export async function takeObject(
  run: ImportRun,
  { name, file, size }: FoundFile,
  index: Uint8Array | undefined,
): Promise<EntryWork | undefined> {
  const isLoose = index === undefined;
  const entries = isLoose ? [looseEntry(run, { name, file, size })] : archiveEntries(index, name);
  const work: EntryWork = { name, entries, loose: isLoose, open: () => archiveFile(file) };
  const held = countHeld(run, work);
  if (held === 'all') return undefined;
  if (held === 'none' && (await takeWhole(run, { file, size }, work))) return undefined;
  return takeEntries(run, work);
}

/** A loose object is as large as its header says, where that is right and does: its file may be cut, or held in part. */
function looseEntry({ store }: ImportRun, { name, file, size }: FoundFile): ArchiveEntry {
  const path = objectPath(name);
  const told = resultUnless(isPakratError, () => {
    const { fd } = openFound(file);
    try {
      const read = (offset: number, length: number): Uint8Array =>
        store.objectKeys.decrypt(
          path,
          readable(file, () => readAt(fd, offset, length, file)),
          offset,
        );
      return keyOfEntry(read, size) === name.hash ? sizeByTable(read) : undefined;
    } finally {
      closeSync(fd);
    }
  });
  return { ekey: name.hash, offset: 0, size: told ?? size, raw: false };
}

/** Counts what the store holds of an object. @returns how much of it that is */
function countHeld(run: ImportRun, work: EntryWork): 'all' | 'some' | 'none' {
  const { name, entries, loose } = work;
  const all = amountOf(entries);
  const missing = amountOf(missingEntries(run, work));
  const bytes = all.bytes - missing.bytes;
  const isWhole = loose || run.store.ledger.completeSize(objectPath(name)) !== undefined;
  const objects = missing.entries === 0 && isWhole ? 1 : 0;
  addAmount(run.report.held, { objects, entries: loose ? 0 : all.entries - missing.entries, bytes });
  run.pass(bytes);
  if (missing.entries === 0) return 'all';
  return missing.entries < all.entries ? 'some' : 'none';
}

function amountOf(entries: Iterable<ArchiveEntry>): { entries: number; bytes: number } {
  const amount = { entries: 0, bytes: 0 };
  for (const { size } of entries) {
    amount.entries += 1;
    amount.bytes += size;
  }
  return amount;
}

/** Takes all of an object by its file, where that is wholly right. @returns false when it is to be taken entry by entry */
async function takeWhole(
  run: ImportRun,
  { file, size }: { file: string; size: number },
  { name, entries, loose }: EntryWork,
): Promise<boolean> {
  const { store, settings, report } = run;
  const end = endOf(entries);
  const path = objectPath(name);
  const isClaimedInPart = run.claimsOf(path)?.some((span) => span.start > 0 || span.end < (end ?? 0)) === true;
  if (settings.dryRun || end === undefined || size < end || isClaimedInPart) return false;
  const kinds: CopyKind[] = [...(run.canLink && size === end ? ['link' as const] : []), 'clone'];
  const claim = run.claim(path, 0, Number.MAX_SAFE_INTEGER);
  if (claim === undefined) return false;
  try {
    for (const kind of kinds) {
      if (kind === 'clone' && !run.canClone) return false;
      const isRight = (copy: string): Promise<boolean> => areRight(run, copy, path, entries);
      const outcome = await placeWhole(store, { kind, file, path, size: end }, isRight);
      if (outcome === 'wrong') return false;
      if (outcome === 'cannot') {
        run.cannot(kind);
        continue;
      }
      run.touch(path);
      addAmount(report.taken, { entries: loose ? 0 : amountOf(entries).entries, bytes: end });
      if (kind === 'link') addLinked(report, end);
      run.pass(end);
      return true;
    }
    return false;
  } finally {
    claim.release();
  }
}

/** The end of entries that lie one behind the other from the first byte on; undefined where something lies between them that no hash covers. */
function endOf(entries: Iterable<ArchiveEntry>): number | undefined {
  let end = 0;
  for (const { offset, size } of entries) {
    if (offset > end) return undefined;
    end = Math.max(end, offset + size);
  }
  return end;
}

async function areRight(
  { store, buffer, settings }: ImportRun,
  file: string,
  path: string,
  entries: Iterable<ArchiveEntry>,
): Promise<boolean> {
  const source = archiveFile(file);
  try {
    const read = (entry: ArchiveEntry, offset: number, size: number): Uint8Array =>
      store.objectKeys.decrypt(path, source.read(entry, offset, size), entry.offset + offset);
    for await (const batch of checkEntries(entries, read, { buffer, signal: settings.signal }))
      if (batch.some(({ problem }) => problem !== undefined)) return false;
    return true;
  } catch (error) {
    if (codeOf(error) === 'E_INTEGRITY' || codeOf(error) === 'E_KEY_MISSING') return false;
    throw error;
  } finally {
    source.close();
  }
}
