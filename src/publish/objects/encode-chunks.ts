import * as fs from 'node:fs';
import { toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5, md5Hasher } from '../../core/hash.ts';
import { readAt, reading } from '../../files/read-at.ts';
import { parseEspec, planChunks, printEspec } from '../../formats/blte/espec.ts';
import { type BlteRow, encodeBlteHeader } from '../../formats/blte/header.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';
import type { EncodeAnswer, EncodeTask } from './encode-task.ts';
import type { Encoder } from './encoder.ts';
import { maxChunkBytes } from './espec-choice.ts';
import { inOrder, type Started } from './in-order.ts';

/** A content that is read in pieces. */
export interface Content {
  /** For messages. */
  name: string;
  size: number;
  read(offset: number, size: number): Uint8Array;
}

interface ChunkWork {
  espec: string;
  key?: TactKey | undefined;
  encoder: Encoder;
  /** Takes the encoded chunks in their order. */
  take: (chunk: Uint8Array) => void;
}

/** Encodes a content chunk by chunk. @returns the header, which stands before the chunks @throws E_USAGE for chunks that are too large, as encodeBlte */
export async function encodeChunks(content: Content, { espec, key, encoder, take }: ChunkWork): Promise<Uint8Array> {
  const chunks = planChunks(parseEspec(espec), content.size);
  if (chunks.some(({ size }) => size > maxChunkBytes)) throw tooLarge(content, espec);
  const rows: BlteRow[] = [];
  async function* started(): AsyncGenerator<Started<EncodeAnswer & { size: number }>> {
    let offset = 0;
    for (const [index, { size, spec }] of chunks.entries()) {
      const bytes = content.read(offset, size);
      const task: EncodeTask = { kind: 'chunk', content: bytes, espec: printEspec(spec), index, key };
      yield { weight: size, result: encoder.run(task).then((answer) => ({ ...answer, size })) };
      offset += size;
    }
  }
  for await (const { bytes, size } of inOrder(started(), encoder.windowBytes)) {
    rows.push({ encodedSize: bytes.length, decodedSize: size, md5: md5(bytes) });
    take(bytes);
  }
  return encodeBlteHeader({ format: 0x0f, rows });
}

/** Bytes of the header of an object that a spec makes of a content. @throws as planChunks */
export function headerSize(espec: string, size: number): number {
  return 12 + 24 * planChunks(parseEspec(espec), size).length;
}

function tooLarge({ name, size }: Content, espec: string): PakratError {
  return new PakratError(
    'E_USAGE',
    `${name} (${size} bytes) cannot be encoded as ${espec}: a chunk would be too large`,
    {
      hint: `Let chunks have ${maxChunkBytes >> 20} MiB at most: b:{1M*=z}.`,
      data: { name, size },
    },
  );
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

/** The content, which must have this ckey when it has been read from its start to its end. */
export function checkedContent(content: Content, ckey: string): Content & { check(): void } {
  const hasher = md5Hasher();
  return {
    ...content,
    read(offset, size) {
      const bytes = content.read(offset, size);
      hasher.update(bytes);
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
