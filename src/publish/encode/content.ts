import * as fs from 'node:fs';
import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import { readAt, reading } from '../../files/read-at.ts';

/** A content that is read in pieces. */
export interface Content {
  /** For messages. */
  name: string;
  size: number;
  read(offset: number, size: number): Uint8Array;
}

/** Bytes as a content. */
export function bytesContent(name: string, bytes: Uint8Array): Content {
  return { name, size: bytes.length, read: (offset, size) => bytes.subarray(offset, offset + size) };
}

/** Opens a file as a content. Needs `close`. @throws E_NOT_FOUND, E_STORE */
export function openContent(name: string, path: string): Content & { close(): void } {
  return reading(path, () => {
    const fd = fs.openSync(path, 'r');
    const { size } = fs.fstatSync(fd);
    const read = (offset: number, length: number): Uint8Array => reading(path, () => readAt(fd, offset, length, path));
    return { name, size, read, close: () => fs.closeSync(fd) };
  });
}

/** The ckey of a content. @throws as reading it does, E_ABORTED */
export async function hashContent(content: Content, signal: AbortSignal | undefined): Promise<string> {
  const hasher = md5Hasher();
  for (let offset = 0; offset < content.size; offset += hashBytes) {
    hasher.update(content.read(offset, Math.min(hashBytes, content.size - offset)));
    await breathe(signal);
  }
  return toHex(hasher.digest());
}

const hashBytes = 1 << 20;

/** The content, which must have this ckey when it has been read from its start to its end. @param onRead called with the bytes of each reading */
export function checkedContent(
  content: Content,
  ckey: string,
  onRead?: (bytes: number) => void,
): Content & { check(): void } {
  const hasher = md5Hasher();
  return {
    ...content,
    read(offset, size) {
      const bytes = content.read(offset, size);
      hasher.update(bytes);
      onRead?.(size);
      return bytes;
    },
    check() {
      if (toHex(hasher.digest()) !== ckey) throw changedMeanwhile(content.name);
    },
  };
}

/** The error for a file that is not the same when it is read again. */
function changedMeanwhile(name: string): PakratError {
  return new PakratError('E_INTEGRITY', `${name} changed while it was published`, {
    hint: 'Publish again when nothing writes to it.',
    data: { name },
  });
}
