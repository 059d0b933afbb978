import { breathe } from '../../../core/breathe.ts';
import { asBuffer, viewOf } from '../../../core/bytes.ts';
import { largeBytes } from '../../../core/tables/large-bytes.ts';
import { sortRecords } from '../../../core/tables/sort-records.ts';
import { decodeWowRoot, fillFileDataIds, rowNameHash } from '../../../formats/roots/wow/decode.ts';
import type { WowRoot } from '../../../formats/roots/wow/layout.ts';
import { readDerived } from '../../../store/derived/derived-file.ts';
import { writeDerived } from '../../../store/derived/derived-writer.ts';
import { writeLookupFile } from '../../../store/derived/lookup-file.ts';

/** Bytes of a row of `.ids`. */
export const idStride = 8;
/** Bytes of a row of `.named`. */
export const hashStride = 16;

/** Makes the look-up files of a root out of its file. @param base their path, without an ending @throws E_FORMAT…, E_STORE… */
export async function writeLookups(file: string, base: string, temporary: string): Promise<void> {
  const root = decodeWowRoot(readDerived(file));
  const ids = fillFileDataIds(root);
  await breathe();
  const idRows = sortRecords(idRecords(ids), idStride, idStride);
  await writeLookupFile(`${base}.ids`, { stride: idStride, rows: [idRows] }, temporary);
  await breathe();
  const namedRows = sortRecords(hashRecords(root, ids), hashStride, hashStride);
  await writeLookupFile(`${base}.named`, { stride: hashStride, rows: [namedRows] }, temporary);
  writeDerived(`${base}.blocks`, Buffer.from(JSON.stringify(root.blocks)), temporary);
}

function idRecords(ids: Uint32Array): Uint8Array {
  const bytes = largeBytes(ids.length * idStride);
  const view = viewOf(bytes);
  for (let row = 0; row < ids.length; row++) {
    view.setUint32(row * idStride, ids[row]!);
    view.setUint32(row * idStride + 4, row);
  }
  return bytes;
}

function hashRecords(root: WowRoot, ids: Uint32Array): Uint8Array {
  const named = root.blocks.filter((block) => block.hashOffset >= 0);
  const bytes = asBuffer(largeBytes(named.reduce((sum, block) => sum + block.count, 0) * hashStride));
  let at = 0;
  for (const block of named) {
    for (let row = block.firstRow; row < block.firstRow + block.count; row++) {
      bytes.set(rowNameHash(root, row) ?? [], at);
      bytes.writeUInt32BE(row, at + 8);
      bytes.writeUInt32BE(ids[row]!, at + 12);
      at += hashStride;
    }
  }
  return bytes;
}
