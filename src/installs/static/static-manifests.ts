import { join } from 'node:path';
import { emptyEncodingKey, keepEmptyEncoding } from '../../builds/manifests/empty-encoding.ts';
import { inflate } from '../../codecs/compression/inflate.ts';
import { concatBytes } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import type { BuildConfig, ManifestKeys } from '../../formats/configs/build-config.ts';
import type { ConfigFile } from '../../formats/configs/config-file.ts';
import { writeDerived } from '../../store/derived/derived-writer.ts';
import type { LookupFolders } from '../../store/layout.ts';
import type { StaticContainer } from './static-container.ts';

/*
 * Newer static containers (Diablo II: Resurrected 3.2) have no encoding file, for their names lead to ekeys at once, and keep the
 * manifests as bare zlib streams, not as BLTE objects (`vfs-root-espec = z`). Here they become what a build expects: an encoding file with
 * nothing in it, and manifests that are decoded already.
 */

/** The text of a build config, with the empty encoding file named in it where it names none. */
export function withEncoding(config: ConfigFile, bytes: Uint8Array): Uint8Array {
  if (config.get('encoding') !== undefined) return bytes;
  return concatBytes([bytes, new TextEncoder().encode(`\nencoding = ${emptyEncodingKey}\n`)]);
}

/**
 * Puts the manifests that are no BLTE objects, decoded, where a build looks for them.
 * @throws E_INTEGRITY when one is not what the build config says, E_FORMAT… when it does not decode
 */
export function bareManifests(container: StaticContainer, build: BuildConfig, folders: LookupFolders): void {
  if (build.encoding.ckey === emptyEncodingKey) keepEmptyEncoding(folders);
  const { root, install, download, vfsRoot, vfs } = build;
  for (const keys of [root, install, download, vfsRoot, ...vfs]) {
    const bytes = keys && decodeBare(container, keys);
    if (keys !== undefined && bytes !== undefined) keep(folders, keys.ckey, bytes);
  }
}

/** The bytes of a manifest that is a bare zlib stream, or undefined when it is something else. */
function decodeBare(
  container: StaticContainer,
  { ekey, ckey, size, encodedSize }: ManifestKeys,
): Uint8Array | undefined {
  const found = ekey && container.find(ekey);
  if (!found || size === undefined || encodedSize === undefined || encodedSize > found.left) return undefined;
  const bytes = container.read(found.file, found.offset, encodedSize);
  if (bytes[0] !== 0x78) return undefined;
  const decoded = inflate(bytes, { size, maxSize: size, what: `manifest ${ckey}` });
  const hash = md5Hex(decoded);
  if (hash === ckey) return decoded;
  throw new PakratError('E_INTEGRITY', `manifest ${ckey} decodes to ${hash}`, { data: { ckey, found: hash } });
}

function keep({ manifests, temporary }: LookupFolders, ckey: string, bytes: Uint8Array): void {
  writeDerived(join(manifests, ckey), bytes, temporary);
}
