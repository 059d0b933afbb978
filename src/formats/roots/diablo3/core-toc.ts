// The two tables that give Diablo III's files their names. Little-endian.
//
//   CoreTOC.dat    u32 counts [70]; u32 offsets [70], from the end of the header; 71 unknown u32
//                  each group, at its offset: per entry u32 group, u32 SNO id, u32 offset of its name; then the names, NUL-terminated;
//                  the offset counts from the end of the group's entries
//   Packages.dat   02 00 bb aa; u32 count; that many names, NUL-terminated: SoundBank\3D Ambience\0000.smp
//
// Known from what other readers take; no real table was at hand.

import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';

const tocFormat = 'CoreTOC';
const packagesFormat = 'Packages.dat';
const groupCount = 70;
const headerSize = (3 * groupCount + 1) * 4;
const entrySize = 12;
const packagesMagic = 0xaabb0002;
/** Longest name in bytes, with its NUL. */
const maxName = 256;

/** What is known of an SNO id. */
export interface CoreTocEntry {
  group: number;
  name: string;
}

/** Entries by their SNO ids. */
export type CoreToc = Map<number, CoreTocEntry>;

/** Reads CoreTOC.dat; of entries with one id the first counts. @throws E_FORMAT… */
export function decodeCoreToc(bytes: Uint8Array): CoreToc {
  const reader = new ByteReader(bytes, tocFormat);
  const counts = Array.from({ length: groupCount }, () => reader.u32le());
  const offsets = Array.from({ length: groupCount }, () => reader.u32le());
  reader.skip(headerSize - reader.pos);
  // Groups that lie over each other would make far more entries than the bytes hold.
  reader.count(
    counts.reduce((sum, count) => sum + count, 0),
    entrySize,
  );
  const toc: CoreToc = new Map();
  counts.forEach((count, i) => {
    if (count === 0) return;
    reader.seek(headerSize + offsets[i]!);
    const entries = reader.sub(reader.count(count, entrySize) * entrySize);
    const namesOffset = reader.pos;
    for (let entry = 0; entry < count; entry++) {
      const group = entries.u32le();
      const snoId = entries.u32le();
      reader.seek(namesOffset + entries.u32le());
      const name = reader.cstring(maxName);
      if (!toc.has(snoId)) toc.set(snoId, { group, name });
    }
  });
  return toc;
}

/** Writes CoreTOC.dat. @throws E_FORMAT_RANGE for a group that has no place in it */
export function encodeCoreToc(toc: ReadonlyMap<number, CoreTocEntry>): Uint8Array {
  const [counts, offsets, body] = [new ByteWriter(), new ByteWriter(), new ByteWriter()];
  const wrong = [...toc.values()].find(({ group }) => !(Number.isInteger(group) && group >= 0 && group < groupCount));
  if (wrong !== undefined) throw formatError('E_FORMAT_RANGE', tocFormat, 'no such group', { found: wrong.group });
  for (let group = 0; group < groupCount; group++) {
    const entries = [...toc].filter(([, entry]) => entry.group === group);
    const names = new ByteWriter();
    counts.u32le(entries.length);
    offsets.u32le(entries.length === 0 ? 0 : body.size);
    for (const [snoId, { name }] of entries) {
      body.u32le(group).u32le(snoId).u32le(names.size);
      names.cstring(name);
    }
    body.raw(names.bytes());
  }
  const unknown = new Uint8Array((groupCount + 1) * 4);
  return new ByteWriter().raw(counts.bytes()).raw(offsets.bytes()).raw(unknown).raw(body.bytes()).bytes();
}

/** Reads Packages.dat. @throws E_FORMAT… */
export function decodePackages(bytes: Uint8Array): string[] {
  const reader = new ByteReader(bytes, packagesFormat);
  const magic = reader.u32le();
  if (magic !== packagesMagic) {
    throw formatError('E_FORMAT_MAGIC', packagesFormat, 'wrong magic', {
      offset: 0,
      expected: packagesMagic,
      found: magic,
    });
  }
  const count = reader.count(reader.u32le(), 1);
  return Array.from({ length: count }, () => reader.cstring(maxName));
}

/** Writes Packages.dat. */
export function encodePackages(names: readonly string[]): Uint8Array {
  const writer = new ByteWriter().u32le(packagesMagic).u32le(names.length);
  for (const name of names) writer.cstring(name);
  return writer.bytes();
}
