// The part that CoreTOC.dat of Diablo III and that of Diablo IV have in common: entries in groups. Little-endian.
//
//   each group, at its offset: per entry u32 group, u32 SNO id, u32 offset of its name; then the names, NUL-terminated;
//   the offset counts from the end of the group's entries

import type { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';

const snoEntrySize = 12;

/** A file that has a name. */
export interface SnoEntry {
  /** Number of the kind of asset, mostly that of the group. */
  group: number;
  snoId: number;
  name: string;
}

/** Numbers, one after the other. */
export function readWords(reader: ByteReader, count: number): number[] {
  return Array.from({ length: count }, () => reader.u32le());
}

/**
 * The entries of each group.
 * @param reader at the end of the header, from which the offsets count
 * @param maxName longest name in bytes, with its NUL
 * @throws E_FORMAT_TRUNCATED for more entries than there are bytes, or a name without its end; E_FORMAT_RANGE for an offset outside
 */
export function readSnoGroups(
  reader: ByteReader,
  { counts, offsets, maxName }: { counts: readonly number[]; offsets: readonly number[]; maxName: number },
): SnoEntry[][] {
  const start = reader.pos;
  // Groups that lie over each other would make far more entries than the bytes hold.
  const total = counts.reduce((sum, count) => sum + count, 0);
  reader.count(total, snoEntrySize);
  return counts.map((count, i) => {
    if (count === 0) return [];
    reader.seek(start + (offsets[i] ?? 0));
    return readGroup(reader, count, maxName);
  });
}

function readGroup(reader: ByteReader, count: number, maxName: number): SnoEntry[] {
  const entries = reader.sub(reader.count(count, snoEntrySize) * snoEntrySize);
  const namesOffset = reader.pos;
  return Array.from({ length: count }, () => {
    const group = entries.u32le();
    const snoId = entries.u32le();
    reader.seek(namesOffset + entries.u32le());
    return { group, snoId, name: reader.cstring(maxName) };
  });
}

/** Groups as bytes, one after the other, each with its names in the order of its entries; and the numbers that a header has of them. */
export function writeSnoGroups(groups: readonly (readonly SnoEntry[])[]) {
  const [counts, offsets, body] = [new ByteWriter(), new ByteWriter(), new ByteWriter()];
  for (const entries of groups) {
    counts.u32le(entries.length);
    offsets.u32le(entries.length === 0 ? 0 : body.size);
    const names = new ByteWriter();
    for (const { group, snoId, name } of entries) {
      body.u32le(group).u32le(snoId).u32le(names.size);
      names.cstring(name);
    }
    body.raw(names.bytes());
  }
  return { counts: counts.bytes(), offsets: offsets.bytes(), body: body.bytes() };
}
