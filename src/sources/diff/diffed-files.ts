import { repeatable } from '../../core/reader.ts';
import type { Difference, DiffItem } from './diff.ts';
import { itemName } from './diff-summary.ts';
import { type DecidedBy, type DiffRow, nameOf } from './diff-table.ts';

/** A file as one side has it. */
export interface DiffedContent {
  /** Bytes after decoding; null where nothing tells. */
  size: number | null;
  /** MD5 of the content, where it is known. */
  ckey: string | undefined;
}

/** A file that differs: its name, and its id or its number in the source, where it has one. */
export interface DiffedFile {
  name: string;
  fileDataId: number | undefined;
  index: number | undefined;
}

/** A file that both sides have. `before` has its name, where that was another. */
export interface ChangedFile extends DiffedFile {
  by: DecidedBy;
  before: DiffedContent & { name: string | undefined };
  after: DiffedContent;
}

/** The files that differ, as `diff --json` prints them: by name, and made one at a time, for there may be millions. */
export interface DiffedFiles {
  added: Iterable<DiffedFile & DiffedContent>;
  removed: Iterable<DiffedFile & DiffedContent>;
  changed: Iterable<ChangedFile>;
  renamed: Iterable<DiffedFile & DiffedContent & { by: DecidedBy; from: string }>;
}

type ItemOf<Kind> = Extract<DiffItem, { kind: Kind }>;

/** The files of a comparison, in a list for each way to differ. */
export function diffedFiles(difference: Difference): DiffedFiles {
  const lines = <Kind extends DiffItem['kind'], File>(kind: Kind, fileOf: (item: ItemOf<Kind>) => File) =>
    repeatable(function* (): Generator<File> {
      for (const item of difference.items()) if (item.kind === kind) yield fileOf(item as ItemOf<Kind>);
    });
  return {
    added: lines('added', (item) => ({ ...fileOf(item, item.after), ...contentOf(item.after) })),
    removed: lines('removed', (item) => ({ ...fileOf(item, item.before), ...contentOf(item.before) })),
    changed: lines('changed', changedFile),
    renamed: lines('renamed', (item) => {
      const { before, after, by } = item;
      return { ...fileOf(item, after), by, from: nameOf(before), ...contentOf(after) };
    }),
  };
}

function changedFile(item: ItemOf<'changed'>): ChangedFile {
  const { before, after, by } = item;
  const file = fileOf(item, after);
  const name = before.name === file.name ? undefined : before.name;
  return { ...file, by, before: { name, ...contentOf(before) }, after: contentOf(after) };
}

function fileOf(item: DiffItem, { fileDataId, index }: DiffRow): DiffedFile {
  return { name: itemName(item), fileDataId, index };
}

function contentOf({ size, mark }: DiffRow): DiffedContent {
  return { size: size ?? null, ckey: mark?.by === 'md5' ? mark.key : undefined };
}
