import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex } from '../../core/bytes.ts';
import type { BuildConfig } from '../../formats/configs/build-config.ts';
import type { ArchiveIndex } from '../../formats/indices/archive-index.ts';
import type { BuildPlace } from '../objects.ts';

/**
 * Fetches the encoding file while the indices of archives still come and are merged, where the index of loose objects says that it is one. Never throws: whoever
 * opens it asks again, and is told what is wrong.
 */
export async function fetchLooseEncoding(
  { identity: { cdnPath }, objects, folders }: BuildPlace,
  { encoding: { ckey, ekey } }: Pick<BuildConfig, 'encoding'>,
  fileIndex: ArchiveIndex | undefined,
): Promise<void> {
  const size = ekey === undefined ? undefined : fileIndex?.find(fromHex(ekey))?.size;
  if (ekey === undefined || size === undefined || existsSync(join(folders.manifests, ckey))) return;
  const object = { cdnPath, kind: 'data' as const, hash: ekey };
  await objects.entries([{ ekey, object, loose: true, offset: 0, size }]).catch(() => {});
}
