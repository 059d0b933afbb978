import { breathe } from '../../../core/breathe.ts';
import { DealtRecords } from '../../../core/sorting/sort-records.ts';
import { giveBack } from '../../../core/tables/large-bytes.ts';
import { startsOf } from '../../../core/tables/prefix-starts.ts';
import { decodeWowRoot, eachNameHash, fillFileDataIds } from '../../../formats/roots/wow/decode.ts';
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
  await writeSorted(`${base}.ids`, idRecords(ids), { stride: idStride, temporary });
  await breathe();
  await writeSorted(`${base}.named`, hashRecords(root, ids), { stride: hashStride, temporary });
  giveBack(root.bytes, ids);
  writeDerived(`${base}.blocks`, Buffer.from(JSON.stringify(root.blocks)), temporary);
}

async function writeSorted(
  path: string,
  records: DealtRecords,
  { stride, temporary }: { stride: number; temporary: string },
): Promise<void> {
  const sorted = records.sorted();
  await writeLookupFile(path, { stride, rows: [sorted] }, temporary);
  giveBack(sorted);
}

function idRecords(ids: Uint32Array): DealtRecords {
  const starts = startsOf((count) => {
    for (let row = 0; row < ids.length; row++) count(ids[row]! >>> 16);
  });
  const records = new DealtRecords(starts, idStride);
  for (let row = 0; row < ids.length; row++) {
    const at = records.place(ids[row]! >>> 16);
    records.view.setUint32(at, ids[row]!);
    records.view.setUint32(at + 4, row);
  }
  return records;
}

function hashRecords(root: WowRoot, ids: Uint32Array): DealtRecords {
  const starts = startsOf((count) => eachNameHash(root, (_, first) => count(first >>> 16)));
  const records = new DealtRecords(starts, hashStride);
  eachNameHash(root, (row, first, last) => {
    const at = records.place(first >>> 16);
    records.view.setUint32(at, first);
    records.view.setUint32(at + 4, last);
    records.view.setUint32(at + 8, row);
    records.view.setUint32(at + 12, ids[row]!);
  });
  return records;
}
