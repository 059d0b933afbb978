// The root of Diablo III (products d3…), and the folders that it names. Little-endian, packed.
//
//   root     c4 d0 07 80; u32 count; count times: ckey [16], name NUL-terminated
//            The names are folders: Base, a locale, a platform; the ckey is that of a folder object.
//   folder   87 fe f1 ea
//            u32 count; assets, each ckey [16], u32 SNO id
//            u32 count; parts of assets, each ckey [16], u32 SNO id, u32 number of the part
//            u32 count; files with a name, each ckey [16], path NUL-terminated with back-slashes (CoreTOC.dat)
//
// An SNO id has its name in CoreTOC.dat. Known from what other readers take; no real root was at hand.

import { toHex } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { ByteReader, repeatable } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { type Format, startsWithU32le } from '../../format.ts';

const rootFormat = 'Diablo III root';
const folderFormat = 'Diablo III folder';
const rootMagic = 0x8007d0c4;
const folderMagic = 0xeaf1fe87;
/** Readers have room for 32 folders; some twenty are known. */
const maxFolders = 256;
const maxPath = 1024;

/** Something with a name: a folder in the root, a file in a folder. */
export interface Diablo3Named {
  /** As written. */
  name: string;
  /** Lower-case hex. */
  ckey: string;
}

/** A file that is known by its SNO id. */
export interface Diablo3Asset {
  snoId: number;
  /** Number of the part; undefined for the asset itself. */
  part?: number;
  /** Lower-case hex. */
  ckey: string;
}

/** A folder to write. */
export interface Diablo3FolderContent {
  /** The assets, then the parts of assets. */
  assets: Iterable<Diablo3Asset>;
  named: readonly Diablo3Named[];
}

/** A decoded folder. Assets stay bytes, and are made while iterating. */
export interface Diablo3Folder extends Diablo3FolderContent {
  assetCount: number;
}

/** Told by its magic. */
export const diablo3RootFormat: Format = { name: rootFormat, matches: startsWithU32le(rootMagic) };

/** Told by its magic. */
export const diablo3FolderFormat: Format = { name: folderFormat, matches: startsWithU32le(folderMagic) };

/** Reads the root: the folders. @throws E_FORMAT… */
export function decodeDiablo3Root(bytes: Uint8Array): Diablo3Named[] {
  const reader = new ByteReader(bytes, rootFormat);
  reader.magicU32le(rootMagic);
  const folders = readNamed(reader);
  reader.end();
  if (folders.length > maxFolders) {
    throw formatError('E_FORMAT_RANGE', rootFormat, `more than ${maxFolders} folders`, { found: folders.length });
  }
  return folders;
}

/** Writes a root. */
export function encodeDiablo3Root(folders: readonly Diablo3Named[]): Uint8Array {
  return writeNamed(new ByteWriter().u32le(rootMagic), folders).bytes();
}

/** Reads a folder. @throws E_FORMAT… */
export function decodeDiablo3Folder(bytes: Uint8Array): Diablo3Folder {
  const reader = new ByteReader(bytes, folderFormat);
  reader.magicU32le(folderMagic);
  const whole = reader.table(reader.u32le(), 20);
  const parts = reader.table(reader.u32le(), 24);
  const named = readNamed(reader);
  reader.end();
  const assets = repeatable(function* (): Generator<Diablo3Asset> {
    for (const row of whole) {
      yield { snoId: new ByteReader(row, folderFormat, 16).u32le(), ckey: toHex(row.subarray(0, 16)) };
    }
    for (const row of parts) {
      const numbers = new ByteReader(row, folderFormat, 16);
      yield { snoId: numbers.u32le(), part: numbers.u32le(), ckey: toHex(row.subarray(0, 16)) };
    }
  });
  return { assetCount: whole.count + parts.count, assets, named };
}

/** Writes a folder. */
export function encodeDiablo3Folder({ assets, named }: Diablo3FolderContent): Uint8Array {
  const [whole, parts] = [new ByteWriter(), new ByteWriter()];
  let wholeCount = 0;
  let partCount = 0;
  for (const { ckey, snoId, part } of assets) {
    if (part === undefined) {
      whole.key(ckey).u32le(snoId);
      wholeCount++;
    } else {
      parts.key(ckey).u32le(snoId).u32le(part);
      partCount++;
    }
  }
  const writer = new ByteWriter().u32le(folderMagic).u32le(wholeCount).raw(whole.bytes());
  return writeNamed(writer.u32le(partCount).raw(parts.bytes()), named).bytes();
}

function readNamed(reader: ByteReader): Diablo3Named[] {
  const count = reader.count(reader.u32le(), 17);
  return Array.from({ length: count }, () => ({ ckey: reader.key(), name: reader.cstring(maxPath) }));
}

function writeNamed(writer: ByteWriter, named: readonly Diablo3Named[]): ByteWriter {
  writer.u32le(named.length);
  for (const { ckey, name } of named) writer.key(ckey).cstring(name);
  return writer;
}
