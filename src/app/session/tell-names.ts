import type { Build } from '../../builds/build.ts';
import type { ListfileChange } from '../../builds/listfile/listfile-import.ts';
import type { OnProgress } from '../../core/progress.ts';
import { formatCount, plural } from '../../core/quantities.ts';

/** Notes how many names of the imported list are not the build's own, as far as it was read: for who is about to close it. */
export function tellNames({ misfits }: Build, onProgress: OnProgress | undefined): void {
  if (misfits === 0) return;
  const names =
    misfits === 1 ? '1 name of the imported list is' : `${formatCount(misfits)} names of the imported list are`;
  const text = `${names} not used: by its name hashes the build has other files at these ids`;
  onProgress?.({ type: 'note', text });
}

/** Notes the lines of a list that were passed over: the first of them, and how many there are. */
export function tellBadLines({ bad }: Pick<ListfileChange, 'bad'>, onProgress: OnProgress | undefined): void {
  if (bad === undefined) return;
  for (const { message } of bad.first) onProgress?.({ type: 'note', text: `passed over: ${message}` });
  const more = bad.lines - bad.first.length;
  if (more > 0)
    onProgress?.({
      type: 'note',
      text: `passed over: ${plural(more, 'more line', 'more lines')} that ${more === 1 ? 'is no row' : 'are no rows'}`,
    });
}
