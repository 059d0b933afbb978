/*
 * Names and where their entries are, from version 10 on. Little-endian. In the nested form:
 *
 *   directories  i32, then each: name string, "/" for the root and "a/b/" below it · files i32, then each:
 *                name string · location i32
 *
 * From version 13 on it may be flat, which starts with a magic that is no number of directories:
 *
 *   magic            u32  0x50464451
 *   directories      i32
 *   files            i32
 *   restart interval i32
 *   directory bytes  i32
 *   file name bytes  i32
 *   hashes           i32
 *   padding          4
 *   sorted hashes    u64 each   \
 *   hash locations   i32 each    > for look-ups in place, not needed here
 *   anchors          i32 each   /   one per restart interval of directories, and one more
 *   first files      i32 each   number of a directory's first file, and one more
 *   name offsets     i32 each   where a file's name starts, and one more
 *   locations        i32 each
 *   directory names  each: i32 bytes shared with the name before · i32 bytes of its own · these bytes
 *   file names       without anything between them
 *
 * (Nested form checked on real files of versions 11 and 12; the flat form by CUE4Parse's description.)
 */
import { viewOf } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';
import type { NameDecoder } from '../../names.ts';
import { readFString, readOpenString } from './fstring.ts';

const flatMagic = 0x50464451;
/** From it on names of files are UTF-8, and need no NUL. */
export const utf8NamesVersion = 12;
const flatVersion = 13;
const maxDirectoryName = 4096;

/** The location of a name that was deleted. */
export const deletedLocation = -0x80000000;

/** Is told each file. */
export type OnFile = (name: string, location: number) => void;

/** The facts of a PAK that decide how the names of its directory index are read. */
export interface DirectoryFormat {
  version: number;
  decodeName: NameDecoder;
  /** Told each directory of the nested form, as stored. */
  onDirectory?: ((name: string) => void) | undefined;
}

/** Decodes a directory index of either form. Throws E_FORMAT…, and what `onFile` throws. */
export function decodeDirectoryIndex(reader: ByteReader, format: DirectoryFormat, onFile: OnFile): void {
  if (isFlatDirectory(reader, format)) decodeFlat(reader, format, onFile);
  else decodeNested(reader, format, onFile);
}

/** True for the flat form. The reader stays where it is. */
export function isFlatDirectory(reader: ByteReader, { version }: Pick<DirectoryFormat, 'version'>): boolean {
  if (version < flatVersion || reader.remaining < 4) return false;
  const start = reader.pos;
  const isFlat = reader.u32le() === flatMagic;
  reader.seek(start);
  return isFlat;
}

function decodeNested(reader: ByteReader, format: DirectoryFormat, onFile: OnFile): void {
  const directories = reader.count(reader.u32le(), 8);
  for (let i = 0; i < directories; i++) {
    const stored = readFString(reader, format.decodeName);
    format.onDirectory?.(stored);
    const directory = withoutRoot(stored);
    const files = reader.count(reader.u32le(), 8);
    for (let k = 0; k < files; k++) {
      const name = readFileName(reader, format);
      onFile(directory + name, reader.i32le());
    }
  }
}

/** Reads the name of a file in the nested form. Throws E_FORMAT…. */
export function readFileName(reader: ByteReader, { version, decodeName }: DirectoryFormat): string {
  return version >= utf8NamesVersion ? readOpenString(reader, decodeName) : readFString(reader, decodeName);
}

/** The name of a directory as names of files go on from it: the root is empty. */
export function withoutRoot(directory: string): string {
  return directory.startsWith('/') ? directory.slice(1) : directory;
}

function decodeFlat(reader: ByteReader, { decodeName }: DirectoryFormat, onFile: OnFile): void {
  reader.skip(4);
  const directories = reader.u32le();
  const files = reader.u32le();
  const restartInterval = Math.max(reader.u32le(), 1);
  const directoryBytes = reader.u32le();
  const nameBytes = reader.u32le();
  const hashes = reader.u32le();
  reader.skip(4);
  reader.skip(reader.count(hashes, 12) * 12);
  reader.skip((Math.ceil(reader.count(directories, 8) / restartInterval) + 1) * 4);
  const firstFiles = readNumbers(reader, directories + 1);
  const nameOffsets = readNumbers(reader, reader.count(files, 8) + 1);
  const locations = readNumbers(reader, files);
  const names = directoryNames(reader.sub(directoryBytes, reader.what), directories, decodeName);
  const blob = reader.take(nameBytes);
  let directory = 0;
  for (const name of names) {
    const first = firstFiles(directory++);
    const end = firstFiles(directory);
    if (first < 0 || end < first || end > files) throw badFlat(reader, `directory ${directory - 1}`);
    for (let file = first; file < end; file++) {
      const from = nameOffsets(file);
      const to = nameOffsets(file + 1);
      if (from < 0 || to < from || to > blob.length) throw badFlat(reader, `file ${file}`);
      onFile(name + decodeName(blob, from, to), locations(file));
    }
  }
}

function readNumbers(reader: ByteReader, count: number): (index: number) => number {
  const { bytes } = reader.table(count, 4);
  const view = viewOf(bytes);
  return (index) => view.getInt32(index * 4, true);
}

function* directoryNames(reader: ByteReader, count: number, decodeName: NameDecoder): Generator<string> {
  let name: Uint8Array = new Uint8Array(0);
  for (let i = 0; i < count; i++) {
    const shared = reader.u32le();
    const own = reader.take(reader.u32le());
    if (shared > name.length || shared + own.length > maxDirectoryName) throw badFlat(reader, `name of directory ${i}`);
    const next = new Uint8Array(shared + own.length);
    next.set(name.subarray(0, shared));
    next.set(own, shared);
    name = next;
    yield withoutRoot(decodeName(name, 0, name.length));
  }
}

function badFlat(reader: ByteReader, part: string): Error {
  return formatError('E_FORMAT_RANGE', reader.what, `${part} is not where it can be`, { offset: reader.pos });
}
