import * as fs from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { codeOf, formatError, isDiskBroken, isPakratError, PakratError, resultUnless } from '../../core/errors.ts';
import { largeBytes } from '../../core/tables/large-bytes.ts';
import { openPlain, readInto } from '../../files/read-at.ts';

/*
 * A file that was derived of other things and can be made again from them. It proves itself: its content, which begins at its first byte, is
 * followed by a CRC-32 for each page of it, and by a footer.
 *
 *   content
 *   u32 × pages         CRC-32 of each page; the last page may be short
 *   footer   u32        bytes of a page
 *            u48        bytes of the content
 *            u16        version, 1
 *            u32        mark of the file that it belongs to, 0 for none: offsets into another file fit that one alone
 *            u32        CRC-32 of the page table
 *            u32        CRC-32 of the name of the file, then of the footer so far; it is the mark of this file
 *            "PRDF"
 *
 * Whatever lacks any of it (cut, of an earlier version, moved here from another name) is damaged, and is made again.
 */
const footerSize = 28;
const markAt = 20;
const version = 1;
const magic = 'PRDF';

/** Bytes of a page where nothing asks for another size. */
export const derivedPageSize = 4096;
/** Pages that are kept once they were checked. */
const keptPages = 64;
/** Bytes that are checked at once. */
const pieceSize = 1 << 18;

/** How a derived file is opened. */
export interface DerivedOptions {
  /** The mark of the file that it must belong to. Default: any. */
  of?: number | undefined;
  /** Leave the file where it is when it is damaged. Default: it is removed, so that it is made again. */
  keep?: boolean | undefined;
}

/** The file that an error says is damaged, or undefined. */
export function damagedFile(error: unknown): string | undefined {
  if (codeOf(error) !== 'E_FORMAT_CHECKSUM' || !isPakratError(error)) return undefined;
  const { derived } = error.data;
  return typeof derived === 'string' ? derived : undefined;
}

/** True for the error of a derived file that is damaged, or not there: it is to be made. */
export function isLacking(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || damagedFile(error) !== undefined;
}

/** Opens derived files; where one is damaged or not there they are made first. @throws as both do */
export async function openDerived<Opened>(open: () => Opened, make: () => Promise<unknown>): Promise<Opened> {
  const opened = resultUnless(isLacking, open);
  if (opened !== undefined) return opened;
  await make();
  return open();
}

/** The footer of a derived file, and its mark. */
export function derivedFooter(
  path: string,
  { pageSize, size, of, table }: { pageSize: number; size: number; of: number; table: Uint8Array },
): { footer: Uint8Array; mark: number } {
  const footer = Buffer.alloc(footerSize);
  footer.writeUInt32BE(pageSize, 0);
  footer.writeUIntBE(size, 4, 6);
  footer.writeUInt16BE(version, 10);
  footer.writeUInt32BE(of, 12);
  footer.writeUInt32BE(crc32(table), 16);
  const mark = markOf(path, footer);
  footer.writeUInt32BE(mark, markAt);
  footer.write(magic, footerSize - magic.length, 'latin1');
  return { footer, mark };
}

function markOf(path: string, footer: Uint8Array): number {
  return crc32(footer.subarray(0, markAt), crc32(basename(path)));
}

/**
 * An open derived file: what is read of it was checked. Needs `close`. Every method throws E_FORMAT_CHECKSUM where it is damaged, and
 * E_FORMAT_TRUNCATED for what lies behind its content.
 */
export class DerivedFile {
  readonly path: string;
  /** Bytes of the content. */
  readonly size: number;
  readonly pageSize: number;
  /** Tells it from any other file: for those that belong to it. */
  readonly mark: number;
  readonly #fd: number;
  readonly #table: Buffer;
  readonly #keep: boolean;
  readonly #pages = new Map<number, Uint8Array>();

  /** @throws ENOENT as it comes */
  constructor(path: string, { of, keep = false }: DerivedOptions = {}) {
    this.path = path;
    this.#keep = keep;
    const opened = resultUnless(isUnreadable, () => openPlain(path));
    if (opened === undefined) throw this.damage('it is no plain file, or it cannot be read');
    const { fd, size: total } = opened;
    this.#fd = fd;
    try {
      if (total < footerSize) throw this.damage('it is cut');
      const footer = Buffer.allocUnsafe(footerSize);
      this.#fill(footer, total - footerSize);
      this.pageSize = footer.readUInt32BE(0);
      this.size = footer.readUIntBE(4, 6);
      this.mark = footer.readUInt32BE(markAt);
      const tableSize = total - footerSize - this.size;
      const isWhole =
        footer.toString('latin1', footerSize - magic.length) === magic &&
        footer.readUInt16BE(10) === version &&
        this.mark === markOf(path, footer) &&
        this.pageSize > 0 &&
        tableSize === Math.ceil(this.size / this.pageSize) * 4;
      if (!isWhole) throw this.damage('its footer is wrong');
      if (of !== undefined && footer.readUInt32BE(12) !== of) throw this.damage('it belongs to another file');
      this.#table = Buffer.allocUnsafe(tableSize);
      this.#fill(this.#table, this.size);
      if (crc32(this.#table) !== footer.readUInt32BE(16)) throw this.damage('its table is wrong');
    } catch (error) {
      fs.closeSync(this.#fd);
      throw error;
    }
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  /**
   * Bytes of the content, checked; a view that is not to be written to.
   * @param memory takes the pages that they lie in, if these are so many bytes or fewer: for those who read one part after the other
   */
  read(offset: number, size: number, memory?: Uint8Array): Uint8Array {
    if (size === 0) return new Uint8Array();
    this.#checkRange(offset, size);
    const first = Math.floor(offset / this.pageSize);
    const at = offset - first * this.pageSize;
    return this.#pagesAt(first, Math.ceil((at + size) / this.pageSize), memory).subarray(at, at + size);
  }

  /** Bytes of the content as they are: for those who check them by a hash of their own, or called {@link checkAll}. */
  readUnchecked(offset: number, size: number): Uint8Array {
    this.#checkRange(offset, size);
    const bytes = Buffer.allocUnsafe(size);
    this.#fill(bytes, offset);
    return bytes;
  }

  /** All of the content, checked. */
  readAll(): Uint8Array {
    const bytes = largeBytes(this.size);
    this.#fill(bytes, 0);
    this.#check(bytes, 0);
    return bytes;
  }

  /** As {@link readUnchecked}, into bytes that are there: as many as they are. */
  readInto(bytes: Uint8Array, offset: number): void {
    this.#checkRange(offset, bytes.length);
    this.#fill(bytes, offset);
  }

  /** As {@link readInto}, as far as the content goes. @returns bytes that were read */
  readSome(bytes: Uint8Array, offset: number): number {
    const size = Math.min(bytes.length, this.size - offset);
    this.readInto(bytes.subarray(0, size), offset);
    return size;
  }

  /** As {@link readSome}, checked: from the start of a page, and whole pages as long as there are some. */
  readPages(bytes: Uint8Array, offset: number): number {
    const size = this.readSome(bytes, offset);
    this.#check(bytes.subarray(0, size), offset / this.pageSize);
    return size;
  }

  /** Checks the content piece by piece, for those who read all of it and must not end half-way. Gives the bytes of each piece. */
  *checkAll(): Generator<number> {
    const step = Math.max(1, Math.floor(pieceSize / this.pageSize)) * this.pageSize;
    const memory = Buffer.allocUnsafe(Math.min(step, this.size));
    for (let offset = 0; offset < this.size; offset += step) {
      yield this.readPages(memory, offset);
    }
  }

  /** The error of this file being damaged. Unless it is to be kept, the file is removed. */
  damage(problem: string): PakratError {
    if (!this.#keep) removeDerived(this.path);
    return new PakratError('E_FORMAT_CHECKSUM', `${this.path} is damaged: ${problem}`, {
      hint: 'It is made again when it is needed: run the same command again.',
      data: { derived: this.path },
    });
  }

  #pagesAt(first: number, count: number, memory?: Uint8Array): Uint8Array {
    const kept = count === 1 ? this.#pages.get(first) : undefined;
    if (kept !== undefined) return kept;
    const offset = first * this.pageSize;
    const size = Math.min(count * this.pageSize, this.size - offset);
    const isGiven = memory !== undefined && memory.length >= size;
    const make = count === 1 ? Buffer.allocUnsafe : largeBytes;
    const bytes = isGiven ? memory.subarray(0, size) : make(size);
    this.#fill(bytes, offset);
    this.#check(bytes, first);
    if (count === 1 && !isGiven) this.#keepPage(first, bytes);
    return bytes;
  }

  #keepPage(page: number, bytes: Uint8Array): void {
    const [oldest] = this.#pages.size < keptPages ? [] : this.#pages.keys();
    if (oldest !== undefined) this.#pages.delete(oldest);
    this.#pages.set(page, bytes);
  }

  /** @param first number of the page at which the bytes begin */
  #check(bytes: Uint8Array, first: number): void {
    for (let at = 0, page = first; at < bytes.length; at += this.pageSize, page++) {
      if (crc32(bytes.subarray(at, at + this.pageSize)) !== this.#table.readUInt32BE(page * 4)) {
        throw this.damage(`the page at offset ${page * this.pageSize} is wrong`);
      }
    }
  }

  #checkRange(offset: number, size: number): void {
    if (offset >= 0 && offset + size <= this.size) return;
    throw formatError('E_FORMAT_TRUNCATED', this.path, `it has no ${size} bytes`, { offset });
  }

  #fill(bytes: Uint8Array, offset: number): void {
    const read = resultUnless(
      (error) => isDiskBroken(error) || codeOf(error) === 'E_FORMAT_TRUNCATED',
      () => {
        readInto(this.#fd, bytes, { offset, what: this.path });
        return true;
      },
    );
    if (read === undefined) throw this.damage(`the ${bytes.length} bytes at offset ${offset} cannot be read`);
  }
}

function isUnreadable(error: unknown): boolean {
  return codeOf(error) === 'EISDIR' || isDiskBroken(error);
}

/** Removes a derived file, so that it is made again; one that cannot be removed stays. */
export function removeDerived(path: string): void {
  try {
    fs.rmSync(path, { recursive: true, force: true });
  } catch {
    // In a store that is only read: whoever needs the file is told.
  }
}

/** All of a derived file, checked. @throws E_FORMAT_CHECKSUM, ENOENT as it comes */
export function readDerived(path: string, options?: DerivedOptions): Uint8Array {
  const file = new DerivedFile(path, options);
  try {
    return file.readAll();
  } finally {
    file.close();
  }
}
