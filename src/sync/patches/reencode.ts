import { setImmediate as nextTurn } from 'node:timers/promises';
import { concatBytes } from '../../core/bytes.ts';
import { throwIfAborted } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import { type EncodedBlte, encodeChunk } from '../../formats/blte/encode.ts';
import { type Espec, planChunks } from '../../formats/blte/espec.ts';
import { type BlteRow, ekeyOfBlte, encodeBlteHeader } from '../../formats/blte/header.ts';
import type { KeyRing } from '../../formats/blte/keys.ts';
import { reverseName } from '../../formats/configs/key-list.ts';

/*
 * A content becomes the entry that a CDN has of it: the same spec and the same zlib give the same bytes, and so the same ekey.
 * (Checked on files of WoW whose patches are public: old and new content, encoded as b:256K*=z, have the ekeys of the CDN.)
 */

/** True when a spec asks for nothing that is not known: a key, or an encoder that there is only a name of. */
export function canEncode(spec: Espec, keys: KeyRing): boolean {
  switch (spec.type) {
    case 'n':
      return true;
    case 'z':
      return spec.bits !== 'lz4hc';
    case 'e':
      return keys.find(reverseName(spec.key.toLowerCase())) !== undefined && canEncode(spec.spec, keys);
    case 'b':
      return spec.blocks.every((block) => canEncode(block.spec, keys));
    default:
      return false;
  }
}

/** Decoded bytes that are encoded between two looks at the signal: about a tenth of a second. */
const stepBytes = 1024 * 1024;

/**
 * Encodes a content as encodeBlte does, but other work has its turn between the chunks.
 * @throws E_ABORTED, else as encodeBlte
 */
export async function encodeAgain(
  content: Uint8Array,
  spec: Espec,
  { keys, signal }: { keys: KeyRing; signal?: AbortSignal | undefined },
): Promise<EncodedBlte> {
  const rows: BlteRow[] = [];
  const chunks: Uint8Array[] = [];
  let offset = 0;
  let nextStop = 0;
  for (const [index, chunk] of planChunks(spec, content.length).entries()) {
    if (offset >= nextStop) {
      await nextTurn();
      throwIfAborted(signal);
      nextStop = offset + stepBytes;
    }
    const decoded = content.subarray(offset, offset + chunk.size);
    const encoded = encodeChunk(decoded, chunk.spec, { keys, index });
    rows.push({ encodedSize: encoded.length, decodedSize: chunk.size, md5: md5(encoded), decodedMd5: md5(decoded) });
    chunks.push(encoded);
    offset += chunk.size;
  }
  const header = spec.type === 'b' ? encodeBlteHeader({ format: 0x0f, rows }) : encodeBlteHeader();
  const bytes = concatBytes([header, ...chunks]);
  return { bytes, ekey: ekeyOfBlte(bytes) };
}
