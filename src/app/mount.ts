import { throttled, type WorkOptions } from '../core/progress.ts';
import type { MountReport } from '../sources/mount/mount.ts';
import { withSource } from './session/open-source.ts';
import type { PakOpenOptions } from './session/pak-options.ts';
import type { Session } from './session/session.ts';

export type { MountReport } from '../sources/mount/mount.ts';

/** How long a source is mounted, and who hears of it. */
export interface MountOptions extends WorkOptions {
  /** Unmounts. */
  signal: AbortSignal;
  /** How a PAK is read. */
  pak?: PakOpenOptions | undefined;
  /** Called when the files can be seen. */
  onMounted?: ((report: MountReport) => void) | undefined;
}

/**
 * Shows a source as a read-only file system until `signal` is aborted or somebody unmounts it.
 * @param folder made when it is not there
 * @returns with `stuck` when the FUSE library still waits for something that will not come: it keeps the process alive
 * @throws E_UNSUPPORTED where there is no FUSE, E_STORE when it cannot be mounted there
 */
export async function mount(
  session: Session,
  name: string,
  folder: string,
  options: MountOptions,
): Promise<MountReport & { stuck: boolean }> {
  const { demandMountable, mountSource } = await import('../sources/mount/mount.ts');
  const path = await demandMountable(folder);
  const { signal, onMounted } = options;
  const onProgress = throttled(options.onProgress);
  return withSource(session, name, { ...options, onProgress }, async ({ source }) => {
    const onNote = (text: string): void => onProgress({ type: 'note', text });
    return mountSource(source, { ...path, signal, onMounted, onNote });
  });
}
