import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { uintAt } from '../core/bytes.ts';
import { isDamage, isStoreTrouble, isSystemError, resultUnless } from '../core/errors.ts';
import { ByteReader } from '../core/reader.ts';
import { RecordTable } from '../core/tables/record-table.ts';
import { ByteWriter } from '../core/writer.ts';
import type { PlacedEntries } from '../fetch/plan/placed-entries.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import { isLacking, readDerived } from '../store/derived/derived-file.ts';
import { writeDerived } from '../store/derived/derived-writer.ts';
import type { Amount, BuildIdentity } from '../store/ledger/rows.ts';
import type { Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';

/*
 * What a selection wants of a build never changes: its two configs decide it. Once a sync has found all of it, the bytes are kept as
 * marks/<build config>.<CRC-32 of the selection>, a derived file. A sync with nothing to do then compares spans, archive by archive, in place of
 * millions of entries:
 *
 *   version     u16, 1
 *   about       u32, then as many bytes: the build and the selection, as JSON
 *   wanted      entries u40   bytes u64
 *   loose       u32, then that many ekeys
 *   archives    u32, as many as the CDN config lists, in its order; of each the number of its spans, u32
 *   spans       of one archive after the other   start u40   end u40   merged and in order
 */
const version = 1;
const what = 'wants of a build';
const spanSize = 10;

/** The bytes that a selection wants of a build, whatever is held of them. */
export interface Wants {
  wanted: Amount;
  /** Ekeys of objects of their own. */
  loose: RecordTable;
  /** Numbers of spans, by the place of their archive in the CDN config. */
  counts: readonly number[];
  /** Spans of one archive after the other. */
  rows: RecordTable;
}

/** The build and the selection of it that something is wanted of. */
export interface WantedOf {
  identity: Pick<BuildIdentity, 'buildConfig' | 'cdnConfig'>;
  selection: Selection;
  /** Archives of the CDN config. */
  archives: number;
}

/** The wanted bytes of placed entries. */
export function wantsOf(placed: PlacedEntries, wanted: Amount, archives: number): Wants {
  const writer = new ByteWriter();
  const counts = new Array<number>(archives).fill(0);
  for (let row = 0; row < placed.count; ) {
    const archive = placed.archive(row);
    let last: Span | undefined;
    for (; row < placed.count && placed.archive(row) === archive; row++) {
      const start = placed.offset(row);
      const end = start + placed.size(row);
      if (start === end) continue;
      if (last !== undefined && start <= last.end) {
        last.end = Math.max(last.end, end);
        continue;
      }
      if (last !== undefined) writer.u40(last.start).u40(last.end);
      last = { start, end };
      counts[archive]! += 1;
    }
    if (last !== undefined) writer.u40(last.start).u40(last.end);
  }
  const loose = new ByteWriter();
  for (const row of placed.loose) loose.raw(placed.wanted.at(row).subarray(0, 16));
  return {
    wanted,
    loose: new RecordTable(loose.bytes(), 16),
    counts,
    rows: new RecordTable(writer.bytes(), spanSize),
  };
}

/** The spans of each archive of which something is wanted, by its number. */
export function* wantedSpans({ counts, rows }: Wants): Generator<{ archive: number; spans: Span[] }> {
  let first = 0;
  for (const [archive, count] of counts.entries()) {
    const spans = Array.from({ length: count }, (_, i): Span => {
      const at = (first + i) * spanSize;
      return { start: uintAt(rows.bytes, at, 5), end: uintAt(rows.bytes, at + 5, 5) };
    });
    first += count;
    if (count > 0) yield { archive, spans };
  }
}

/** The wants that are kept; undefined where they are not there, damaged, or those of something else. */
export function readWants({ layout }: Pick<Store, 'layout'>, of: WantedOf): Wants | undefined {
  const isAbsent = (error: unknown): boolean => isLacking(error) || isSystemError(error);
  const bytes = resultUnless(isAbsent, () => readDerived(pathOf(layout, of)));
  return bytes && resultUnless(isDamage, () => decodeWants(bytes, of));
}

/** Keeps wants. Where the store has no room for them they are found out again the next time. */
export function keepWants({ layout }: Pick<Store, 'layout'>, of: WantedOf, wants: Wants): void {
  resultUnless(isStoreTrouble, () => writeDerived(pathOf(layout, of), encodeWants(of, wants), layout.temporary));
}

function pathOf({ marks }: Store['layout'], of: WantedOf): string {
  const sum = crc32(JSON.stringify(of.selection)).toString(16).padStart(8, '0');
  return join(marks, `${of.identity.buildConfig}.${sum}`);
}

function about({ identity: { buildConfig, cdnConfig }, selection }: WantedOf): Uint8Array {
  return Buffer.from(JSON.stringify({ buildConfig, cdnConfig, selection }));
}

function encodeWants(of: WantedOf, { wanted, loose, counts, rows }: Wants): Uint8Array {
  const own = about(of);
  const writer = new ByteWriter().u16(version).u32(own.length).raw(own);
  writer.u40(wanted.entries).u64(wanted.bytes).u32(loose.count).raw(loose.bytes).u32(counts.length);
  for (const count of counts) writer.u32(count);
  return writer.raw(rows.bytes).bytes();
}

function decodeWants(bytes: Uint8Array, of: WantedOf): Wants | undefined {
  const reader = new ByteReader(bytes, what);
  if (reader.u16() !== version) return undefined;
  const own = reader.take(reader.u32());
  if (Buffer.compare(own, about(of)) !== 0) return undefined;
  const wanted = { entries: reader.u40(), bytes: reader.u64() };
  const loose = reader.table(reader.u32(), 16);
  const archives = reader.u32();
  if (archives !== of.archives) return undefined;
  reader.count(archives, 4);
  const counts = Array.from({ length: archives }, () => reader.u32());
  const rows = reader.table(
    counts.reduce((sum, count) => sum + count, 0),
    spanSize,
  );
  reader.end();
  return { wanted, loose, counts, rows };
}
