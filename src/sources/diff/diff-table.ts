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

/** One side of a comparison. */
export interface DiffSide {
  source: Source;
  table: DiffTable;
}

/*
 * Files of one side while they are compared, as bytes in blocks that never move: two million of them are 92 MB and their names,
 * not a gigabyte of objects.
 *
 *   0   u32  hash of what it is told apart by
 *   4   u32  file data id, 0xffffffff for none
 *   8   u32  number in the source, 0xffffffff for none
 *   12  u48  size, all ones when not known
 *   18  u8   kind of its key: 0 for none, else the number in `marks` + 1
 *   19  key  16 bytes
 *   35  u8   1 when it is done with
 *   36  u24  block of its name
 *   39  u24  offset in that block
 *   42  u32  bytes of its name, 0xffffffff for none
 */
const stride = 46;
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

  /** @param hash of what the file is told apart by @returns the number of the row */
  add(row: DiffRow, hash: number): number {
    const number = this.count;
    if (number % rowsPerBlock === 0) this.#blocks.push(Buffer.alloc(stride * rowsPerBlock));
    this.count += 1;
    const { bytes, at } = this.#row(number);
    bytes.writeUInt32BE(hash, at);
    bytes.writeUInt32BE(row.fileDataId ?? none, at + 4);
    bytes.writeUInt32BE(row.index ?? none, at + 8);
    bytes.writeUIntBE(row.size ?? noSize, at + 12, 6);
    if (row.mark !== undefined) this.setMark(number, row.mark);
    if (row.name === undefined) bytes.writeUInt32BE(none, at + 42);
    else this.#addName(row.name, bytes, at + 36);
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
    const known = (value: number, not: number): number | undefined => (value === not ? undefined : value);
    const name = this.#nameBytes(number);
    return {
      name: name?.toString('utf8'),
      fileDataId: known(bytes.readUInt32BE(at + 4), none),
      index: known(bytes.readUInt32BE(at + 8), none),
      size: known(bytes.readUIntBE(at + 12, 6), noSize),
      mark: markAt(bytes, at + 18),
    };
  }

  hash(number: number): number {
    const { bytes, at } = this.#row(number);
    return bytes.readUInt32BE(at);
  }

  setSize(number: number, size: number): void {
    const { bytes, at } = this.#row(number);
    bytes.writeUIntBE(size, at + 12, 6);
  }

  setMark(number: number, { by, key }: Mark): void {
    const { bytes, at } = this.#row(number);
    bytes[at + 18] = marks.indexOf(by) + 1;
    bytes.write(key, at + 19, 16, 'hex');
  }

  isDone(number: number): boolean {
    const { bytes, at } = this.#row(number);
    return bytes[at + 35] === 1;
  }

  setDone(number: number): void {
    const { bytes, at } = this.#row(number);
    bytes[at + 35] = 1;
  }

  #nameBytes(number: number): Buffer | undefined {
    const { bytes, at } = this.#row(number);
    const size = bytes.readUInt32BE(at + 42);
    if (size === none) return undefined;
    const start = bytes.readUIntBE(at + 39, 3);
    return this.#names[bytes.readUIntBE(at + 36, 3)]!.subarray(start, start + size);
  }

  /** Order of two rows by their names; those without a name come last, by their ids. */
  compare(number: number, other: DiffTable, otherNumber: number): number {
    const [left, right] = [this.#nameBytes(number), other.#nameBytes(otherNumber)];
    if (left !== undefined && right !== undefined) return Buffer.compare(left, right);
    if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
    const id = (table: DiffTable, row: number): number => {
      const { bytes, at } = table.#row(row);
      return bytes.readUInt32BE(at + 4);
    };
    return id(this, number) - id(other, otherNumber);
  }
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
