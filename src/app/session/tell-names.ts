import type { Build } from '../../builds/build.ts';
import type { OnProgress } from '../../core/progress.ts';
import { formatCount } from '../../core/quantities.ts';

/** Notes how many names of the imported list are not the build's own, as far as it was read: for who is about to close it. */
export function tellNames({ misfits }: Build, onProgress: OnProgress | undefined): void {
  if (misfits === 0) return;
  const names =
    misfits === 1 ? '1 name of the imported list is' : `${formatCount(misfits)} names of the imported list are`;
  const text = `${names} not used: by its name hashes the build has other files at these ids`;
  onProgress?.({ type: 'note', text });
}
