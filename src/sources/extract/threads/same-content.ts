import * as fs from 'node:fs';
import { digestSize, type Stretch } from '../../../codecs/md5-lanes/index.ts';
import { isKeyAt } from '../../../core/bytes.ts';
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
/** One read may give less than there is, so many bytes a few times. Where a file seems to end elsewhere it ends: to ask again would cost a call for each file. */
const sectorBytes = 512;

/** Finds the files that are in a folder with the content that they should have. */
export class SameContent {
  readonly #root: string;
  readonly #room: Workroom;
  readonly #checkpoint: () => void;
  /** The small file that was looked for last is there. */
  #wasThere = false;

  /** @param checkpoint called between files and pieces of them; what it throws goes through */
  constructor(root: string, room: Workroom, checkpoint: () => void) {
    this.#root = root;
    this.#room = room;
    this.#checkpoint = checkpoint;
  }

  /** Those of the files that are there and right. One that cannot be read is not among them. */
  find<File extends PromisedFile>(files: readonly File[]): Set<File> {
    const large = files.filter((file) => file.size > wholeBytes && isFileOf(this.#pathOf(file), file.size));
    const small = files.filter(({ size }) => size <= wholeBytes);
    return new Set([...this.#findSmall(small), ...this.#findLarge(large)]);
  }

  /** False for what is no file of a size; to read others tells. Nothing reads as an empty file does but an empty file and a pipe. */
  #mayBe(file: PromisedFile): boolean {
    const path = this.#pathOf(file);
    if (file.size === 0 || O_NOFOLLOW === 0) return isFileOf(path, file.size);
    // Where one is there the next is, mostly; where none is, to ask costs less than the error of opening it.
    this.#wasThere ||= fs.existsSync(path);
    return this.#wasThere;
  }

  *#findSmall<File extends PromisedFile>(files: readonly File[]): Generator<File> {
    const room = this.#room;
    let waiting: (Stretch & { file: File })[] = [];
    let end = room.start;
    for (const file of files) {
      this.#checkpoint();
      if (!this.#mayBe(file)) continue;
      // With room for one byte more it shows that there is none.
      if (end + file.size >= room.bytes.length) {
        yield* sameOf(waiting, room.digests(waiting));
        waiting = [];
        end = room.start;
      }
      if (this.#read(file, { at: end, size: file.size + 1, from: 0 }) !== file.size) continue;
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
        if (this.#read(file, { at, size, from }) !== size) unread.add(file);
      },
    }));
    return sameOf(messages, this.#room.streamedDigests(messages)).filter((file) => !unread.has(file));
  }

  #pathOf({ path }: PromisedFile): string {
    return `${this.#root}/${path}`;
  }

  /** Reads a part of a file into the workroom, as far as it is there. A file that cannot be read is written anew, or that tells what is wrong. */
  #read(file: PromisedFile, { at, size, from }: { at: number; size: number; from: number }): number {
    let fd: number | undefined;
    try {
      fd = fs.openSync(this.#pathOf(file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      let done = 0;
      let more: number;
      do {
        more = fs.readSync(fd, this.#room.bytes, at + done, size - done, from + done);
        done += more;
      } while (more > 0 && done < size && (done < file.size - from || done % sectorBytes === 0));
      return done;
    } catch {
      this.#wasThere = false;
      return -1;
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
  }
}

// To open a pipe could wait for ever.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;

function isFileOf(path: string, size: number): boolean {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === size;
}

/** The files that have the digests that they should have. */
function sameOf<File extends PromisedFile>(files: readonly { file: File }[], digests: Uint8Array): File[] {
  return files.flatMap(({ file }, i) => (isKeyAt(digests, i * digestSize, file.md5) ? [file] : []));
}
