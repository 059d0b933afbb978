import * as fs from 'node:fs';
import type { Stretch } from '../../codecs/md5-lanes/index.ts';
import { toHex } from '../../core/bytes.ts';
import type { Workroom } from './workroom.ts';

/** A file that may be there already. */
interface PromisedFile {
  /** Relative path. */
  path: string;
  size: number;
  /** MD5 of its content in hex. */
  md5: string;
}

/** Larger files are read piece by piece. */
const wholeBytes = 1 << 20;

/** Finds the files that are in a folder with the content that they should have. */
export class SameContent {
  readonly #root: string;
  readonly #room: Workroom;
  readonly #checkpoint: () => void;

  /** @param checkpoint called between files and pieces of them; what it throws goes through */
  constructor(root: string, room: Workroom, checkpoint: () => void) {
    this.#root = root;
    this.#room = room;
    this.#checkpoint = checkpoint;
  }

  /** Those of the files that are there and right. One that cannot be read is not among them. */
  find<File extends PromisedFile>(files: readonly File[]): Set<File> {
    const there = files.filter((file) => isFileOf(this.#pathOf(file), file.size));
    const large = there.filter(({ size }) => size > wholeBytes);
    const small = there.filter(({ size }) => size <= wholeBytes);
    return new Set([...this.#findSmall(small), ...this.#findLarge(large)]);
  }

  *#findSmall<File extends PromisedFile>(files: readonly File[]): Generator<File> {
    const room = this.#room;
    let waiting: (Stretch & { file: File })[] = [];
    let end = room.start;
    for (const file of files) {
      this.#checkpoint();
      if (end + file.size > room.bytes.length) {
        yield* sameOf(waiting, room.digests(waiting));
        waiting = [];
        end = room.start;
      }
      if (!this.#read(file, { at: end, size: file.size, from: 0 })) continue;
      waiting.push({ file, offset: end, size: file.size });
      end += file.size;
    }
    yield* sameOf(waiting, room.digests(waiting));
  }

  #findLarge<File extends PromisedFile>(files: readonly File[]): File[] {
    const unread = new Set<File>();
    const messages = files.map((file) => ({
      file,
      size: file.size,
      bring: (at: number, size: number, from: number): void => {
        this.#checkpoint();
        if (!this.#read(file, { at, size, from })) unread.add(file);
      },
    }));
    return sameOf(messages, this.#room.streamedDigests(messages)).filter((file) => !unread.has(file));
  }

  #pathOf({ path }: PromisedFile): string {
    return `${this.#root}/${path}`;
  }

  /** Reads a part of a file into the workroom; false where it cannot be read: then it is written anew, or that tells what is wrong. */
  #read(file: PromisedFile, { at, size, from }: { at: number; size: number; from: number }): boolean {
    let fd: number | undefined;
    try {
      fd = fs.openSync(this.#pathOf(file), 'r');
      return fs.readSync(fd, this.#room.bytes, at, size, from) === size;
    } catch {
      return false;
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
  }
}

/** True for a file of a size: to open a pipe could wait for ever. */
function isFileOf(path: string, size: number): boolean {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === size;
}

/** The files that have the digests that they should have. */
function sameOf<File extends PromisedFile>(files: readonly { file: File }[], digests: Uint8Array): File[] {
  return files.flatMap(({ file }, i) => (toHex(digests.subarray(i * 16, i * 16 + 16)) === file.md5 ? [file] : []));
}
