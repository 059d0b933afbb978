import { breathe } from '../../../core/breathe.ts';
import { equalBytes } from '../../../core/bytes.ts';
import { isPakratError, PakratError } from '../../../core/errors.ts';
import { formatCount } from '../../../core/quantities.ts';
import { outputPath } from '../../../files/output/output-path.ts';
import { type PackFile, packFileWith, type RewriteRow } from '../../../paks/packing.ts';
import type { Pak, PakEntry } from '../../../paks/pak.ts';
import { sortForPacking } from '../../../paks/sorted-files.ts';

/** The rows of a PAK that is made out of an older one. */
export interface RewritePlan {
  rows: RewriteRow[];
  /** Rows that are taken over as they are stored. */
  kept: number;
  notes: string[];
}

/** The changes to a PAK. */
export interface PakChanges {
  /** All that is to be in it; undefined: what is in the older one. */
  files: readonly PackFile[] | undefined;
  /** New content by the name of the entry, or `index:N`. */
  replaced: ReadonlyMap<string, PackFile>;
  signal?: AbortSignal | undefined;
}

const shownNames = 5;

/**
 * Decides what of an older PAK is taken over. A file with the content of its entry changes nothing; one that the older PAK does not
 * have comes behind the others. Rows that an extraction leaves out (hidden ones, and names that no system takes) are taken over.
 * @throws E_NOT_FOUND when an entry that is to be replaced is not there, E_USAGE when nothing is left, as the PAK does
 */
export async function planRewrite(pak: Pak, { files, replaced, signal }: PakChanges): Promise<RewritePlan> {
  const contents = new Map<number, PackFile>();
  const added: PackFile[] = [];
  const notes: string[] = [];
  for (const [asked, file] of replaced) {
    const { index, name } = getEntry(pak, asked);
    contents.set(index, packFileWith(file, { name }));
  }
  const present = files === undefined ? undefined : new Set<number>();
  const unread: string[] = [];
  for (const file of files ?? []) {
    await breathe(signal);
    const entry = pak.find(file.name);
    if (entry === undefined || present?.has(entry.index)) added.push(file);
    else {
      present?.add(entry.index);
      if (contents.has(entry.index)) continue;
      const isSame = await hasContent(pak, entry, file);
      if (isSame === undefined) unread.push(entry.name);
      if (isSame !== true) contents.set(entry.index, packFileWith(file, { name: entry.name }));
    }
  }
  const left = pak.entries.filter((entry) => {
    return present !== undefined && !present.has(entry.index) && !contents.has(entry.index) && isExtracted(entry);
  });
  if (left.length > 0) notes.push(`left out, for the files have no such name: ${shown(left.map(({ name }) => name))}`);
  if (unread.length > 0) notes.push(`stored anew, for the old content cannot be read to compare: ${shown(unread)}`);
  const isLeft = new Set(left.map(({ index }) => index));
  const old = pak.entries.filter(({ index }) => !isLeft.has(index));
  const rows = old.map(({ index }): RewriteRow => ({ old: index, file: contents.get(index) }));
  for (const file of await sortForPacking(added, (name) => name, signal)) rows.push({ file });
  if (rows.length === 0) throw new PakratError('E_USAGE', 'nothing is left to pack');
  return { rows, kept: old.filter(({ index }) => !contents.has(index)).length, notes };
}

function getEntry(pak: Pak, name: string): PakEntry {
  const number = /^index:(\d{1,10})$/.exec(name)?.[1];
  const entry = pak.find(name) ?? (number === undefined ? undefined : pak.entries[Number(number)]);
  if (entry !== undefined) return entry;
  throw new PakratError('E_NOT_FOUND', `there is no ${name} to replace`, {
    hint: '`pakrat ls` lists the files of a PAK; index:N names one by its number, hidden ones too.',
    data: { name },
  });
}

/** True for a row that an extraction of everything writes. */
function isExtracted({ name, hidden }: PakEntry): boolean {
  if (hidden !== undefined) return false;
  try {
    outputPath(name);
    return true;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return false;
  }
}

/** True when a file has the content of an entry; undefined when the entry cannot be read. */
async function hasContent(pak: Pak, entry: PakEntry, file: PackFile): Promise<boolean | undefined> {
  if (file.size !== entry.size) return false;
  const mine = file.open()[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  try {
    for await (const piece of pak.read(entry)) {
      for (let at = 0; at < piece.length; ) {
        if (rest.length === 0) rest = (await mine.next()).value ?? new Uint8Array(0);
        const size = Math.min(rest.length, piece.length - at);
        if (size === 0 || !equalBytes(rest.subarray(0, size), piece.subarray(at, at + size))) return false;
        rest = rest.subarray(size);
        at += size;
      }
    }
    return rest.length === 0 && (await mine.next()).done === true;
  } catch (error) {
    if (!isPakratError(error) || error.code === 'E_ABORTED') throw error;
    return undefined;
  } finally {
    await mine.return?.();
  }
}

function shown(names: readonly string[]): string {
  const more = names.length - shownNames;
  return names.slice(0, shownNames).join(', ') + (more > 0 ? ` and ${formatCount(more)} more` : '');
}
