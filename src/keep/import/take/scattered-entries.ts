import { breathe } from '../../../core/breathe.ts';
import { fromHex } from '../../../core/bytes.ts';
import type { ObjectName } from '../../../store/layout.ts';
import { type ArchiveEntry, archiveEntries } from '../../store-checks.ts';
import type { ImportRun } from '../import-run.ts';
import type { EntrySource } from './entry-source.ts';
import { type EntryWork, missingEntries, takeEntries } from './take-entries.ts';
import { readSmall } from './take-small.ts';

/** Entries that lie somewhere by their keys alone, in no archive: in the data files of an installed game, or in a file each. Needs `close`. */
export interface ScatteredEntries {
  /** See {@link EntrySource}. */
  isPlain: boolean;
  /** An entry by its ekey. @returns undefined when it is not there */
  find(ekey: Uint8Array): FoundEntry | undefined;
  close(): void;
}

/** The encoded bytes of an entry. */
export interface FoundEntry {
  size: number;
  /** @throws E_FORMAT_TRUNCATED, E_INTEGRITY */
  read(offset: number, size: number): Uint8Array;
}

/**
 * Takes scattered entries to where archives have them, by the indices that are here.
 * @param onPlaced called with the ekey of each that belongs to an archive, held or not
 * @returns work that waits for another process
 * @throws E_ABORTED, E_STORE…
 */
export async function takeScattered(
  run: ImportRun,
  entries: ScatteredEntries,
  { archives, onPlaced }: { archives: Iterable<ObjectName>; onPlaced: (ekey: string) => void },
): Promise<EntryWork[]> {
  const later: EntryWork[] = [];
  const source: EntrySource = {
    isPlain: entries.isPlain,
    held: (entry) => Math.min(entries.find(fromHex(entry.ekey))?.size ?? 0, entry.size),
    read: (entry, offset, size) => entries.find(fromHex(entry.ekey))?.read(offset, size) ?? new Uint8Array(),
    close() {},
  };
  for (const name of archives) {
    await breathe(run.settings.signal);
    const index = readSmall(run, { ...name, suffix: '.index' });
    if (index === undefined) continue;
    const here: ArchiveEntry[] = [];
    for (const entry of archiveEntries(index, name))
      if (entries.find(fromHex(entry.ekey)) !== undefined) here.push(entry);
    for (const { ekey } of here) onPlaced(ekey);
    if (here.length === 0) continue;
    const work: EntryWork = { name, entries: here, loose: false, open: () => source };
    countHeld(run, here, [...missingEntries(run, work)]);
    const left = await takeEntries(run, work);
    if (left !== undefined) later.push(left);
  }
  return later;
}

function countHeld(run: ImportRun, all: readonly ArchiveEntry[], missing: readonly ArchiveEntry[]): void {
  const lacking = new Set(missing);
  const { held } = run.report;
  for (const entry of all) {
    if (lacking.has(entry)) continue;
    held.entries += 1;
    held.bytes += entry.size;
    run.pass(entry.size);
  }
}
