import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '../../core/bytes.ts';
import { isDamage, isStoreTrouble, isSystemError, resultUnless } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { isLacking, readDerived } from '../../store/derived/derived-file.ts';
import { writeDerived } from '../../store/derived/derived-writer.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Span } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';

/*
 * What a build names never changes: its two configs decide it. So it is found out once, and kept as marks/<build config>, a derived file:
 *
 *   version       u16, 1
 *   build config  [16], CDN config [16]
 *   keys          u32, then that many ekeys, sorted
 *   archives      u32, as many as the CDN config lists, in its order; of each:
 *     spans         u32, then that many of   start u40   end u40   merged and in order
 */
const version = 1;
const what = 'marks of a build';
const spanSize = 10;

/** The bytes that a build names, whatever a store holds of them. */
export interface BuildMarks {
  /** Merged spans, by the place of their archive in the CDN config. */
  archives: readonly (readonly Span[])[];
  /** Sorted ekeys of what may lie as an object of its own. */
  loose: RecordTable;
}

type NamedConfigs = Pick<BuildIdentity, 'buildConfig' | 'cdnConfig'>;

/** Of a disk with less free space than this nothing is taken: whoever gives space back may need the last of it. */
const leastFreeBytes = 16 * 1024 * 1024;

/** What is kept of the marks of a build; undefined where they are not there, damaged, or those of another CDN config. */
export function readMarks({ layout }: Store, build: NamedConfigs, archives: number): BuildMarks | undefined {
  const isAbsent = (error: unknown): boolean => isLacking(error) || isSystemError(error);
  const bytes = resultUnless(isAbsent, () => readDerived(join(layout.marks, build.buildConfig)));
  return bytes && resultUnless(isDamage, () => decodeMarks(bytes, build, archives));
}

/** Keeps the marks of a build. Where the store cannot be written, or has hardly any room, they are found out again the next time. */
export function keepMarks({ layout, writable }: Store, build: NamedConfigs, marks: BuildMarks): void {
  if (!writable) return;
  const { bavail, bsize } = statfsSync(layout.root);
  if (bavail * bsize < leastFreeBytes) return;
  resultUnless(isStoreTrouble, () =>
    writeDerived(join(layout.marks, build.buildConfig), encodeMarks(build, marks), layout.temporary),
  );
}

function encodeMarks({ buildConfig, cdnConfig }: NamedConfigs, { archives, loose }: BuildMarks): Uint8Array {
  const writer = new ByteWriter().u16(version).raw(fromHex(buildConfig)).raw(fromHex(cdnConfig));
  writer
    .u32(loose.count)
    .raw(loose.bytes.subarray(0, loose.count * loose.stride))
    .u32(archives.length);
  for (const spans of archives) {
    writer.u32(spans.length);
    for (const { start, end } of spans) writer.u40(start).u40(end);
  }
  return writer.bytes();
}

function decodeMarks(bytes: Uint8Array, build: NamedConfigs, archives: number): BuildMarks | undefined {
  const reader = new ByteReader(bytes, what);
  const isRight =
    reader.u16() === version &&
    toHex(reader.take(16)) === build.buildConfig &&
    toHex(reader.take(16)) === build.cdnConfig;
  if (!isRight) return undefined;
  const loose = reader.table(reader.u32(), 16);
  if (reader.u32() !== archives) return undefined;
  const marks = {
    loose,
    archives: Array.from({ length: archives }, () => spansOf(reader)),
  };
  reader.end();
  return marks;
}

function spansOf(reader: ByteReader): Span[] {
  const count = reader.count(reader.u32(), spanSize);
  return Array.from({ length: count }, () => ({ start: reader.u40(), end: reader.u40() }));
}
