import { toHex } from '../../core/bytes.ts';
import { chunkKeyName } from '../../formats/blte/cipher.ts';
import { decodeBlte } from '../../formats/blte/decode.ts';
import { decodeBlteHeader, ekeyOfBlte } from '../../formats/blte/header.ts';
import type { KeyRing } from '../../formats/blte/keys.ts';
import { decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { type Cell, type Description, indexedTable } from './description.ts';

/** A BLTE object: its chunks, the keys it needs, and what it holds. */
export function describeBlte(bytes: Uint8Array, keys: KeyRing): Description {
  const header = decodeBlteHeader(bytes, bytes.length);
  const modes = new Map<string, number>();
  const keyNames = new Set<string>();
  for (let i = 0; i < header.count; i++) {
    const { mode, keyName } = chunkHead(bytes, header.chunk(i).offset);
    modes.set(mode, (modes.get(mode) ?? 0) + 1);
    if (keyName !== undefined) keyNames.add(keyName);
  }
  return {
    facts: {
      ekey: ekeyOfBlte(bytes),
      headerSize: header.headerSize,
      tableFormat: header.format === undefined ? 'none' : `0x${header.format.toString(16).padStart(2, '0')}`,
      chunks: header.count,
      modes: [...modes].map(([mode, count]) => `${mode} ${count}`),
      decodedSize: header.decodedSize,
      keyNames: keyNames.size === 0 ? undefined : [...keyNames],
    },
    table: indexedTable(
      'chunks',
      ['chunk', 'offset', 'encodedSize', 'decodedSize', 'mode', 'md5', 'keyName'],
      header.count,
      (i) => {
        const chunk = header.chunk(i);
        const { mode, keyName } = chunkHead(bytes, chunk.offset);
        const md5 = chunk.md5 === undefined ? undefined : toHex(chunk.md5);
        return [i, chunk.offset, chunk.encodedSize, chunk.decodedSize, mode, md5, keyName];
      },
    ),
    names: { ekey: ekeyOfBlte(bytes) },
    inside: () => decodeBlte(bytes, { keys }),
  };
}

function chunkHead(bytes: Uint8Array, offset: number): { mode: string; keyName: string | undefined } {
  const byte = bytes[offset] ?? 0;
  const mode = byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `0x${byte.toString(16).padStart(2, '0')}`;
  return { mode, keyName: chunkKeyName(bytes.subarray(offset, offset + 64)) };
}

/** An archive index, archive group or file index. */
export function describeArchiveIndex(bytes: Uint8Array): Description {
  const index = decodeArchiveIndex(bytes);
  const { layout, count } = index;
  const grouped = layout.offsetBytes === 6;
  let total = 0;
  for (const { size } of index) total += size;
  return {
    facts: {
      name: index.name,
      checked: 'MD5s of pages, of the table of contents and of the footer',
      kind: layout.offsetBytes === 0 ? 'file index' : grouped ? 'archive group' : 'archive index',
      entries: count,
      bytes: total,
      pages: layout.pageCount,
      pageSize: layout.pageSize,
      offsetBytes: layout.offsetBytes,
      sizeBytes: layout.sizeBytes,
      keyBytes: layout.keyBytes,
      hashBytes: layout.hashBytes,
    },
    table: indexedTable('entries', ['ekey', 'size', ...(grouped ? ['archive'] : []), 'offset'], count, (i): Cell[] => {
      const { ekey, size, archive, offset } = index.entry(i);
      return [toHex(ekey), size, ...(grouped ? [archive] : []), offset];
    }),
    names: { 'MD5 of the footer': index.name },
  };
}
