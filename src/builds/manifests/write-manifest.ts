import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import { storeError } from '../../files/durable.ts';
import { DerivedWriter } from '../../store/derived/derived-writer.ts';

interface ManifestFile {
  path: string;
  /** The MD5 that its bytes must have. */
  ckey: string;
  /** Folder on the same file system for the temporary name. */
  temporary: string;
}

/** Writes the decoded bytes of a manifest, of which each piece is there until the next is asked for, as a derived file. @throws E_INTEGRITY when they are not those of its ckey, E_STORE…, and as the bytes do */
export async function writeManifest(
  pieces: AsyncIterable<Uint8Array>,
  { path, ckey, temporary }: ManifestFile,
): Promise<void> {
  const manifest = new DerivedWriter(temporary);
  try {
    const hash = md5Hasher();
    for await (const piece of pieces) {
      hash.update(piece);
      manifest.append(piece);
      await breathe();
    }
    const found = toHex(hash.digest());
    if (found !== ckey) {
      throw new PakratError('E_INTEGRITY', `manifest ${ckey} decodes to ${found}`, {
        data: { ckey, found, wrong: true },
      });
    }
    manifest.finish(path);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    manifest.close();
  }
}
