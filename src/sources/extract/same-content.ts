import * as fs from 'node:fs';
import { join } from 'node:path';
import { Md5Lanes, type Stretch } from '../../codecs/md5-lanes/index.ts';
import { toHex } from '../../core/bytes.ts';
import { codeOf } from '../../core/errors.ts';
import { md5Hasher } from '../../core/hash.ts';
import { readAt, readInto } from '../../files/read-at.ts';

/** A file that may be there already. */
interface PromisedFile {
  /** Relative path. */
  path: string;
  size: number;
  /** MD5 of its content in hex; undefined where nothing promises one. */
  md5: string | undefined;
}

/** Bytes that are hashed beside each other: of files up to that size, many at once take a third of the time. */
const roomBytes = 24 << 20;
const pageBytes = 64 << 10;
const pieceBytes = 1 << 20;

/** Finds the files that are in a folder with the content that they should have. */
export class SameContent {
  readonly #root: string;
  readonly #checkpoint: () => void;
  /** Made when a file is there at all. */
  #room: { bytes: Uint8Array; lanes: Md5Lanes } | undefined;

  /** @param checkpoint called between files; what it throws goes through */
  constructor(root: string, checkpoint: () => void) {
    this.#root = root;
    this.#checkpoint = checkpoint;
  }

  /** Those of the files that are there and right. One that cannot be read is not among them. */
  find<File extends PromisedFile>(files: readonly File[]): Set<File> {
    const same = new Set<File>();
    let waiting: { file: File; stretch: Stretch }[] = [];
    let end: number = Md5Lanes.reservedBytes;
    const judge = (): void => {
      if (waiting.length === 0) return;
      const digests = this.#lanes().lanes.digest(waiting.map(({ stretch }) => stretch));
      for (const [i, { file }] of waiting.entries())
        if (toHex(digests.subarray(i * 16, i * 16 + 16)) === file.md5) same.add(file);
      waiting = [];
      end = Md5Lanes.reservedBytes;
    };
    for (const file of files) {
      const path = join(this.#root, file.path);
      if (file.md5 === undefined || !isFileOf(path, file.size)) continue;
      this.#checkpoint();
      if (file.size > roomBytes) {
        if (this.#hashAlone(path, file.size) === file.md5) same.add(file);
        continue;
      }
      if (end + file.size > Md5Lanes.reservedBytes + roomBytes) judge();
      const stretch = { offset: end, size: file.size };
      if (!this.#readTo(path, stretch)) continue;
      waiting.push({ file, stretch });
      end += file.size;
    }
    judge();
    return same;
  }

  #lanes(): { bytes: Uint8Array; lanes: Md5Lanes } {
    if (this.#room === undefined) {
      const size = Md5Lanes.reservedBytes + roomBytes;
      const memory = new WebAssembly.Memory({ initial: Math.ceil(size / pageBytes) });
      this.#room = { bytes: new Uint8Array(memory.buffer), lanes: new Md5Lanes(memory) };
    }
    return this.#room;
  }

  #readTo(path: string, { offset, size }: Stretch): boolean {
    const { bytes } = this.#lanes();
    return withFile(path, (fd) => readInto(fd, bytes.subarray(offset, offset + size), { offset: 0, what: path }));
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

/** True for a file of a size: to open a pipe could wait for ever. */
function isFileOf(path: string, size: number): boolean {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === size;
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
