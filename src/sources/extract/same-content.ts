import * as fs from 'node:fs';
import type { Stretch } from '../../codecs/md5-lanes/index.ts';
import { toHex } from '../../core/bytes.ts';
import { codeOf } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import { readAt } from '../../files/read-at.ts';
import type { Workroom } from './workroom.ts';

/** A file that may be there already. */
interface PromisedFile {
  /** Relative path. */
  path: string;
  size: number;
  /** MD5 of its content in hex. */
  md5: string;
}

const pieceBytes = 1 << 20;

/** Finds the files that are in a folder with the content that they should have. */
export class SameContent {
  readonly #root: string;
  readonly #room: Workroom;
  readonly #checkpoint: () => void;

  /** @param checkpoint called between files; what it throws goes through */
  constructor(root: string, room: Workroom, checkpoint: () => void) {
    this.#root = root;
    this.#room = room;
    this.#checkpoint = checkpoint;
  }

  /** Those of the files that are there and right. One that cannot be read is not among them. */
  find<File extends PromisedFile>(files: readonly File[]): Set<File> {
    const same = new Set<File>();
    let waiting: (Stretch & { file: File })[] = [];
    const room = this.#room;
    let end = room.start;
    const judge = (): void => {
      if (waiting.length === 0) return;
      const digests = this.#room.digests(waiting);
      for (const [i, { file }] of waiting.entries())
        if (toHex(digests.subarray(i * 16, i * 16 + 16)) === file.md5) same.add(file);
      waiting = [];
      end = room.start;
    };
    for (const file of files) {
      const path = `${this.#root}/${file.path}`;
      const stat = fs.lstatSync(path, { throwIfNoEntry: false });
      // To open a pipe could wait for ever.
      if (stat?.isFile() !== true || stat.size !== file.size) continue;
      this.#checkpoint();
      if (file.size > room.size) {
        if (this.#hashAlone(path, file.size) === file.md5) same.add(file);
        continue;
      }
      if (end + file.size > room.bytes.length) judge();
      if (!withFile(path, (fd) => readWhole(fd, room.bytes, { at: end, size: file.size }))) continue;
      waiting.push({ file, offset: end, size: file.size });
      end += file.size;
    }
    judge();
    return same;
  }

  #hashAlone(path: string, size: number): string | undefined {
    const hash = md5Hasher();
    const isRead = withFile(path, (fd) => {
      for (let done = 0; done < size; done += pieceBytes) {
        this.#checkpoint();
        hash.update(readAt(fd, done, Math.min(pieceBytes, size - done), path));
      }
    });
    return isRead ? toHex(hash.digest()) : undefined;
  }
}

function readWhole(fd: number, bytes: Uint8Array, { at, size }: { at: number; size: number }): void {
  for (let done = 0; done < size; ) {
    const more = fs.readSync(fd, bytes, at + done, size - done, done);
    if (more === 0) throw new Error('the file was cut meanwhile');
    done += more;
  }
}

/** Runs work with an open file. @returns false where it cannot be read: then it is written anew, or that tells what is wrong */
function withFile(path: string, work: (fd: number) => void): boolean {
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, 'r');
    work(fd);
    return true;
  } catch (error) {
    if (codeOf(error) === 'E_ABORTED') throw error;
    return false;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}
