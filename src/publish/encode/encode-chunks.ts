import { PakratError } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import { parseEspec, planChunks, printEspec } from '../../formats/blte/espec.ts';
import { type BlteRow, encodeBlteHeader } from '../../formats/blte/header.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';
import type { Content } from './content.ts';
import type { EncodeAnswer, EncodeTask } from './encode-task.ts';
import type { Encoder } from './encoder.ts';
import { maxChunkBytes } from './espec-choice.ts';
import { inOrder, type Started } from './in-order.ts';

interface ChunkWork {
  espec: string;
  key?: TactKey | undefined;
  encoder: Encoder;
  /** Chunks may be larger than what a person may choose, as those of encoding files are. */
  isLarge?: boolean | undefined;
  /** Takes the encoded chunks in their order. */
  take: (chunk: Uint8Array) => void;
}

/** Encodes a content chunk by chunk. @returns the header, which stands before the chunks @throws E_USAGE for chunks that are too large, as encodeBlte */
export async function encodeChunks(content: Content, work: ChunkWork): Promise<Uint8Array> {
  const { espec, key, encoder, isLarge = false, take } = work;
  const chunks = planChunks(parseEspec(espec), content.size);
  if (!isLarge && chunks.some(({ size }) => size > maxChunkBytes)) throw tooLarge(content, espec);
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
