import type { Source } from '../source.ts';

/** A mark of the content of a file, known without reading it. */
export interface Mark {
  /** `md5`: of the content. `keys`: what a build makes the file of. `sha1`: the bytes as they are stored. */
  by: 'md5' | 'keys' | 'sha1';
  /** 32 hex digits. */
  key: string;
}

/** A file of one side of a comparison. */
export interface DiffRow {
  /** Undefined for a file that is known by its id only. */
  name: string | undefined;
  fileDataId: number | undefined;
  /** Its number in the source, where it has one. */
  index: number | undefined;
  /** Decoded; undefined when nothing tells. */
  size: number | undefined;
  mark: Mark | undefined;
}

/** One side of a comparison: its source, and those of its files that are found to differ. */
export interface DiffSide {
  source: Source;
  table: DiffTable;
}

/*
 * Files of one side that differ, as bytes in blocks that never move: two million of them are 82 MB and their names, not a gigabyte of objects.
 *
 *   0   u32  file data id, 0xffffffff for none
 *   4   u32  number in the source, 0xffffffff for none
 *   8   u48  size, all ones when not known
 *   14  u8   kind of its key: 0 for none, else the number in `marks` + 1
 *   15  key  16 bytes
 *   31  u24  block of its name
 *   34  u24  offset in that block
 *   37  u32  bytes of its name, 0xffffffff for none
 */
const stride = 41;
const [sizeAt, keyAt] = [8, 14];
/** Bytes of what is known of a file beside its name: all up to there. */
export const factsSize = 31;
const [nameAt, nameSizeAt] = [factsSize, factsSize + 6];
const rowsPerBlock = 1 << 15;
const nameBlockSize = 1 << 20;
const none = 0xffffffff;
const noSize = 0xffffffffffff;
const marks = ['md5', 'keys', 'sha1'] as const;

/** Many files in little memory. */
export class DiffTable {
  count = 0;
  readonly #blocks: Buffer[] = [];
  readonly #names: Buffer[] = [];
  #nameEnd = nameBlockSize;

  /** @returns the number of the row */
  add(row: DiffRow): number {
    const number = this.count;
    if (number % rowsPerBlock === 0) this.#blocks.push(Buffer.alloc(stride * rowsPerBlock));
    this.count += 1;
    const { bytes, at } = this.#row(number);
    writeFacts(bytes, at, row);
    if (row.name === undefined) bytes.writeUInt32BE(none, at + nameSizeAt);
    else this.#addName(row.name, bytes, at + nameAt);
    return number;
  }

  #row(number: number): { bytes: Buffer; at: number } {
    return { bytes: this.#blocks[Math.floor(number / rowsPerBlock)]!, at: (number % rowsPerBlock) * stride };
  }

  #addName(name: string, bytes: Buffer, at: number): void {
    const size = Buffer.byteLength(name);
    if (this.#nameEnd + size > nameBlockSize) {
      this.#names.push(Buffer.allocUnsafeSlow(Math.max(size, nameBlockSize)));
      this.#nameEnd = 0;
    }
    const block = this.#names.length - 1;
    this.#names[block]!.write(name, this.#nameEnd);
    bytes.writeUIntBE(block, at, 3);
    bytes.writeUIntBE(this.#nameEnd, at + 3, 3);
    bytes.writeUInt32BE(size, at + 6);
    // A name that fills more than a block ends it, too: offsets stay small.
    this.#nameEnd = Math.min(this.#nameEnd + size, nameBlockSize);
  }

  /** A row as an object. */
  at(number: number): DiffRow {
    const { bytes, at } = this.#row(number);
    return { name: this.#nameBytes(number)?.toString('utf8'), ...factsAt(bytes, at) };
  }

  setSize(number: number, size: number): void {
    const { bytes, at } = this.#row(number);
    bytes.writeUIntBE(size, at + sizeAt, 6);
  }

  #nameBytes(number: number): Buffer | undefined {
    const { bytes, at } = this.#row(number);
    const size = bytes.readUInt32BE(at + nameSizeAt);
    if (size === none) return undefined;
    const start = bytes.readUIntBE(at + nameAt + 3, 3);
    return this.#names[bytes.readUIntBE(at + nameAt, 3)]!.subarray(start, start + size);
  }

  /** Order of two rows by their names; those without a name come last, by their ids. */
  compare(number: number, other: DiffTable, otherNumber: number): number {
    const [left, right] = [this.#nameBytes(number), other.#nameBytes(otherNumber)];
    if (left !== undefined && right !== undefined) return Buffer.compare(left, right);
    if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
    const id = (table: DiffTable, row: number): number => {
      const { bytes, at } = table.#row(row);
      return bytes.readUInt32BE(at);
    };
    return id(this, number) - id(other, otherNumber);
  }
}

/** Writes what is known of a file beside its name, {@link factsSize} bytes, over whatever is there. */
export function writeFacts(bytes: Buffer, at: number, { fileDataId, index, size, mark }: DiffRow): void {
  bytes.writeUInt32BE(fileDataId ?? none, at);
  bytes.writeUInt32BE(index ?? none, at + 4);
  bytes.writeUIntBE(size ?? noSize, at + sizeAt, 6);
  bytes[at + keyAt] = mark === undefined ? 0 : marks.indexOf(mark.by) + 1;
  if (mark !== undefined) bytes.write(mark.key, at + keyAt + 1, 16, 'hex');
}

/** What {@link writeFacts} wrote. */
export function factsAt(bytes: Buffer, at: number): Omit<DiffRow, 'name'> {
  const known = (value: number, not: number): number | undefined => (value === not ? undefined : value);
  return {
    fileDataId: known(bytes.readUInt32BE(at), none),
    index: known(bytes.readUInt32BE(at + 4), none),
    size: known(bytes.readUIntBE(at + sizeAt, 6), noSize),
    mark: markAt(bytes, at + keyAt),
  };
}

function markAt(bytes: Buffer, at: number): Mark | undefined {
  const by = marks[bytes[at]! - 1];
  return by === undefined ? undefined : { by, key: bytes.toString('hex', at + 1, at + 17) };
}

/** The name of a row; `fdid:N` for one that is known by its id only. */
export function nameOf({ name, fileDataId }: Pick<DiffRow, 'name' | 'fileDataId'>): string {
  return name ?? `fdid:${fileDataId}`;
}

/**
 * The fact that told that two files are equal, or that they are not: the MD5 of the content that both sides know, the keys of the parts that builds
 * make them of, the SHA-1 of the bytes as they are stored, the size, or the content itself.
 */
export type DecidedBy = 'md5' | 'keys' | 'sha1' | 'size' | 'content';

/** True or false for equal files, and the fact that told so. */
export interface Verdict {
  same: boolean;
  by: DecidedBy;
}

/** The verdict of the rows alone; undefined when the contents must be read. */
export function compareRows(before: DiffRow, after: DiffRow): Verdict | undefined {
  const [left, right] = [before.mark, after.mark];
  const bothMd5 = left?.by === 'md5' && right?.by === 'md5';
  if (bothMd5 && left.key !== right.key) return { same: false, by: 'md5' };
  const sizesKnown = before.size !== undefined && after.size !== undefined;
  if (sizesKnown && before.size !== after.size) return { same: false, by: 'size' };
  if (bothMd5) return { same: true, by: 'md5' };
  if (sizesKnown && before.size === 0) return { same: true, by: 'size' };
  if (left === undefined || right === undefined) return undefined;
  const equal = left.by === right.by && left.key === right.key;
  if (left.by === 'keys' || right.by === 'keys') return { same: equal, by: 'keys' };
  // Equal contents may be stored in different ways: only the same stored bytes tell.
  return equal ? { same: true, by: 'sha1' } : undefined;
}

/** A file whose name only one side knows has no other name there. */
export function isRenamed({ name: before }: DiffRow, { name: after }: DiffRow): boolean {
  return before !== undefined && after !== undefined && before !== after;
}
