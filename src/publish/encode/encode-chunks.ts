import { breathe } from '../../core/breathe.ts';
import { PakratError } from '../../core/errors.ts';
import { md5, md5Hasher } from '../../core/hash.ts';
import { giveBack } from '../../core/tables/large-bytes.ts';
import { parseEspec, planChunks, printEspec } from '../../formats/blte/espec.ts';
import { type BlteRow, encodeBlteHeader } from '../../formats/blte/header.ts';
import { chunkModes } from '../../formats/blte/modes.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';
import { type Content, piecesOf } from './content.ts';
import type { EncodeTask } from './encode-task.ts';
import type { Encoder } from './encoder.ts';
import { maxChunkBytes } from './espec-choice.ts';
import { inOrder, type Started } from './in-order.ts';
import { hasOwnBuffer } from './joined.ts';

interface ChunkWork {
  espec: string;
  key?: TactKey | undefined;
  encoder: Encoder;
  /** Chunks may be larger than what a person may choose, as those of encoding files are. */
  isLarge?: boolean | undefined;
  /** Takes the encoded chunks in their order, the largest in pieces. What it is given is good until it returns. */
  take: (chunk: Uint8Array) => void;
  /** Nobody looks at what was taken again: of a large content it would be much that waits to be collected. */
  isCopied?: boolean;
}

/** Encodes a content chunk by chunk. @returns the header, which stands before the chunks @throws E_USAGE for chunks that are too large, as encodeBlte */
export async function encodeChunks(content: Content, work: ChunkWork): Promise<Uint8Array> {
  const { espec, key, encoder, isLarge = false, take, isCopied = false } = work;
  const chunks = planChunks(parseEspec(espec), content.size);
  if (!isLarge && chunks.some(({ size }) => size > maxChunkBytes)) throw tooLarge(content, espec);
  const rows: BlteRow[] = [];
  async function* started(): AsyncGenerator<Started<ChunkAnswer>> {
    let offset = 0;
    for (const [index, { size, spec }] of chunks.entries()) {
      // More than may be in work: it is taken before what is behind it is read, for a content is hashed as it is read.
      const weight = encoder.windowBytes + 1;
      if (spec.type === 'n' && size > wholeBytes) yield { weight, result: Promise.resolve({ offset, size }) };
      else {
        const task: EncodeTask = {
          kind: 'chunk',
          content: content.read(offset, size),
          isOwn: content.isOwn,
          espec: printEspec(spec),
          index,
          key,
        };
        yield { weight: size, result: encoder.run(task).then(({ bytes }) => ({ bytes, size })) };
      }
      offset += size;
    }
  }
  for await (const chunk of inOrder(started(), encoder.windowBytes)) {
    if ('offset' in chunk) {
      rows.push(await takePlain(content, chunk, work));
      continue;
    }
    const { bytes, size } = chunk;
    rows.push({ encodedSize: bytes.length, decodedSize: size, md5: md5(bytes) });
    take(bytes);
    if (isCopied && hasOwnBuffer(bytes)) giveBack(bytes);
  }
  return encodeBlteHeader({ format: 0x0f, rows });
}

/** A chunk that is encoded, or a part of the content that is to stand as it is. */
type ChunkAnswer = { bytes: Uint8Array; size: number } | { offset: number; size: number };

/** Plain chunks above this size are not in memory as a whole: 8 MiB. */
const wholeBytes = 8 << 20;

/** Takes a plain chunk piece by piece: its mode, and the part of the content as it is. */
async function takePlain(
  content: Content,
  part: { offset: number; size: number },
  { encoder, take }: ChunkWork,
): Promise<BlteRow> {
  const hasher = md5Hasher();
  const put = (piece: Uint8Array): void => {
    hasher.update(piece);
    take(piece);
  };
  put(Uint8Array.of(chunkModes.plain));
  for (const piece of piecesOf(content, part)) {
    put(piece);
    await breathe(encoder.signal);
  }
  return { encodedSize: part.size + 1, decodedSize: part.size, md5: hasher.digest() };
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
