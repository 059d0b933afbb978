import { isPakratError, PakratError, resultUnless } from '../core/errors.ts';
import { md5Hex } from '../core/hash.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import { patchManifestKey } from '../formats/patches/patch-manifest.ts';
import type { ObjectName } from '../store/layout.ts';

/**
 * Checks that the bytes of a small object are those that its name stands for: a config, an index, a patch manifest or a patch of its own.
 * @param bytes decrypted, where the object is encrypted as a whole
 * @throws E_INTEGRITY when they hash to another name, E_FORMAT… for an index that is malformed
 */
export function checkObject(name: Pick<ObjectName, 'kind' | 'hash' | 'suffix'>, bytes: Uint8Array): void {
  const { kind, hash, suffix } = name;
  if (suffix === '.index') {
    decodeArchiveIndex(bytes, hash);
    return;
  }
  const found = md5Hex(bytes);
  if (found === hash || (kind === 'patch' && isPatchManifest(bytes, hash))) return;
  const what = kind === 'product' ? 'product config' : kind;
  throw new PakratError('E_INTEGRITY', `${what} ${hash} has MD5 ${found}`, { data: { hash, found } });
}

/** A patch manifest is named by the hash of its header, not of its bytes. */
function isPatchManifest(bytes: Uint8Array, hash: string): boolean {
  return resultUnless(isPakratError, () => patchManifestKey(bytes)) === hash;
}
