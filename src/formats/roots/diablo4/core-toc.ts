// CoreTOC.dat of Diablo IV (Base/CoreTOC.dat): the names of its files, which the TVFS knows by numbers only. Little-endian.
//
//   u32 0xbcde6611               only in the newer form
//   u32 n                        groups; 169 to 182 seen, more each season
//   u32 counts [n]; u32 offsets [n], from the end of the header; u32 counts [n] again
//   u32 format hashes [n]        only in the newer form
//   u32                          unknown, kept
//   the groups: sno/entries.ts
//
// Known from what other readers take; no real table was at hand.

import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { canBeRead, type Format, startsWithU32le } from '../../format.ts';
import { readSnoGroups, readWords, type SnoEntry, writeSnoGroups } from '../sno/entries.ts';

const format = 'Diablo IV CoreTOC';
const magic = 0xbcde6611;
/** More groups than any game will have; a first word beyond it is no count. */
const maxGroups = 4096;
/** Longest name in bytes, with its NUL. */
const maxName = 512;

/** A group of the table; its entries mostly carry its own number. */
export interface Diablo4TocGroup {
  entries: readonly SnoEntry[];
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
  groups: readonly Diablo4TocGroup[];
  unknown: number;
}

/** The newer form: told by its magic. */
export const diablo4TocFormat: Format = { name: format, matches: startsWithU32le(magic) };

/** The older form, without a magic: told when its tables hold together and name something. */
export const olderDiablo4TocFormat: Format = {
  name: format,
  needsAll: true,
  matches: canBeRead(decodeDiablo4Toc, ({ groups }) => groups.some(({ entries }) => entries.length > 0)),
};

/** Reads CoreTOC.dat of either form. @throws E_FORMAT… */
export function decodeDiablo4Toc(bytes: Uint8Array): Diablo4Toc {
  const newer = diablo4TocFormat.matches(bytes);
  const reader = new ByteReader(bytes, format, newer ? 4 : 0);
  const count = reader.u32le();
  if (count > maxGroups) {
    throw formatError('E_FORMAT_RANGE', format, 'too many groups', { expected: `up to ${maxGroups}`, found: count });
  }
  reader.count(count, newer ? 16 : 12);
  const [counts, offsets, seconds] = [readWords(reader, count), readWords(reader, count), readWords(reader, count)];
  const hashes = newer ? readWords(reader, count) : undefined;
  const unknown = reader.u32le();
  const groups = readSnoGroups(reader, { counts, offsets, maxName }).map((entries, i): Diablo4TocGroup => {
    const [secondCount = entries.length, formatHash] = [seconds[i], hashes?.[i]];
    return {
      entries,
      ...(secondCount !== entries.length && { secondCount }),
      ...(formatHash !== undefined && { formatHash }),
    };
  });
  return { newer, groups, unknown };
}

/** Writes CoreTOC.dat: groups one after the other, as `writeSnoGroups` lays them; where another writer laid them is not kept. */
export function encodeDiablo4Toc({ newer, groups, unknown }: Diablo4Toc): Uint8Array {
  const { counts, offsets, body } = writeSnoGroups(groups.map(({ entries }) => entries));
  const writer = new ByteWriter();
  if (newer) writer.u32le(magic);
  writer.u32le(groups.length).raw(counts).raw(offsets);
  for (const { entries, secondCount = entries.length } of groups) writer.u32le(secondCount);
  if (newer) for (const { formatHash = 0 } of groups) writer.u32le(formatHash);
  return writer.u32le(unknown).raw(body).bytes();
}
