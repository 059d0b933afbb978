import * as fs from 'node:fs';
import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import { openPlain, readAt, readInto, reading } from '../../files/read-at.ts';

/** A content that is read in pieces. */
export interface Content {
  /** For messages. */
  name: string;
  size: number;
  /** What `read` gives is the caller's own: it may be sent to a thread as it is. */
  isOwn: boolean;
  read(offset: number, size: number): Uint8Array;
  /** As `read`, into memory that is there: what is read of a large one is else much that waits to be collected. */
  readInto(target: Uint8Array, offset: number): void;
}

/** Bytes as a content. */
export function bytesContent(name: string, bytes: Uint8Array): Content {
  const read = (offset: number, size: number): Uint8Array => bytes.subarray(offset, offset + size);
  const fill = (target: Uint8Array, offset: number): void => target.set(read(offset, target.length));
  return { name, size: bytes.length, isOwn: false, read, readInto: fill };
}

/** Opens a file as a content. Needs `close`. @throws E_NOT_FOUND, E_STORE */
export function openContent(name: string, path: string): Content & { close(): void } {
  return reading(path, () => {
    const { fd, size } = openPlain(path);
    const read = (offset: number, length: number): Uint8Array => reading(path, () => readAt(fd, offset, length, path));
    const fill = (target: Uint8Array, offset: number): void =>
      reading(path, () => readInto(fd, target, { offset, what: path }));
    return { name, size, isOwn: true, read, readInto: fill, close: () => fs.closeSync(fd) };
  });
}

/** The ckey of a content. @throws as reading it does, E_ABORTED */
export async function hashContent(content: Content, signal: AbortSignal | undefined): Promise<string> {
  const hasher = md5Hasher();
  for (const piece of piecesOf(content, { offset: 0, size: content.size })) {
    hasher.update(piece);
    await breathe(signal);
  }
  return toHex(hasher.digest());
}

const pieceBytes = 1 << 20;

/** A part of a content in pieces of 1 MiB, each of which is good until the next. */
export function* piecesOf(content: Content, { offset, size }: { offset: number; size: number }): Generator<Uint8Array> {
  const memory = Buffer.allocUnsafe(Math.min(pieceBytes, size));
  for (let done = 0; done < size; done += pieceBytes) {
    const piece = memory.subarray(0, Math.min(pieceBytes, size - done));
    content.readInto(piece, offset + done);
    yield piece;
  }
}

/** The content, which must have this ckey when it has been read from its start to its end. @param onRead called with the bytes of each reading */
export function checkedContent(
  content: Content,
  ckey: string,
  onRead?: (bytes: number) => void,
): Content & { check(): void } {
  const hasher = md5Hasher();
  const note = (bytes: Uint8Array): void => {
    hasher.update(bytes);
    onRead?.(bytes.length);
  };
  return {
    ...content,
    read(offset, size) {
      const bytes = content.read(offset, size);
      note(bytes);
      return bytes;
    },
    readInto(target, offset) {
      content.readInto(target, offset);
      note(target);
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
