import { type Format, startsWith } from '../../format.ts';
import { tvfsWhat } from './limits.ts';

/*
 * TVFS, the TACT virtual file system: a manifest that maps paths to encoded files. All numbers are big-endian.
 *
 *   0x00  "TVFS"
 *   0x04  u8   version (1)
 *   0x05  u8   header size: 46, or 38 without the espec table
 *   0x06  u8   ekey size (9: the leading bytes of the ekey)
 *   0x07  u8   patch key size (9)
 *   0x08  u32  flags, see TvfsFlags
 *   0x0C  u32  path table offset      0x10  u32  its size
 *   0x14  u32  VFS table offset       0x18  u32  its size
 *   0x1C  u32  container table offset 0x20  u32  its size
 *   0x24  u16  greatest depth of folders in the path table
 *   0x26  u32  espec table offset     0x2A  u32  its size; both only with the flag `especs`
 *
 * Path table, a stream of entries:
 *   00        optional: a separator stands before the name
 *   u8, name  its size, 1 to 254, and that many bytes; absent when an FF follows
 *   00        optional: a separator stands behind the name
 *   FF, u32   the node. Bit 31 set: a folder, whose entries follow; the other bits are its size with these four bytes.
 *             Else a file: its offset in the VFS table.
 *   An entry that no FF follows is a prefix of the next ones, with a separator behind it, up to and with the next node.
 *   Names are cut anywhere, not only at separators. A nameless folder wraps the whole table.
 *
 * VFS table, an entry per file:
 *   u8   number of spans, 1 to 224; 225 to 254 something else; 255 a deleted file
 *   then for each span  u32 offset of the span in the file   u32 its size   container offset (see `offsetWidth`)
 *
 * Container table, an entry per encoded file, found by its byte offset; the size varies:
 *   ekey, u32 encoded size
 *   offset in the espec table (see `offsetWidth`)   with `especs`
 *   u32 content size
 *   ckey (16)                                       with `ckeys`
 *   u8 number of patches, and for each              with `patches`
 *     source ekey, u32 source size, patch key, u32 patch size, u8 order
 *
 * Espec table: strings, each with a NUL behind it.
 * Sources: wowdev.wiki TVFS and CascLib; with flags 7, and without separators, checked on a real manifest of WoW Classic Era.
 */

/** Bits of the header's flags. */
export const TvfsFlags = {
  /** Container entries have a ckey. */
  ckeys: 0x1,
  /** Container entries name their espec, and there is a table of them ("write support"). */
  especs: 0x2,
  /** Container entries have patches. */
  patches: 0x4,
  /** All paths are in lower-case ASCII. */
  lowerCase: 0x8,
} as const;

/** Told by its magic. */
export const tvfsFormat: Format = { name: tvfsWhat, matches: startsWith('TVFS') };

/**
 * The two arrangements that are known. `folders`: each folder of the paths is a folder of the path table, container entries stand as they
 * come, and the container table before the especs. `prefixes`, as official manifests are: the path table is cut at every shared prefix,
 * container entries are sorted by ekey, and the especs stand before them.
 */
export type TvfsForm = 'folders' | 'prefixes';

/** The place of a table in the manifest, in bytes. */
export interface TvfsTable {
  offset: number;
  size: number;
}

/** The header, as read. */
export interface TvfsHeader {
  version: number;
  headerSize: number;
  ekeySize: number;
  patchKeySize: number;
  flags: number;
  pathTable: TvfsTable;
  vfsTable: TvfsTable;
  containerTable: TvfsTable;
  maxDepth: number;
  /** Absent without the flag `especs`. */
  especTable?: TvfsTable;
}

/** A patch that makes the container's content out of an older one. */
export interface TvfsPatch {
  sourceEkey: Uint8Array;
  sourceSize: number;
  patchKey: Uint8Array;
  patchSize: number;
  order: number;
}

/** A piece of a file. Keys are views of the manifest. */
export interface TvfsSpan {
  /** Offset of the piece in the file. */
  offset: number;
  /** Bytes of the piece. */
  size: number;
  /** The leading bytes of the ekey, 9 typically. */
  ekey: Uint8Array;
  /** Size of the encoded object. */
  encodedSize: number;
  /** Size of the decoded object. */
  contentSize: number;
  ckey?: Uint8Array;
  espec?: string;
  /** Absent when there are none. */
  patches?: TvfsPatch[];
}

/** An entry of the manifest. */
export interface TvfsFile {
  /** Parts joined with '/'. */
  path: string;
  /** Only a `file` has content; `other` is of unknown meaning. */
  kind: 'file' | 'other' | 'deleted';
  /** The count byte: the number of spans for a `file`, else the mark that gives the kind. */
  count: number;
  /** The pieces in order; none unless it is a `file`. */
  spans: TvfsSpan[];
}
