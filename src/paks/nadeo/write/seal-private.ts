import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { concatBytes } from '../../../core/bytes.ts';
import { md5 } from '../../../core/hash.ts';
import { directoryFeedback, type FolderRecord } from '../directory/directory.ts';
import { CipherStream, ivSize, pageSize } from '../entries/cipher-stream.ts';
import { decodePrivateHeader } from '../header/private-header.ts';
import { filled } from './stored-files.ts';

/**
 * The private part of a header, encrypted: IV and ciphertext.
 * @param plain its bytes, without padding
 * @param size of all of it, IV included: 8 more than a multiple of 8
 */
export function sealPrivate(
  plain: Uint8Array,
  {
    key,
    version,
    folders,
    size,
  }: { key: BlowfishKey; version: number; folders: readonly FolderRecord[]; size: number },
): Uint8Array {
  let foldersEnd = 0;
  decodePrivateHeader(plain, {
    version,
    headerSize: plain.length,
    afterFolders: (_, offset) => {
      foldersEnd = offset;
    },
  });
  const iv = md5(plain).slice(0, ivSize);
  const sealed = filled(plain, size - ivSize);
  const stream = new CipherStream(key, iv, version);
  const page = Math.min(Math.ceil(foldersEnd / pageSize) * pageSize, sealed.length);
  stream.encrypt(sealed.subarray(0, page));
  stream.mix(directoryFeedback(folders) ?? new Uint8Array(0));
  stream.encrypt(sealed.subarray(page));
  return concatBytes([iv, sealed]);
}
