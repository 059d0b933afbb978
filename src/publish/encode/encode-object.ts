import { concatBytes } from '../../core/bytes.ts';
import { md5Hex } from '../../core/hash.ts';
import { ekeyOfBlte } from '../../formats/blte/header.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';
import type { ArchiveWriter } from '../objects/archive-writer.ts';
import type { EncodedOnDisk } from '../objects/content-writer.ts';
import { type Content, checkedContent } from './content.ts';
import { encodeChunks, headerSize } from './encode-chunks.ts';
import type { EncodedBytes } from './encode-content.ts';
import type { Encoder } from './encoder.ts';
import { looksRandom } from './looks-random.ts';

/** A content that is to be encoded. */
export interface ToEncode {
  content: Content;
  ckey: string;
  /** The second is taken where the first makes nothing smaller. */
  especs: readonly string[];
  key?: TactKey | undefined;
  /** As that of chunks. */
  isLarge?: boolean | undefined;
}

/** Larger files are read twice, a chunk at a time, encoded into a file of their own, and have no patches. */
export const memoryBytes = 32 << 20;
/** Contents up to this size are one task for a thread; larger ones are a task for each chunk. */
export const taskBytes = 1 << 20;

/** Encodes a content in memory. @throws E_USAGE for chunks that are too large, E_ABORTED, as encodeBlte */
export async function encodeInMemory(work: ToEncode, encoder: Encoder): Promise<EncodedBytes> {
  const { content, ckey, especs, key } = work;
  const { size } = content;
  const { bytes, espec } =
    size <= taskBytes
      ? await encoder.run({ kind: 'object', content: content.read(0, size), especs, key })
      : await inChunks(work, encoder);
  return { ckey, ekey: ekeyOfBlte(bytes), size, encodedSize: bytes.length, espec, bytes };
}

async function inChunks(
  { content, especs, key }: ToEncode,
  encoder: Encoder,
): Promise<{ bytes: Uint8Array; espec: string }> {
  const [first = '', second] = especsToTry(content, especs);
  const [bytes, saved] = await wholeObject(content, first, { key, encoder });
  if (saved > 0 || second === undefined) return { bytes, espec: first };
  const [other] = await wholeObject(content, second, { key, encoder });
  return { bytes: other, espec: second };
}

/** Where the first would be in vain, the second alone. */
function especsToTry(content: Content, especs: readonly string[]): readonly string[] {
  return especs.length > 1 && looksRandom(content) ? especs.slice(1) : especs;
}

/** @returns the object, and the bytes by which its chunks are smaller than the content */
async function wholeObject(
  content: Content,
  espec: string,
  { key, encoder }: { key: TactKey | undefined; encoder: Encoder },
): Promise<[bytes: Uint8Array, saved: number]> {
  const parts: Uint8Array[] = [];
  const head = await encodeChunks(content, { espec, key, encoder, take: (chunk) => parts.push(chunk) });
  const bytes = concatBytes([head, ...parts]);
  return [bytes, content.size - (bytes.length - head.length)];
}

interface DiskWork {
  encoder: Encoder;
  archives: ArchiveWriter;
  /** Called with the bytes of the content as they are encoded, once for each. */
  onChunk?: (bytes: number) => void;
}

/** Encodes a content that is too large for memory into a file. @throws as {@link encodeInMemory}, E_INTEGRITY for one that changed, E_STORE_FULL, E_STORE */
export async function encodeOnDisk(
  { content, ckey, especs, key, isLarge }: ToEncode,
  { encoder, archives, onChunk }: DiskWork,
): Promise<EncodedOnDisk> {
  const { size } = content;
  const tried = especsToTry(content, especs);
  for (const [i, espec] of tried.entries()) {
    const file = archives.openFile();
    try {
      file.append(new Uint8Array(headerSize(espec, size)));
      const checked = checkedContent(content, ckey, i === 0 ? onChunk : undefined);
      const take = (chunk: Uint8Array): void => file.append(chunk);
      const head = await encodeChunks(checked, { espec, key, encoder, isLarge, take, isCopied: true });
      checked.check();
      if (file.size - head.length < size || i === tried.length - 1)
        return { ckey, ekey: md5Hex(head), size, encodedSize: file.size, espec, file, head };
      archives.dropFile(file);
    } catch (error) {
      archives.dropFile(file);
      throw error;
    }
  }
  throw new Error('a content without a spec');
}
