/*
 * The index of versions 1 to 9. Little-endian.
 *
 *   mount point  string
 *   count        i32
 *   entries      each: name string, relative to the mount point · record (entry-record.ts)
 *
 * From version 6 on an entry may be a delete record. An encrypted index ends in padding.
 * (u4pak's README; checked on real files.)
 */
import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import type { FillingSource } from '../../../files/scratch.ts';
import type { NameDecoder } from '../../names.ts';
import { minRecordSize, type RecordFormat, writeEntryRecord } from '../entries/entry-record.ts';
import { readFString, writeFString } from './fstring.ts';
import type { DecodedIndex, IndexRow } from './index-rows.ts';
import { findLegacyRows, LegacyRows, legacyWhat } from './rows/legacy-rows.ts';
import type { IndexStretch } from './rows/shared-rows.ts';
import { scanBytes, windowsOf } from './rows/windows.ts';

/**
 * Decodes an index that is not encrypted any more; its rows stay bytes until they are asked for.
 * @param index its bytes, or where they lie in the source
 * @throws E_FORMAT…, and as the source does
 */
export function decodeLegacyIndex(
  index: Uint8Array | IndexStretch,
  source: FillingSource,
  { format, decodeName }: { format: RecordFormat; decodeName: NameDecoder },
): DecodedIndex {
  const windows = windowsOf(index, source);
  const reader = new ByteReader(windows.read(0, scanBytes).bytes, legacyWhat);
  const mountPoint = readFString(reader, decodeName);
  const count = reader.u32le();
  const left = windows.size - reader.pos;
  if (count * (4 + minRecordSize(format)) > left) {
    throw formatError('E_FORMAT_TRUNCATED', legacyWhat, `${count} rows do not fit into ${left} bytes`, {
      offset: reader.pos,
    });
  }
  const places = findLegacyRows(windows, { start: reader.pos, count, format });
  const data = { form: 'legacy', index, places } as const;
  return { mountPoint, rows: new LegacyRows(data, source, { format, decodeName }) };
}

/** Starts an index, whose rows follow. */
export function writeLegacyStart(writer: ByteWriter, mountPoint: string, count: number): void {
  writeFString(writer, mountPoint);
  writer.u32le(count);
}

/** Writes the next row of an index. */
export function writeLegacyRow(writer: ByteWriter, { name, record }: IndexRow, format: RecordFormat): void {
  writeFString(writer, name);
  writeEntryRecord(writer, record, format);
}
