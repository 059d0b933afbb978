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
import { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import type { NameDecoder } from '../../names.ts';
import { minRecordSize, type RecordFormat, writeEntryRecord } from '../entries/entry-record.ts';
import { readFString, writeFString } from './fstring.ts';
import type { DecodedIndex, IndexRow } from './index-rows.ts';
import { findLegacyRows, LegacyRows, legacyWhat } from './rows/legacy-rows.ts';

/** Decodes an index that is not encrypted any more; its rows stay bytes until they are asked for. Throws E_FORMAT…. */
export function decodeLegacyIndex(bytes: Uint8Array, format: RecordFormat, decodeName: NameDecoder): DecodedIndex {
  const reader = new ByteReader(bytes, legacyWhat);
  const mountPoint = readFString(reader, decodeName);
  const count = reader.count(reader.u32le(), 4 + minRecordSize(format));
  return { mountPoint, rows: new LegacyRows(findLegacyRows(reader, count, format), format, decodeName) };
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
