import { breathe } from '../../../core/breathe.ts';
import { asBuffer, fromHex, toHex } from '../../../core/bytes.ts';
import { sortRecords } from '../../../core/sorting/sort-records.ts';
import { ByteWriter } from '../../../core/writer.ts';
import type { TvfsSpan } from '../../../formats/roots/tvfs/layout.ts';
import type { WowTvfsName } from '../../../formats/roots/tvfs/wow-name.ts';
import { LookupFile, writeLookupFile } from '../../../store/derived/lookup-file.ts';
import { type ListfileIndex, listedNames } from '../../listfile/listfile-index.ts';
import { mergeByName } from '../merge-by-name.ts';
import type { FileVariant, Root } from '../root.ts';
import { type OrderedRow, openNameOrder, orderedRows } from './name-order.ts';

/*
 * World of Warcraft whose names are a TVFS: paths are numbers, so what is kept are records, under names/<ckey of the vfs-root>.vfsids:
 *
 *   u32 file data id, u32 locale flags, u32 content flags, ckey [16], ekey [9], u40 size of the content    sorted by id, else in the order of the manifests
 *
 * A ckey of zeros is one that neither the path nor the span has. Names come from the imported listfile, as for the classic root.
 */
const stride = 42;
const keySize = 4;
const ckeyAt = 12;
const ekeyAt = 28;
const sizeAt = 37;
const ekeySize = 9;
const noCkey = '0'.repeat(32);

/** Collects the files of WoW's TVFS manifests. */
export class WowTvfsRecords {
  readonly #records = new ByteWriter();

  /** Takes a file, when it is one piece; false when it must go by its path. */
  add(name: WowTvfsName, spans: readonly TvfsSpan[]): boolean {
    const [span] = spans;
    if (span === undefined || spans.length > 1 || span.ekey.length < ekeySize) return false;
    this.#records.u32(name.fileDataId).u32(name.localeFlags).u32(name.contentFlags);
    this.#records
      .raw(name.ckey ?? span.ckey ?? fromHex(noCkey))
      .raw(span.ekey.subarray(0, ekeySize))
      .u40(span.size);
    return true;
  }

  /** Writes the `.vfsids` file. */
  async write(file: string, temporary: string): Promise<void> {
    await writeLookupFile(file, { stride, rows: [sortRecords(this.#records.bytes(), stride, keySize)] }, temporary);
  }
}

/** Opens a `.vfsids` file. @throws E_FORMAT_CHECKSUM, ENOENT as it comes */
export function openVfsIds(file: string): LookupFile {
  return new LookupFile(file, { stride });
}

/** The files of a TVFS by their ids, with the root that has its other paths. Closing it closes both. @param place where the order of names goes */
export function openWowTvfs(
  ids: LookupFile,
  paths: Root,
  place: { base: string; temporary: string; names: () => ListfileIndex | undefined },
): Root {
  const { names } = place;
  let order: LookupFile | undefined;
  const findId = (fileDataId: number): FileVariant[] => {
    const index = names();
    const listed = index?.find(fileDataId);
    const name = listed && index?.nameAt(listed);
    return Array.from(ids.findNumber(fileDataId), (record) => variantOf(record, name));
  };
  function* numbered(): Generator<FileVariant> {
    const index = names();
    const read = index?.nameReader();
    const records = order && ids.rows(0, ids.count);
    for (const { row, place } of order === undefined ? placedRows(ids, index) : orderedRows(order.tables())) {
      const name = place && read?.(place);
      yield variantOf(records?.at(row) ?? ids.rows(row, 1).at(0), name);
    }
  }
  return {
    kind: 'tvfs',
    notes: paths.notes ?? [],
    findId,
    find(name) {
      const id = names()?.idOf(name);
      const listed = id === undefined ? [] : findId(id);
      return listed.length > 0 ? listed : paths.find(name);
    },
    async checkAll() {
      for (const _ of ids.checkAll()) await breathe();
      const index = names();
      await index?.checkAll();
      await paths.checkAll();
      if (index === undefined) return;
      order ??= await openNameOrder({ ...place, names: index, ids, hasCkeys: false }, async () =>
        placedRows(ids, index),
      );
      for (const _ of order.checkAll()) await breathe();
    },
    *list(matches) {
      // Asked once they are merged: whatever is wanted, names are asked about in the same order.
      const all = mergeByName(
        numbered(),
        paths.list(() => true),
        ({ name }) => name,
      );
      for (const variant of all) {
        if (matches(variant.name ?? `fdid:${variant.fileDataId}`)) yield variant;
      }
    },
    close() {
      ids.close();
      paths.close();
      order?.close();
    },
  };
}

/** Every record with the place of its name, in the order of ids. */
function* placedRows(ids: LookupFile, names: ListfileIndex | undefined): Generator<OrderedRow> {
  const listedOf = listedNames(names);
  let row = 0;
  for (const record of ids) {
    const fileDataId = asBuffer(record).readUInt32BE(0);
    yield { fileDataId, row: row++, place: listedOf(fileDataId), isMisfit: false };
  }
}

function variantOf(record: Uint8Array, name: string | undefined): FileVariant {
  const view = asBuffer(record);
  const ckey = toHex(record.subarray(ckeyAt, ekeyAt));
  return {
    name,
    fileDataId: view.readUInt32BE(0),
    localeFlags: view.readUInt32BE(4),
    contentFlags: view.readUInt32BE(8),
    parts: [
      {
        ckey: ckey === noCkey ? undefined : ckey,
        ekey: toHex(record.subarray(ekeyAt, sizeAt)),
        size: view.readUIntBE(sizeAt, 5),
      },
    ],
  };
}
