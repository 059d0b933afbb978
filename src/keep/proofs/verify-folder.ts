import { PakratError } from '../../core/errors.ts';
import type { WorkOptions } from '../../core/progress.ts';
import { cdnBytes, checkCdn } from '../../installs/cdn-folder/check-cdn.ts';
import { type CheckOptions, collectChecks } from '../../installs/check-folder.ts';
import { demandFolder } from '../../installs/open-folder.ts';
import type { VerifyResult } from '../../verify/verify-result.ts';
import { type ProofThreads, proveEntries, startProofs } from './prove-objects.ts';

/** The way to check a folder, and the threads for it. */
export interface FolderWork extends WorkOptions {
  use: ProofThreads;
}

/** Checks all objects of a folder in the layout of a CDN, whichever builds they are of. @throws E_NOT_FOUND when it holds none, E_ABORTED */
export async function verifyCdnFolder(path: string, work: FolderWork): Promise<VerifyResult> {
  demandFolder(path);
  const bytes = cdnBytes(path);
  if (bytes > 0) return verifyFolder((options) => checkCdn(path, options), bytes, work);
  throw new PakratError('E_NOT_FOUND', `${path} holds no object of a CDN`, {
    hint: 'Name the folder that holds config and data.',
    data: { path },
  });
}

/**
 * Adds up the checks of a folder, in which threads prove what is right, where that pays.
 * @param bytes that will be looked at
 * @throws E_ABORTED
 */
export async function verifyFolder(
  check: (options: CheckOptions) => Parameters<typeof collectChecks>[0],
  bytes: number,
  { use, ...work }: FolderWork,
): Promise<VerifyResult> {
  const { signal } = work;
  const pool = startProofs({ bytes, objects: Number.MAX_SAFE_INTEGER }, use);
  try {
    const objects = check({ signal, prove: pool && ((batches) => proveEntries(pool, batches, signal)) });
    return await collectChecks(objects, bytes, work);
  } finally {
    await pool?.end();
  }
}
