import type { Amount } from '../../store/ledger/rows.ts';
import type { FetchNeed } from '../../sync/diff-need.ts';
import type { Difference, DiffItem } from './diff.ts';
import { type DecidedBy, nameOf } from './diff-table.ts';

interface FileAmount {
  files: number;
  bytes: number;
}

/** The changes in a folder at the top. */
export interface FolderSummary {
  /** With `/` behind it; empty for files in no folder, `fdid:` for those without a name. */
  folder: string;
  added: number;
  removed: number;
  changed: number;
  renamed: number;
  /** Decoded bytes more, or fewer. */
  growth: number;
}

/** The sums of a comparison. */
export interface DiffSummary {
  added: FileAmount;
  removed: FileAmount;
  /** Bytes of the second side; `before` has those of the first. */
  changed: FileAmount & { before: number };
  renamed: FileAmount;
  unchanged: { files: number };
  failed: { files: number };
  /** Files that are on both sides, counted by the fact that decided about them. */
  by: Partial<Record<DecidedBy, number>>;
  /** Needed by a sync of the second build beyond the first; null where that is not known. */
  fetch: Amount | null;
  /** Needed beyond what the store holds. */
  missing: Amount | null;
  /** Those with most changes first. */
  folders: FolderSummary[];
}

/** Adds up what was found. */
export function summarize(difference: Difference, need: FetchNeed | undefined): DiffSummary {
  const none = (): FileAmount => ({ files: 0, bytes: 0 });
  const sums = { added: none(), removed: none(), changed: { ...none(), before: 0 }, renamed: none() };
  const folders = new Map<string, FolderSummary>();
  for (const item of difference.items()) {
    const [before, after] = sizesOf(item);
    const sum = sums[item.kind];
    sum.files += 1;
    sum.bytes += (item.kind === 'removed' ? before : after) ?? 0;
    if (item.kind === 'changed') sums.changed.before += before ?? 0;
    const folder = folderOf(folders, item);
    folder[item.kind] += 1;
    if (before !== undefined && after !== undefined) folder.growth += after - before;
  }
  return {
    ...sums,
    unchanged: { files: difference.unchanged },
    failed: { files: difference.failed.length },
    by: difference.decided,
    fetch: need?.fetch ?? null,
    missing: need?.missing ?? null,
    folders: [...folders.values()].sort((a, b) => filesOf(b) - filesOf(a) || (a.folder < b.folder ? -1 : 1)),
  };
}

/** Sizes of both sides: 0 where there is no file, undefined where nothing tells. */
export function sizesOf(item: DiffItem): [before: number | undefined, after: number | undefined] {
  return ['before' in item ? item.before.size : 0, 'after' in item ? item.after.size : 0];
}

/** The name that an item goes by: that of the second side, where it has one. */
export function itemName(item: DiffItem): string {
  if (item.kind === 'added') return nameOf(item.after);
  if (item.kind === 'removed' || item.after.name === undefined) return nameOf(item.before);
  return item.after.name;
}

function folderOf(folders: Map<string, FolderSummary>, item: DiffItem): FolderSummary {
  const name = itemName(item);
  const folder = /^fdid:(?=\d+$)|^[^/]*\//.exec(name)?.[0] ?? '';
  let found = folders.get(folder);
  if (found === undefined) {
    found = { folder, added: 0, removed: 0, changed: 0, renamed: 0, growth: 0 };
    folders.set(folder, found);
  }
  return found;
}

function filesOf({ added, removed, changed, renamed }: FolderSummary): number {
  return added + removed + changed + renamed;
}
