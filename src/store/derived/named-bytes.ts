import { uintAt } from '../../core/bytes.ts';
import type { ByteReader } from '../../core/reader.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { Span } from '../spans.ts';

/*
 * Bytes of a build that something names, in a derived file:
 *
 *   loose       u32, then that many ekeys
 *   archives    u32, as many as the CDN config lists, in its order; of each the number of its spans, u32
 *   spans       of one archive after the other   start u40   end u40   merged and in order
 */
const spanSize = 10;
const keySize = 16;

/** The bytes of a build that something names, whatever a store holds of them. They stay rows: of hundreds of builds most need not be looked at. */
export class NamedBytes {
  /** Ekeys of what lies as an object of its own. */
  readonly loose: RecordTable;
  /** Numbers of spans, by the place of their archive in the CDN config. */
  readonly counts: readonly number[];
  readonly #rows: RecordTable;
  readonly #firsts: readonly number[];

  private constructor(loose: RecordTable, counts: readonly number[], rows: RecordTable) {
    this.loose = loose;
    this.counts = counts;
    this.#rows = rows;
    let next = 0;
    this.#firsts = counts.map((count) => {
      next += count;
      return next - count;
    });
  }

  /** @param archives merged spans, by the place of their archive in the CDN config */
  static of(loose: RecordTable, archives: Iterable<Iterable<Span>>): NamedBytes {
    const writer = new ByteWriter();
    const counts: number[] = [];
    for (const spans of archives) {
      let count = 0;
      for (const { start, end } of spans) {
        writer.u40(start).u40(end);
        count += 1;
      }
      counts.push(count);
    }
    return new NamedBytes(loose, counts, new RecordTable(writer.bytes(), spanSize));
  }

  /**
   * Reads what {@link write} wrote.
   * @param archives that the CDN config lists
   * @returns undefined for those of another number of archives
   * @throws E_FORMAT_TRUNCATED
   */
  static read(reader: ByteReader, archives: number): NamedBytes | undefined {
    const loose = reader.table(reader.u32(), keySize);
    if (reader.u32() !== archives) return undefined;
    reader.count(archives, 4);
    const counts = Array.from({ length: archives }, () => reader.u32());
    const total = counts.reduce((sum, count) => sum + count, 0);
    return new NamedBytes(loose, counts, reader.table(total, spanSize));
  }

  write(writer: ByteWriter): void {
    const { loose, counts } = this;
    writer.u32(loose.count).raw(loose.bytes.subarray(0, loose.count * keySize));
    writer.u32(counts.length);
    for (const count of counts) writer.u32(count);
    writer.raw(this.#rows.bytes.subarray(0, this.#rows.count * spanSize));
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
    const { bytes } = this.#rows;
    return { start: uintAt(bytes, row * spanSize, 5), end: uintAt(bytes, row * spanSize + 5, 5) };
  }
}
