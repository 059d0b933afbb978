import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isDamage, isStoreTrouble, isSystemError, resultUnless } from '../core/errors.ts';
import { ByteReader } from '../core/reader.ts';
import { RecordTable } from '../core/tables/record-table.ts';
import { ByteWriter } from '../core/writer.ts';
import type { PlacedEntries } from '../fetch/plan/placed-entries.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import { isLacking, readDerived } from '../store/derived/derived-file.ts';
import { writeDerived } from '../store/derived/derived-writer.ts';
import { NamedBytes } from '../store/derived/named-bytes.ts';
import type { Amount, BuildIdentity } from '../store/ledger/rows.ts';
import type { Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';

/*
 * What a selection wants of a build never changes: its two configs decide it. Once a sync has found all of it, the bytes are kept as
 * wants/<build config>.<CRC-32 of the selection>, a derived file. A sync with nothing to do then compares spans, archive by archive, in place of
 * millions of entries:
 *
 *   version     u16, 1
 *   about       u32, then as many bytes: the build and the selection, as JSON
 *   wanted      entries u40   bytes u64
 *   named       see store/derived/named-bytes.ts
 */
const version = 1;
const what = 'wants of a build';

/** The bytes that a selection wants of a build, whatever is held of them. */
export interface Wants {
  wanted: Amount;
  named: NamedBytes;
}

/** The build and the selection of it that something is wanted of. */
export interface WantedOf {
  identity: Pick<BuildIdentity, 'buildConfig' | 'cdnConfig'>;
  selection: Selection;
  /** Archives of the CDN config. */
  archives: number;
}

/** The wanted bytes of placed entries. @param archives that the CDN config lists */
export function wantsOf(placed: PlacedEntries, wanted: Amount, archives: number): Wants {
  const loose = new ByteWriter();
  for (const row of placed.loose) loose.raw(row.subarray(0, 16));
  return { wanted, named: NamedBytes.of(new RecordTable(loose.bytes(), 16), placedSpans(placed, archives)) };
}

/** Merged spans of entries, of one archive after the other. */
function* placedSpans(placed: PlacedEntries, archives: number): Generator<Span[]> {
  let row = 0;
  for (let archive = 0; archive < archives; archive++) {
    const spans: Span[] = [];
    for (; row < placed.count && placed.archive(row) === archive; row++) {
      const start = placed.offset(row);
      const end = start + placed.size(row);
      const last = spans.at(-1);
      if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
      else if (start < end) spans.push({ start, end });
    }
    yield spans;
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

function pathOf({ wants }: Store['layout'], of: WantedOf): string {
  const sum = crc32(JSON.stringify(of.selection)).toString(16).padStart(8, '0');
  return join(wants, `${of.identity.buildConfig}.${sum}`);
}

function about({ identity: { buildConfig, cdnConfig }, selection }: WantedOf): Uint8Array {
  return Buffer.from(JSON.stringify({ buildConfig, cdnConfig, selection }));
}

function encodeWants(of: WantedOf, { wanted, named }: Wants): Uint8Array {
  const own = about(of);
  const writer = new ByteWriter().u16(version).u32(own.length).raw(own).u40(wanted.entries).u64(wanted.bytes);
  named.write(writer);
  return writer.bytes();
}

function decodeWants(bytes: Uint8Array, of: WantedOf): Wants | undefined {
  const reader = new ByteReader(bytes, what);
  if (reader.u16() !== version) return undefined;
  if (Buffer.compare(reader.take(reader.u32()), about(of)) !== 0) return undefined;
  const wanted = { entries: reader.u40(), bytes: reader.u64() };
  const named = NamedBytes.read(reader, of.archives);
  if (named === undefined) return undefined;
  reader.end();
  return { wanted, named };
}
