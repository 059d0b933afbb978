// The root of Heroes of the Storm (products hero…) and StarCraft II (s2…). Little-endian.
//
//   "MNDX"
//   headerVersion   u32
//   version         u32, 1 or 2
//   header version 2 only: two u32 (build numbers, it seems): kept, not used
//   marOffset       u32   from the start of the root
//   marCount        u32 = 3
//   marInfoSize     u32 = 20
//   entryOffset     u32
//   entryCount      u32   files
//   nameCount       u32   groups of them
//   entrySize       u32 = 24
//
//   MAR info   u32 index (skipped: the place counts), u64 size, u64 offset
//     1st MAR  packages: mods/heroes.stormmod/base.stormassets
//     2nd MAR  names inside packages, in lower case; the id is the number of a group
//     3rd MAR  whole names, package and name, in their own case
//   entry      u32 flags: package in bits 0 to 23, bit 31 on the last of a group; ckey [16]; u32 size
//
// Known from what other readers take; checked on a root that two of them read, not on one of a game.

import { asBuffer, toHex } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { ByteReader, repeatable } from '../../../core/reader.ts';
import type { RecordTable } from '../../../core/tables/record-table.ts';
import { type Format, startsWith } from '../../format.ts';
import { lowerCase } from './level.ts';
import { decodeMar, type NameTrie } from './trie.ts';

const format = 'MNDX root';
const decoder = new TextDecoder();
const entrySize = 24;
const lastOfGroup = 0x80000000;
const packageMask = 0xffffff;
/** Most slashes of a name that are tried as the end of its package. */
const maxSlashes = 64;

/** A file of the root. */
export interface MndxFile {
  package: string;
  /** The whole name, package in front, in the case of the third MAR where it has the file. */
  name: string;
  /** Lower-case hex. */
  ckey: string;
  /** Decoded size in bytes. */
  size: number;
}

/** The start of a root. */
export interface MndxHeader {
  headerVersion: number;
  version: 1 | 2;
  /** Two numbers of header version 2, which nobody knows. */
  builds?: readonly [number, number];
}

/** A decoded root. Entries and tries stay bytes. */
export interface Mndx {
  header: MndxHeader;
  /** By their numbers. */
  packages: string[];
  fileCount: number;
  /** Every file once. @throws E_FORMAT… when a trie is damaged */
  files: Iterable<MndxFile>;
}

interface Tables {
  header: MndxHeader;
  /** Packages by their numbers, a character a byte and as text; and the numbers by lower-case packages, a character a byte. */
  packages: string[];
  packageNames: string[];
  packageIds: Map<string, number>;
  names: NameTrie;
  fullNames: NameTrie;
  entries: RecordTable;
  groupStarts: Uint32Array;
}

/** Told by its magic. */
export const mndxFormat: Format = { name: format, matches: startsWith('MNDX') };

/** Reads a root: its tables are checked, names are made while iterating. @throws E_FORMAT… */
export function decodeMndx(bytes: Uint8Array): Mndx {
  const tables = readTables(bytes);
  return {
    header: tables.header,
    packages: tables.packageNames,
    fileCount: tables.entries.count,
    files: repeatable(() => filesOf(tables)),
  };
}

function readTables(bytes: Uint8Array): Tables {
  const reader = new ByteReader(bytes, format);
  reader.magic('MNDX');
  const headerVersion = reader.u32le();
  const version = reader.version('u32le', 1, 2);
  const header: MndxHeader = { headerVersion, version };
  if (headerVersion === 2) header.builds = [reader.u32le(), reader.u32le()];
  const marOffset = reader.u32le();
  checkNumber(reader, 'number of MARs', 3);
  checkNumber(reader, 'size of a MAR info', 20);
  const entryOffset = reader.u32le();
  const entryCount = reader.u32le();
  const nameCount = reader.u32le();
  checkNumber(reader, 'size of an entry', entrySize);
  reader.seek(marOffset);
  const [packageNames, names, fullNames] = [readMar(reader), readMar(reader), readMar(reader)];
  reader.seek(entryOffset);
  const entries = reader.table(entryCount, entrySize);
  if (nameCount !== names.count) {
    throw formatError('E_FORMAT', format, 'wrong number of names', { expected: nameCount, found: names.count });
  }
  const packages = readPackages(packageNames);
  return {
    header,
    packages,
    packageNames: packages.map((name) => decoder.decode(bytesOf(name))),
    packageIds: new Map(packages.map((name, id) => [lowerCase(name), id])),
    names,
    fullNames,
    entries,
    groupStarts: readGroups(entries, nameCount, packages.length),
  };
}

function checkNumber(reader: ByteReader, what: string, expected: number): void {
  const offset = reader.pos;
  const found = reader.u32le();
  if (found !== expected) throw formatError('E_FORMAT_RANGE', format, what, { offset, expected, found });
}

function readMar(reader: ByteReader): NameTrie {
  reader.skip(4);
  const size = reader.u64le();
  const mar = new ByteReader(reader.bytes, format);
  mar.seek(reader.u64le());
  return decodeMar(mar.take(size));
}

function readPackages(trie: NameTrie): string[] {
  const packages = new Array<string>(trie.count);
  for (const { id, name } of trie.keys) packages[id] = latin1(name);
  return packages;
}

/** The first entry of each group, and one past the last. */
function readGroups(entries: RecordTable, count: number, packageCount: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  let group = 0;
  for (let entry = 0; entry < entries.count; entry++) {
    const flags = flagsOf(entries, entry);
    if ((flags & packageMask) >= packageCount) {
      const problem = `entry ${entry} names package ${flags & packageMask} of ${packageCount}`;
      throw formatError('E_FORMAT_RANGE', format, problem);
    }
    if ((flags & lastOfGroup) === 0) continue;
    group++;
    if (group <= count) starts[group] = entry + 1;
  }
  if (group !== count || starts[count] !== entries.count) {
    throw formatError('E_FORMAT', format, 'wrong number of groups of entries', { expected: count, found: group });
  }
  return starts;
}

function flagsOf({ bytes }: RecordTable, entry: number): number {
  const at = entry * entrySize;
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Files by their whole names; then, in lower case, those that have none. */
function* filesOf(tables: Tables): Generator<MndxFile> {
  const { entries, names, packages, groupStarts } = tables;
  const named = new Uint8Array(entries.count);
  const find = entryFinder(tables);
  for (const { name } of tables.fullNames.keys) {
    const entry = find(lowerCase(latin1(name)));
    if (entry === undefined || named[entry] === 1) continue;
    named[entry] = 1;
    yield fileOf(tables, entry, name);
  }
  for (const { id, name } of names.keys) {
    for (let entry = groupStarts[id]!; entry < groupStarts[id + 1]!; entry++) {
      if (named[entry] === 1) continue;
      const owner = packages[flagsOf(entries, entry) & packageMask]!;
      yield fileOf(tables, entry, bytesOf(`${owner}/${latin1(name)}`));
    }
  }
}

/** Finds the entry of a whole lower-case name, a character a byte: the longest package that it starts with, then what is left. */
function entryFinder({ packageIds, names, entries, groupStarts }: Tables): (name: string) => number | undefined {
  // Groups have an entry for each package with the file. Without a bound, many names of one huge group would take for ever.
  let left = entries.count * 64 + 0x10000;
  const inGroup = (group: number, owner: number): number | undefined => {
    for (let entry = groupStarts[group]!; entry < groupStarts[group + 1]!; entry++) {
      if (left-- === 0) throw formatError('E_FORMAT_RANGE', format, 'too many names for its groups of entries');
      if ((flagsOf(entries, entry) & packageMask) === owner) return entry;
    }
    return undefined;
  };
  return (name) => {
    let slash = name.lastIndexOf('/');
    for (let tries = 0; slash > 0 && tries < maxSlashes; tries++, slash = name.lastIndexOf('/', slash - 1)) {
      const owner = packageIds.get(name.slice(0, slash));
      if (owner === undefined) continue;
      const group = names.find(bytesOf(name.slice(slash + 1)));
      const entry = group === undefined ? undefined : inGroup(group, owner);
      if (entry !== undefined) return entry;
    }
    return undefined;
  };
}

function fileOf({ entries, packageNames }: Tables, entry: number, name: Uint8Array): MndxFile {
  const reader = new ByteReader(entries.at(entry), format, 4);
  const owner = packageNames[flagsOf(entries, entry) & packageMask]!;
  return { package: owner, name: decoder.decode(name), ckey: toHex(reader.take(16)), size: reader.u32le() };
}

/** A character for each byte, so that nothing is lost in names that are no UTF-8. */
function latin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
