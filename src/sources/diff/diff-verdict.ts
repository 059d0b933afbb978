import type { DiffRow } from './diff-table.ts';

/**
 * The fact that told that two files are equal, or that they are not: the MD5 of the content that both sides know, the keys of the parts that builds
 * make them of, the SHA-1 of the bytes as they are stored, the size, or the content itself.
 */
export type DecidedBy = 'md5' | 'keys' | 'sha1' | 'size' | 'content';

/** True or false for equal files, and the fact that told so. */
export interface Verdict {
  same: boolean;
  by: DecidedBy;
}

/** The verdict of the rows alone; undefined when the contents must be read. */
export function compareRows(before: DiffRow, after: DiffRow): Verdict | undefined {
  const [left, right] = [before.mark, after.mark];
  const bothMd5 = left?.by === 'md5' && right?.by === 'md5';
  if (bothMd5 && left.key !== right.key) return { same: false, by: 'md5' };
  const sizesKnown = before.size !== undefined && after.size !== undefined;
  if (sizesKnown && before.size !== after.size) return { same: false, by: 'size' };
  if (bothMd5) return { same: true, by: 'md5' };
  if (sizesKnown && before.size === 0) return { same: true, by: 'size' };
  if (left === undefined || right === undefined) return undefined;
  const equal = left.by === right.by && left.key === right.key;
  if (left.by === 'keys' || right.by === 'keys') return { same: equal, by: 'keys' };
  // Equal contents may be stored in different ways: only the same stored bytes tell.
  return equal ? { same: true, by: 'sha1' } : undefined;
}

/** A file whose name only one side knows has no other name there. */
export function isRenamed({ name: before }: DiffRow, { name: after }: DiffRow): boolean {
  return before !== undefined && after !== undefined && before !== after;
}
