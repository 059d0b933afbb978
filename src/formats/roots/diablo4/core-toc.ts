// CoreTOC.dat of Diablo IV (Base/CoreTOC.dat): the names of its files, which the TVFS knows by numbers only. Little-endian.
//
//   u32 0xbcde6611               only in the newer form
//   u32 n                        groups; 169 to 182 seen, more each season
//   u32 counts [n]; u32 offsets [n], from the end of the header; u32 counts [n] again
//   u32 format hashes [n]        only in the newer form
//   u32                          unknown, kept
//   each group, at its offset: per entry u32 group, u32 SNO id, u32 offset of its name; then the names, NUL-terminated;
//   the offset counts from the end of the group's entries
//
// Known from what other readers take; no real table was at hand.

import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';

const format = 'Diablo IV CoreTOC';
const magic = 0xbcde6611;
const entrySize = 12;
/** More groups than any game will have; a first word beyond it is no count. */
const maxGroups = 4096;
/** Longest name in bytes, with its NUL. */
const maxName = 512;

/** A file that has a name. */
export interface Diablo4TocEntry {
  /** Number of the kind of asset. */
  group: number;
  snoId: number;
  name: string;
}

/** A group of the table; its entries mostly carry its own number. */
export interface Diablo4TocGroup {
  entries: Diablo4TocEntry[];
  /** The second count, when it is not that of the entries. */
  secondCount?: number;
  /** Newer form only. */
  formatHash?: number;
}

/** A decoded table. */
export interface Diablo4Toc {
  /** Whether it starts with the magic and has format hashes. */
  newer: boolean;
  /** By number. */
  groups: Diablo4TocGroup[];
  unknown: number;
}

/** True for a table of the newer form, which has a magic. */
export function isDiablo4Toc(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && new ByteReader(bytes, format).u32le() === magic;
}

/** Reads CoreTOC.dat of either form. @throws E_FORMAT… */
export function decodeDiablo4Toc(bytes: Uint8Array): Diablo4Toc {
  const newer = isDiablo4Toc(bytes);
  const reader = new ByteReader(bytes, format, newer ? 4 : 0);
  const count = reader.u32le();
  if (count > maxGroups) {
    throw formatError('E_FORMAT_RANGE', format, 'too many groups', { expected: `up to ${maxGroups}`, found: count });
  }
  reader.count(count, newer ? 16 : 12);
  const [counts, offsets, seconds] = [readWords(reader, count), readWords(reader, count), readWords(reader, count)];
  const hashes = newer ? readWords(reader, count) : undefined;
  const unknown = reader.u32le();
  const headerSize = reader.pos;
  // Groups that lie over each other would make far more entries than the bytes hold.
  reader.count(
    counts.reduce((sum, entries) => sum + entries, 0),
    entrySize + 1,
  );
  const groups = counts.map((entryCount, i): Diablo4TocGroup => {
    reader.seek(entryCount === 0 ? headerSize : headerSize + offsets[i]!);
    return {
      entries: readGroup(reader, entryCount),
      ...(seconds[i] !== entryCount && { secondCount: seconds[i]! }),
      ...(hashes !== undefined && { formatHash: hashes[i]! }),
    };
  });
  return { newer, groups, unknown };
}

function readWords(reader: ByteReader, count: number): number[] {
  return Array.from({ length: count }, () => reader.u32le());
}

function readGroup(reader: ByteReader, count: number): Diablo4TocEntry[] {
  const entries = reader.sub(reader.count(count, entrySize) * entrySize);
  const namesOffset = reader.pos;
  return Array.from({ length: count }, () => {
    const group = entries.u32le();
    const snoId = entries.u32le();
    reader.seek(namesOffset + entries.u32le());
    return { group, snoId, name: reader.cstring(maxName) };
  });
}

/** Writes CoreTOC.dat: groups one after the other, names in the order of the entries. */
export function encodeDiablo4Toc({ newer, groups, unknown }: Diablo4Toc): Uint8Array {
  const [counts, offsets, seconds, hashes, body] = Array.from({ length: 5 }, () => new ByteWriter());
  for (const { entries, secondCount = entries.length, formatHash = 0 } of groups) {
    counts!.u32le(entries.length);
    offsets!.u32le(entries.length === 0 ? 0 : body!.size);
    seconds!.u32le(secondCount);
    hashes!.u32le(formatHash);
    const names = new ByteWriter();
    for (const { group, snoId, name } of entries) {
      body!.u32le(group).u32le(snoId).u32le(names.size);
      names.cstring(name);
    }
    body!.raw(names.bytes());
  }
  const writer = new ByteWriter();
  if (newer) writer.u32le(magic);
  writer.u32le(groups.length).raw(counts!.bytes()).raw(offsets!.bytes()).raw(seconds!.bytes());
  if (newer) writer.raw(hashes!.bytes());
  return writer.u32le(unknown).raw(body!.bytes()).bytes();
}
