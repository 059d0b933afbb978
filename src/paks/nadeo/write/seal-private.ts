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
  return concatBytes([iv, ...sealPieces([filled(plain, size - ivSize)], { key, version, iv, folders, foldersEnd })]);
}

/**
 * The ciphertext of a private part, in pieces: whole blocks of 8 bytes each.
 * @param of.foldersEnd where its folders end
 */
export function* sealPieces(
  pieces: Iterable<Uint8Array>,
  {
    key,
    version,
    iv,
    folders,
    foldersEnd,
  }: { key: BlowfishKey; version: number; iv: Uint8Array; folders: readonly FolderRecord[]; foldersEnd: number },
): Generator<Uint8Array> {
  const stream = new CipherStream(key, iv, version);
  // A reader knows of the folders when it comes to the next page.
  const page = Math.ceil(foldersEnd / pageSize) * pageSize;
  let position = 0;
  for (const piece of pieces) {
    const sealed = piece.slice();
    const cut = Math.min(Math.max(page - position, 0), sealed.length);
    stream.encrypt(sealed.subarray(0, cut));
    if (position <= page && page < position + sealed.length)
      stream.mix(directoryFeedback(folders) ?? new Uint8Array(0));
    stream.encrypt(sealed.subarray(cut));
    position += sealed.length;
    yield sealed;
  }
}
