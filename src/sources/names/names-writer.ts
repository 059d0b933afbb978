import * as fs from 'node:fs';
import { compareNames } from '../../core/names/name-order.ts';
import { openTemporary, writeAll } from '../../files/durable.ts';
import { removeTemporary } from '../../files/temporary.ts';
import { fieldEnd, lineEnd, markEvery, type NameFile, type NameMark, windowSize } from './name-index.ts';

/** Writes the file of a {@link NameIndex}, a temporary one. */
export class NamesWriter {
  readonly #path: string;
  readonly #fd: number;
  readonly #marks: NameMark[] = [];
  readonly #memory = Buffer.allocUnsafe(windowSize);
  #used = 0;
  #written = 0;
  #count = 0;
  #last: string | undefined;
  #sortedEnd: number | undefined;

  constructor(folder: string) {
    const { name, fd } = openTemporary(folder);
    this.#path = name;
    this.#fd = fd;
  }

  /**
   * Adds a name that is not before the last; from the first that is, they are not in order. One that comes again is the same file.
   * @param other what is to be known beside it
   */
  add(name: string, { other, index }: { other: string; index?: number | undefined }): void {
    if (name === this.#last && index === undefined) return;
    const at = this.#written + this.#used;
    if (this.#last !== undefined && this.#sortedEnd === undefined && compareNames(name, this.#last) < 0)
      this.#sortedEnd = at;
    this.#last = name;
    this.#count += 1;
    const isOther = other !== name || index !== undefined;
    const most = 3 * (name.length + other.length) + 16;
    if (this.#used + most > this.#memory.length) this.#flush();
    // Longer than all of the memory: it is cut, and found by its beginning.
    if (most > this.#memory.length) return;
    const start = this.#used;
    this.#put(name);
    const mark = this.#marks.at(-1);
    if (this.#sortedEnd === undefined && (mark === undefined || at - mark.at >= markEvery))
      this.#marks.push({ at, name: Buffer.from(this.#memory.subarray(start, this.#used)) });
    if (isOther) {
      this.#memory[this.#used++] = fieldEnd;
      this.#put(other);
    }
    if (index !== undefined) {
      this.#memory[this.#used++] = fieldEnd;
      this.#put(String(index));
    }
    this.#memory[this.#used++] = lineEnd;
  }

  #put(text: string): void {
    this.#used += this.#memory.write(text, this.#used, 'utf8');
  }

  #flush(): void {
    writeAll(this.#fd, this.#memory.subarray(0, this.#used), this.#written);
    this.#written += this.#used;
    this.#used = 0;
  }

  finish(): NameFile {
    this.#flush();
    const size = this.#written;
    return {
      path: this.#path,
      fd: this.#fd,
      size,
      count: this.#count,
      sortedEnd: this.#sortedEnd ?? size,
      marks: this.#marks,
    };
  }

  discard(): void {
    fs.closeSync(this.#fd);
    removeTemporary(this.#path);
  }
}
