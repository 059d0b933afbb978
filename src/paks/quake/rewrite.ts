import type { ByteSource } from '../../core/byte-source.ts';
import { ByteWriter } from '../../core/writer.ts';
import {
  contentOf,
  copyStored,
  dataOrder,
  notKept,
  type PackResult,
  type PackSink,
  PositionedSink,
  type RewriteOptions,
  type RewriteRow,
} from '../packing.ts';
import { getRow } from '../pak.ts';
import { type QuakeHeader, type QuakeLayout, type QuakeRecord, quakeHeaderSize, recordProblem } from './directory.ts';
import { maxOffset, nameField, packNotes, tooLarge } from './write.ts';

/** The PAK that is rewritten. */
export interface OldQuakePak {
  source: ByteSource;
  header: QuakeHeader;
  layout: QuakeLayout;
  records: readonly QuakeRecord[];
  directory: Uint8Array;
}

/** The bytes of a row: where they come from, and where they go. */
interface RowData {
  name: string;
  row: RewriteRow;
  record: QuakeRecord | undefined;
  storedSize: number;
  offset: number;
  /** Another row has brought the same bytes. */
  isShared: boolean;
}

/** As `Pak.rewrite`. The name field of a row stays as it is, with what stands behind its NUL. */
export async function rewriteQuakePak(
  old: OldQuakePak,
  rows: readonly RewriteRow[],
  sink: PackSink,
  { signal, onKept }: RewriteOptions = {},
): Promise<PackResult> {
  const { data, order, end } = place(old, rows);
  const out = new PositionedSink(sink);
  const directory = directoryOf(old, data);
  await out.write(new ByteWriter().text(old.header.magic).u32le(end).u32le(directory.length).bytes());
  for (const { row, record, storedSize, isShared } of order) {
    if (row.file !== undefined) for await (const piece of contentOf(row.file)) await out.write(piece);
    else if (record !== undefined) {
      if (!isShared) await copyStored(out, old.source, { offset: record.offset, size: storedSize, signal });
      onKept?.(storedSize);
    }
  }
  await out.write(directory);
  return { files: rows.length, bytes: out.position, notes: packNotes(data) };
}

function place(old: OldQuakePak, rows: readonly RewriteRow[]): { data: RowData[]; order: RowData[]; end: number } {
  const data = rows.map((row) => rowData(old, row));
  const order = dataOrder(rows, (index) => getRow(old.records, { index }).offset).map((index) =>
    getRow(data, { index }),
  );
  const shared = new Map<string, number>();
  // What is larger already was made for tools that read so far.
  const limit = Math.max(maxOffset, old.source.size);
  let end = quakeHeaderSize;
  for (const one of order) {
    const key = one.row.file === undefined ? `${one.record?.offset} ${one.storedSize}` : '';
    const known = shared.get(key);
    one.isShared = known !== undefined;
    one.offset = known ?? end;
    if (known !== undefined) continue;
    if (key !== '') shared.set(key, end);
    end += one.storedSize;
    if (end > limit) throw tooLarge(one);
  }
  return { data, order, end };
}

function rowData({ source, records }: OldQuakePak, row: RewriteRow): RowData {
  const record = row.old === undefined ? undefined : getRow(records, { index: row.old });
  const name = record?.name ?? row.file?.name ?? '';
  const problem = row.file === undefined && record !== undefined ? recordProblem(record, source.size) : undefined;
  if (problem !== undefined) throw notKept(name, problem);
  const storedSize = row.file?.size ?? record?.storedSize ?? 0;
  return { name, row, record, storedSize, offset: 0, isShared: false };
}

/** Fields that only Daikatana has are kept, or say that a file is not compressed. */
function directoryOf({ layout, directory }: OldQuakePak, data: readonly RowData[]): Uint8Array {
  const { recordSize, nameSize } = layout;
  const writer = new ByteWriter(data.length * recordSize);
  for (const { name, row, record, storedSize, offset } of data) {
    const old =
      row.old === undefined ? undefined : directory.subarray(row.old * recordSize, (row.old + 1) * recordSize);
    writer.raw(old?.subarray(0, nameSize) ?? nameField(name, layout)).u32le(offset);
    if (row.file === undefined) writer.u32le(record?.size ?? 0).raw(old?.subarray(nameSize + 8) ?? new Uint8Array(0));
    else writer.u32le(storedSize).zeros(recordSize - nameSize - 8);
  }
  return writer.bytes();
}
