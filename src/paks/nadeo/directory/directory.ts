/*
 * The directory inside the header of a NadeoPak, the same in all versions but for three fields of a file.
 *
 *   folder count   u32
 *   folders        parent i32 (-1: none) · name string, with a trailing backslash
 *   -- feedback is mixed here: characters 2 and 3 of the third folder's name as UTF-16, when it has more than 4 --
 *   file count     u32
 *   files          folder i32 (-1: none) · name string · unknown u32 (0xFFFFFFFF: unset) · size u32 · stored size u32 ·
 *                  offset u32 (from the start of the data) · class id u32 · [17+: slot size u32] ·
 *                  [14+: checksum 16] · flags u64
 *
 * (Mania Tech Wiki, PAK; slot size and checksum as seen in packs of version 18.)
 */
import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import type { NameDecoder } from '../../names.ts';
import { readString, writeString } from './strings.ts';

/** Nesting and path sizes beyond these are taken for damage. */
const maxDepth = 64;
const maxPathLength = 1024;
const maxNameBytes = 0xffff;
const minFolderBytes = 8;
const noFolder = -1;

/** Bits of a file's flags. */
export const fileFlag = {
  isHashed: 1n,
  publishFid: 2n,
  compressionMask: 0x3cn,
  isSeekable: 0x40n,
  dontUseDummyWrite: 1n << 32n,
  publicFile: 1n << 49n,
  forceNoCrypt: 1n << 50n,
} as const;

/** One folder of a directory. */
export interface FolderRecord {
  /** Index of the folder around it, -1 for none. */
  parent: number;
  /** As stored; with a trailing backslash, as the game writes it. */
  name: string;
}

/** One file of a directory. */
export interface FileRecord {
  /** Index of its folder, -1 for none. */
  folder: number;
  /** As stored; may hold backslashes. */
  name: string;
  /** Not understood; 0xFFFFFFFF when unset. */
  unknown: number;
  /** Bytes after decoding. */
  size: number;
  /** Bytes of the compressed stream, without IV and padding; equal to `size` when not compressed. */
  compressedSize: number;
  /** From the start of the data section. */
  offset: number;
  classId: number;
  /** Version 17 and above: bytes of the file's slot: IV, content, padding. */
  slotSize?: number | undefined;
  /** Version 14 and above, 16 bytes: MD5 of the slot in the game's own packs. */
  checksum?: Uint8Array | undefined;
  flags: bigint;
}

/** The folders and files of a directory, in the order in which they are stored. */
export interface DirectoryRecords {
  folders: FolderRecord[];
  files: FileRecord[];
}

/** The form of a directory, and what is told while it is read. */
export interface DirectoryOptions {
  version: number;
  /** Size of the whole header: counts that cannot fit are refused at once, whatever part of it is there. */
  headerSize: number;
  decodeText?: NameDecoder | undefined;
  /** Called between folders and files, with the offset behind the folders: where the header mixes its feedback. */
  afterFolders?: ((folders: readonly FolderRecord[], offset: number) => void) | undefined;
}

/** Decodes folders and files. Throws E_FORMAT_RANGE or E_FORMAT_TRUNCATED. */
export function decodeDirectory(reader: ByteReader, options: DirectoryOptions): DirectoryRecords {
  const folders = decodeFolders(reader, options);
  options.afterFolders?.(folders, reader.pos);
  return { folders, files: decodeFiles(reader, folders.length, options) };
}

function decodeFolders(reader: ByteReader, { headerSize, decodeText }: DirectoryOptions): FolderRecord[] {
  const count = plausibleCount(reader, 'folders', Math.floor(headerSize / minFolderBytes));
  reader.count(count, minFolderBytes);
  const folders: FolderRecord[] = [];
  for (let i = 0; i < count; i++) {
    const parent = folderIndex(reader, count);
    folders.push({ parent, name: readString(reader, maxNameBytes, decodeText) });
  }
  return folders;
}

function decodeFiles(reader: ByteReader, folderCount: number, options: DirectoryOptions): FileRecord[] {
  const { version, headerSize, decodeText } = options;
  const minBytes = 36 + (version >= 17 ? 4 : 0) + (version >= 14 ? 16 : 0);
  const count = plausibleCount(reader, 'files', Math.floor(headerSize / minBytes));
  reader.count(count, minBytes);
  const files: FileRecord[] = [];
  for (let i = 0; i < count; i++) {
    files.push({
      folder: folderIndex(reader, folderCount),
      name: readString(reader, maxNameBytes, decodeText),
      unknown: reader.u32le(),
      size: reader.u32le(),
      compressedSize: reader.u32le(),
      offset: reader.u32le(),
      classId: reader.u32le(),
      slotSize: version >= 17 ? reader.u32le() : undefined,
      checksum: version >= 14 ? reader.take(16).slice() : undefined,
      flags: reader.u64leBig(),
    });
  }
  return files;
}

/** The mirror of {@link decodeDirectory}. */
export function encodeDirectory(writer: ByteWriter, { folders, files }: DirectoryRecords, version: number): void {
  encodeFolders(writer, folders);
  writer.u32le(files.length);
  for (const file of files) encodeFile(writer, file, version);
}

/** Writes the folders of a directory, with their count; the count of its files follows. */
export function encodeFolders(writer: ByteWriter, folders: readonly FolderRecord[]): void {
  writer.u32le(folders.length);
  for (const { parent, name } of folders) writeString(writer.i32le(parent), name);
}

/** Writes the next file of a directory. */
export function encodeFile(writer: ByteWriter, file: FileRecord, version: number): void {
  writeString(writer.i32le(file.folder), file.name);
  writer.u32le(file.unknown).u32le(file.size).u32le(file.compressedSize).u32le(file.offset).u32le(file.classId);
  if (version >= 17) writer.u32le(file.slotSize ?? 0);
  if (version >= 14) writer.raw(file.checksum ?? new Uint8Array(16));
  writer.u64le(file.flags);
}

/** The bytes that the header mixes into the feedback between folders and files, or undefined for none. */
export function directoryFeedback(folders: readonly FolderRecord[]): Uint8Array | undefined {
  const name = folders[2]?.name;
  if (name === undefined || name.length <= 4) return undefined;
  const third = name.charCodeAt(2);
  const fourth = name.charCodeAt(3);
  return Uint8Array.of(third & 0xff, third >>> 8, fourth & 0xff, fourth >>> 8);
}

/**
 * The whole path of each folder, with backslashes and a trailing one.
 * @throws E_FORMAT for folders that contain themselves, E_FORMAT_RANGE for paths too deep or too long
 */
export function folderPaths(folders: readonly FolderRecord[]): string[] {
  const paths: (string | undefined)[] = [];
  const pathOf = (index: number, depth: number): string => {
    const folder = folders[index];
    if (folder === undefined) return '';
    const known = paths[index];
    if (known !== undefined) return known;
    if (depth > maxDepth) throw formatError('E_FORMAT', 'NadeoPak folders', `folder ${index} never reaches the root`);
    const { parent, name } = folder;
    const path = pathOf(parent, depth + 1) + (name === '' || name.endsWith('\\') ? name : `${name}\\`);
    if (path.length > maxPathLength) {
      const problem = `the path of folder ${index} has ${path.length} characters`;
      throw formatError('E_FORMAT_RANGE', 'NadeoPak folders', problem);
    }
    paths[index] = path;
    return path;
  };
  return folders.map((_, index) => pathOf(index, 1));
}

function plausibleCount(reader: ByteReader, noun: string, limit: number): number {
  const offset = reader.pos;
  const count = reader.u32le();
  if (count > limit) {
    throw formatError('E_FORMAT_RANGE', reader.what, `a header of this size cannot hold ${count} ${noun}`, { offset });
  }
  return count;
}

function folderIndex(reader: ByteReader, count: number): number {
  const offset = reader.pos;
  const index = reader.i32le();
  if (index < noFolder || index >= count) {
    throw formatError('E_FORMAT_RANGE', reader.what, `folder ${index} of ${count}`, { offset });
  }
  return index;
}
