/*
 * The root manifest of World of Warcraft: file data id, locale and content flags → ckey. Everything is little-endian.
 *
 *   headerless (before 8.2)   blocks from the first byte on
 *   tsfm0 (8.2)               "TSFM"  u32 total  u32 named
 *   tsfm1 (10.1.7)            "TSFM"  u32 header size (24)  u32 version (1)  u32 total  u32 named  u32 zero
 *   tsfm2 (11.1)              the same, version 2
 *
 *   block header, 12 bytes    u32 rows  u32 content flags  u32 locale flags
 *   block header of tsfm2,    u32 rows  u32 locale flags  u32 c1  u32 c2  u8 c3
 *     17 bytes                  content flags = c1 | c2 | c3 << 17
 *   rows × u32                id of the row − id of the row before − 1; "before" is −1 at the start of a block
 *   headerless                rows × { ckey (16), u64 name hash }
 *   tsfm*                     rows × ckey (16), then rows × u64 name hash
 *
 * The hashes of a tsfm block are absent when its flags say noNameHash; in tsfm0 only if, besides, total ≠ named.
 * Blocks end exactly at the end of the file. `total` counts the rows of the whole root; a root that was cut behind
 * a whole block still reads, so it is not compared with the rows that are there.
 * Sources: wowdev.wiki TACT; checked on real roots of 1.13.7 (headerless) and 11.2.7 (tsfm2).
 */

/** The four forms of the root, oldest first. */
export type WowRootForm = 'headerless' | 'tsfm0' | 'tsfm1' | 'tsfm2';

/** A file of the root. Keys are views. */
export interface WowRootRow {
  fileDataId: number;
  /** 16 bytes. */
  ckey: Uint8Array;
  /** 8 bytes big-endian, as core's `nameHash` gives it. */
  nameHash?: Uint8Array | undefined;
}

/** Rows that share their flags, in ascending order of their ids: as much of a block as is needed to write it. */
export interface WowRootBlockContent {
  contentFlags: number;
  localeFlags: number;
  /** The split of the content flags in tsfm2; that of real roots when absent. */
  contentParts?: readonly [number, number, number] | undefined;
  rows: Iterable<WowRootRow>;
}

/** A block of a decoded root. Offsets are from the start of the root; row `i` of the block is at offset + i × stride. */
export interface WowRootBlock extends WowRootBlockContent {
  /** Number of rows. */
  count: number;
  /** Number of the block's first row in the whole root. */
  firstRow: number;
  /** The u32 id deltas, stride 4. */
  deltaOffset: number;
  ckeyOffset: number;
  ckeyStride: number;
  /** The u64 name hashes, or -1 when the block has none. */
  hashOffset: number;
  hashStride: number;
}

/** The start of the file. */
export interface WowRootHeader {
  form: WowRootForm;
  /** Rows of the whole root, as the header says (tsfm* only). */
  total?: number | undefined;
  /** Rows with a name hash, as the header says (tsfm* only). */
  named?: number | undefined;
}

/** A root to write. `total` and `named` are counted when absent. */
export interface WowRootContent extends WowRootHeader {
  blocks: readonly WowRootBlockContent[];
}

/** A decoded root: where its blocks are. The rows stay bytes. */
export interface WowRoot extends WowRootHeader {
  /** Rows that are there. */
  rowCount: number;
  blocks: WowRootBlock[];
  bytes: Uint8Array;
}
