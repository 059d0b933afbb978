import { crc32 } from 'node:zlib';
import { ByteWriter } from '../../core/writer.ts';
import { DurableFile } from '../../files/durable.ts';
import { clearLost } from '../clear-way.ts';
import { derivedFooter, derivedPageSize } from './derived-file.ts';

/** How a derived file is written. */
interface WriterOptions {
  /** Bytes of a page: what is read and checked at once. */
  pageSize?: number;
  /** The mark of the file that it belongs to. */
  of?: number | undefined;
}

/** Writes a derived file, which is there whole or not at all. Needs `close`, which removes what was not finished. Throws as {@link DurableFile}. */
export class DerivedWriter {
  /** Bytes of content that were appended. */
  size = 0;
  readonly #file: DurableFile;
  readonly #temporary: string;
  readonly #pageSize: number;
  readonly #of: number;
  readonly #table = new ByteWriter();
  /** The page that is not full yet. */
  readonly #page: Buffer;
  #inPage = 0;

  /** @param temporary folder on the same file system for the temporary name */
  constructor(temporary: string, { pageSize = derivedPageSize, of = 0 }: WriterOptions = {}) {
    this.#pageSize = pageSize;
    this.#of = of;
    this.#page = Buffer.allocUnsafe(pageSize);
    this.#file = new DurableFile(temporary);
    this.#temporary = temporary;
  }

  append(bytes: Uint8Array): void {
    let at = 0;
    if (this.#inPage > 0) at = this.#addToPage(bytes.subarray(0, this.#pageSize - this.#inPage));
    const end = bytes.length - ((bytes.length - at) % this.#pageSize);
    if (at < end) this.#addPages(bytes.subarray(at, end));
    if (end < bytes.length) this.#addToPage(bytes.subarray(end));
    this.size += bytes.length;
  }

  #addToPage(bytes: Uint8Array): number {
    this.#page.set(bytes, this.#inPage);
    this.#inPage += bytes.length;
    if (this.#inPage === this.#pageSize) this.#endPage();
    return bytes.length;
  }

  #endPage(): void {
    if (this.#inPage > 0) this.#addPages(this.#page.subarray(0, this.#inPage));
    this.#inPage = 0;
  }

  /** @param pages whole ones, or a last one */
  #addPages(pages: Uint8Array): void {
    for (let at = 0; at < pages.length; at += this.#pageSize)
      this.#table.u32(crc32(pages.subarray(at, at + this.#pageSize)));
    this.#file.append(pages);
  }

  /** Brings all of it to disk, under its name. @returns its mark, for files that belong to it */
  finish(path: string): number {
    const mark = this.#end(path);
    this.#file.finish(path);
    return mark;
  }

  /** As {@link finish}, while what belongs to it is made: `isDone` when it is on disk. */
  finishMeanwhile(path: string): { mark: number; isDone: Promise<void> } {
    const mark = this.#end(path);
    return { mark, isDone: this.#file.finishMeanwhile(path) };
  }

  #end(path: string): number {
    this.#endPage();
    const table = this.#table.bytes();
    this.#file.append(table);
    const { footer, mark } = derivedFooter(path, { pageSize: this.#pageSize, size: this.size, of: this.#of, table });
    this.#file.append(footer);
    clearLost(path, this.#temporary);
    return mark;
  }

  close(): void {
    this.#file.close();
  }
}

/** Writes a derived file. @param temporary folder on the same file system @throws E_STORE_FULL, E_STORE */
export function writeDerived(path: string, bytes: Uint8Array, temporary: string, options?: WriterOptions): void {
  const file = new DerivedWriter(temporary, options);
  try {
    file.append(bytes);
    file.finish(path);
  } finally {
    file.close();
  }
}
