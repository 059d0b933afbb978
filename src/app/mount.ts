import { isBuildSource } from '../sources/build-source.ts';
import { demandMountable, type MountReport, mountSource } from '../sources/mount/mount.ts';
import { type SourceOptions, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

export type { MountReport } from '../sources/mount/mount.ts';

/** The time for which a source is mounted, and whoever hears of it. */
export interface MountOptions extends SourceOptions {
  /** Unmounts. */
  signal: AbortSignal;
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
  const path = await demandMountable(folder);
  const { signal, onMounted, onProgress } = options;
  return withSource(session, name, options, async ({ source }) => {
    // The names of a build go where it has what is derived of it; those of anything else need no store.
    const { temporary } = isBuildSource(source) ? await session.folders() : session.scratch();
    return mountSource(source, { ...path, signal, temporary, onMounted, onProgress });
  });
}
