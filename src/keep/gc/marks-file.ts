import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex, uintAt } from '../../core/bytes.ts';
import { isDamage, isStoreTrouble, isSystemError, resultUnless } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
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
 *   archives      u32, as many as the CDN config lists, in its order; of each the number of its spans, u32
 *   spans         of one archive after the other   start u40   end u40   merged and in order
 */
const version = 1;
const what = 'marks of a build';
const spanSize = 10;

/** The bytes that a build names, whatever a store holds of them. They stay rows: of hundreds of builds most need not be looked at. */
export class BuildMarks {
  /** Sorted ekeys of what may lie as an object of its own. */
  readonly loose: RecordTable;
  /** Numbers of spans, by the place of their archive in the CDN config. */
  readonly counts: readonly number[];
  /** Spans of one archive after the other. */
  readonly rows: RecordTable;
  readonly #firsts: readonly number[];

  constructor(loose: RecordTable, counts: readonly number[], rows: RecordTable) {
    this.loose = loose;
    this.counts = counts;
    this.rows = rows;
    let next = 0;
    this.#firsts = counts.map((count) => {
      next += count;
      return next - count;
    });
  }

  /** @param archives merged spans, by the place of their archive in the CDN config */
  static of(loose: RecordTable, archives: readonly (readonly Span[])[]): BuildMarks {
    const writer = new ByteWriter();
    for (const spans of archives) for (const { start, end } of spans) writer.u40(start).u40(end);
    const counts = archives.map((spans) => spans.length);
    return new BuildMarks(loose, counts, new RecordTable(writer.bytes(), spanSize));
  }

  /** The spans of an archive, merged and in order. */
  spansOf(archive: number): Span[] {
    const first = this.#firsts[archive] ?? 0;
    return Array.from({ length: this.counts[archive] ?? 0 }, (_, i) => this.#span(first + i));
  }

  /** From the first byte of an archive that is named to the last; undefined for none. */
  extentOf(archive: number): Span | undefined {
    const first = this.#firsts[archive] ?? 0;
    const count = this.counts[archive] ?? 0;
    return count === 0 ? undefined : { start: this.#span(first).start, end: this.#span(first + count - 1).end };
  }

  #span(row: number): Span {
    const { bytes } = this.rows;
    return { start: uintAt(bytes, row * spanSize, 5), end: uintAt(bytes, row * spanSize + 5, 5) };
  }
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

function encodeMarks({ buildConfig, cdnConfig }: NamedConfigs, { loose, counts, rows }: BuildMarks): Uint8Array {
  const writer = new ByteWriter().u16(version).raw(fromHex(buildConfig)).raw(fromHex(cdnConfig));
  writer
    .u32(loose.count)
    .raw(loose.bytes.subarray(0, loose.count * loose.stride))
    .u32(counts.length);
  for (const count of counts) writer.u32(count);
  return writer.raw(rows.bytes.subarray(0, rows.count * spanSize)).bytes();
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
  reader.count(archives, 4);
  const counts = Array.from({ length: archives }, () => reader.u32());
  const total = counts.reduce((sum, count) => sum + count, 0);
  const marks = new BuildMarks(loose, counts, reader.table(total, spanSize));
  reader.end();
  return marks;
}
