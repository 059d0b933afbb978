// The two tables that give Diablo III's files their names. Little-endian.
//
//   CoreTOC.dat    u32 counts [70]; u32 offsets [70], from the end of the header; 71 unknown u32: kept, not used
//                  the groups: sno/entries.ts
//   Packages.dat   02 00 bb aa; u32 count; that many names, NUL-terminated: SoundBank\3D Ambience\0000.smp
//
// Known from what other readers take; no real table was at hand.

import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { canBeRead, type Format, startsWithU32le } from '../../format.ts';
import { readSnoGroups, readWords, type SnoEntry, writeSnoGroups } from '../sno/entries.ts';

const tocFormat = 'Diablo III CoreTOC';
const packagesFormat = 'Diablo III Packages.dat';
const groupCount = 70;
const unknownSize = (groupCount + 1) * 4;
const packagesMagic = 0xaabb0002;
/** Longest name in bytes, with its NUL. */
const maxName = 256;

/** Without a magic: told when its tables hold together and name something. */
export const diablo3TocFormat: Format = {
  name: tocFormat,
  needsAll: true,
  matches: canBeRead(decodeDiablo3Toc, ({ groups }) => groups.some(({ length }) => length > 0)),
};

/** Told by its magic. */
export const diablo3PackagesFormat: Format = { name: packagesFormat, matches: startsWithU32le(packagesMagic) };

/** A decoded CoreTOC.dat. Of entries with one id the first counts. */
export interface Diablo3Toc {
  /** By number, 70 at most. */
  groups: readonly (readonly SnoEntry[])[];
  /** The words of the header that nobody knows, as they are. */
  unknown?: Uint8Array;
}

/** Reads CoreTOC.dat. @throws E_FORMAT… */
export function decodeDiablo3Toc(bytes: Uint8Array): Diablo3Toc {
  const reader = new ByteReader(bytes, tocFormat);
  const [counts, offsets] = [readWords(reader, groupCount), readWords(reader, groupCount)];
  const unknown = reader.take(unknownSize);
  return { groups: readSnoGroups(reader, { counts, offsets, maxName }), unknown };
}

/**
 * Writes CoreTOC.dat: groups one after the other, as `writeSnoGroups` lays them; where another writer laid them is not kept.
 * @throws E_FORMAT_RANGE for more groups than it has
 */
export function encodeDiablo3Toc({ groups, unknown = new Uint8Array(unknownSize) }: Diablo3Toc): Uint8Array {
  if (groups.length > groupCount) {
    const facts = { expected: groupCount, found: groups.length };
    throw formatError('E_FORMAT_RANGE', tocFormat, 'too many groups', facts);
  }
  const all = Array.from({ length: groupCount }, (_, group) => groups[group] ?? []);
  const { counts, offsets, body } = writeSnoGroups(all);
  return new ByteWriter().raw(counts).raw(offsets).raw(unknown).raw(body).bytes();
}

/** Reads Packages.dat. @throws E_FORMAT… */
export function decodeDiablo3Packages(bytes: Uint8Array): string[] {
  const reader = new ByteReader(bytes, packagesFormat);
  reader.magicU32le(packagesMagic);
  const count = reader.count(reader.u32le(), 1);
  return Array.from({ length: count }, () => reader.cstring(maxName));
}

/** Writes Packages.dat. */
export function encodeDiablo3Packages(names: readonly string[]): Uint8Array {
  const writer = new ByteWriter().u32le(packagesMagic).u32le(names.length);
  for (const name of names) writer.cstring(name);
  return writer.bytes();
}
