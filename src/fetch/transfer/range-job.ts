import type { ErrorData } from '../../core/errors.ts';
import type { PartialFile } from '../../store/partial-file.ts';

/** An entry that is to be fetched as part of a range. */
export interface RangeTarget {
  /** Hex. */
  ekey: string;
  /** Offset of its first byte in the object. */
  offset: number;
  /** Encoded size. */
  size: number;
  /** Bytes from its start that the store holds already, verified. */
  held: number;
  /** A patch: no BLTE, its key is the MD5 of its bytes. */
  raw?: boolean;
}

/** A stretch of one object that is fetched in one go, with the entries in it that are wanted; all of them BLTE, or none. */
export interface RangeJob extends PartialFile {
  /** Path of the object below a host, and in the ledger. Its bytes go to its file at the same offsets. */
  path: string;
  start: number;
  end: number;
  /** In the order of their offsets, none overlapping another. */
  targets: readonly RangeTarget[];
  /** Take an answer that is the whole object, for hosts that know no ranges. */
  allowWhole?: boolean;
  /** Other hosts can be asked: one that is far slower than others is given up. */
  hasAlternatives?: boolean;
  /** Bytes of wrong entries to read past for what lies behind them. Absent: none, three in a row end the answer. */
  patience?: number;
  /** The key that the object is encrypted with as a whole. */
  objectKey?: Uint8Array | undefined;
}

/** The outcome of a job on one host. */
export interface RangeResult {
  /** For each target the bytes from its start that are verified now. */
  verified: ArrayLike<number>;
  /** Bytes of entries that came wrong. */
  wrongBytes: number;
  /** The host answered a range as it was asked. */
  rangeServed: boolean;
  /** The first thing that was wrong with the host's answer, or that went wrong here. */
  error?: { code: string; message: string; hint: string | undefined; data: ErrorData } | undefined;
}
