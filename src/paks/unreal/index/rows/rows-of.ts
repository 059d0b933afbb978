import type { FillingSource } from '../../../../files/scratch.ts';
import type { NameDecoder } from '../../../names.ts';
import type { EncodedFormat } from '../encoded-entry.ts';
import type { IndexRows } from '../index-rows.ts';
import { DirectoryRows } from './directory-rows.ts';
import { HashRows } from './hash-rows.ts';
import { LegacyRows } from './legacy-rows.ts';
import { LocatedRecords } from './located-records.ts';
import type { SharedRows } from './shared-rows.ts';

/** Rows out of their data, which another thread has looked at. @param source the PAK, in which some of it may lie */
export function rowsOf(
  data: SharedRows,
  source: FillingSource,
  { format, decodeName }: { format: EncodedFormat; decodeName: NameDecoder },
): IndexRows {
  if (data.form === 'legacy') return new LegacyRows(data, source, { format, decodeName });
  const records = new LocatedRecords(data.records, source, format);
  if (data.form === 'hashes') return new HashRows(data, records);
  return new DirectoryRows(data, source, { records, format: { version: format.version, decodeName } });
}
