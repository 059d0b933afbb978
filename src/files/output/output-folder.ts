import * as fs from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { codeOf, PakratError } from '../../core/errors.ts';
import { writeAll } from '../durable.ts';
import { clearDeadTemporaries, releaseTemporary, removeTemporary, temporaryName } from '../temporary.ts';
import { outputPath } from './output-path.ts';
import { TakenNames } from './taken-names.ts';

/** The longest path that the system takes, in bytes. Whatever is longer is refused before folders are made for it. */
const maxPathBytes = { linux: 4095, darwin: 1023 }[process.platform as string] ?? 32_766;

/** Folders that were looked at, and whether each was made then. */
export type SeenFolders = Map<string, boolean>;

/** A folder that files are written into, and only into. */
export class OutputFolder {
  readonly root: string;
  #taken: TakenNames | undefined;
  #claimed = 0;
  readonly #cleared = new Set<string>();

  /** True when the folder was not there: then nothing is in it that was not written here. */
  readonly isNew: boolean;

  /**
   * Makes the folder when it is not there.
   * @param options.isKnown another thread of this process has it, and looked into it
   * @param options.claimsOnce nobody claims a path twice, whose name and identity are the same
   */
  constructor(root: string, { isKnown = false, claimsOnce = false }: { isKnown?: boolean; claimsOnce?: boolean } = {}) {
    this.#taken = new TakenNames(claimsOnce);
    this.isNew = fs.mkdirSync(root, { recursive: true }) !== undefined;
    this.root = fs.realpathSync(root);
    if (!isKnown && !this.isNew) this.#clear(this.root);
  }

  /**
   * The path for a name below the folder, kept for it from now on: no other name gets it.
   * @param identity what the name stands for, where two files may have one name
   * @throws E_UNSAFE_PATH for an unsafe name, or one that differs from an earlier one by case only
   */
  claim(name: string, identity = name): string {
    const path = outputPath(name);
    const size = this.root.length + 1 + path.length > maxPathBytes / 3 ? Buffer.byteLength(join(this.root, path)) : 0;
    if (size > maxPathBytes) {
      const problem = `a name of ${Buffer.byteLength(name)} bytes is not written: below ${this.root} the path would have ${size} bytes, and the system takes ${maxPathBytes}`;
      throw new PakratError('E_UNSAFE_PATH', problem, {
        hint: 'Leave folders away with --strip or --flat.',
        data: { name },
      });
    }
    if (this.#taken === undefined) throw new Error('a path is claimed after the last');
    const taking = this.#taken.take(path, identity);
    if (typeof taking === 'object') {
      const { other } = taking;
      const both = `${JSON.stringify(name)} and ${other === undefined ? 'a file before it' : JSON.stringify(other)}`;
      throw new PakratError('E_UNSAFE_PATH', `${both} would be the same file on some systems`, {
        data: { name, ...(other !== undefined && { other }) },
      });
    }
    if (taking === 'new') this.#claimed += 1;
    return path;
  }

  /** Gives the memory of claims back, once no path is claimed any more: of millions it is tens of megabytes. */
  endClaims(): void {
    this.#taken?.close();
    this.#taken = undefined;
  }

  /** Paths that are kept so far. */
  get claimed(): number {
    return this.#claimed;
  }

  /**
   * The file for a claimed path, its folders made. Folders on the way are looked at anew each time: a link there is refused, for it may lead out.
   * @param seen folders that were looked at within this moment; those that are come to it
   * @param isSeen what is in the place of the file itself was looked at, or its folder is new: nothing is there then but what this process wrote
   * @throws E_UNSAFE_PATH for a link on the way, or what is no plain file in the place
   */
  fileFor(path: string, seen: SeenFolders = new Map(), isSeen = false): string {
    const file = `${this.root}${this.root.endsWith(sep) ? '' : sep}${sep === '/' ? path : path.replaceAll('/', sep)}`;
    let isMade = false;
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      const folder = file.slice(0, file.length - path.length + end);
      isMade = seen.get(folder) ?? this.#folder(folder, path);
      seen.set(folder, isMade);
    }
    // Nothing was in a folder that was just made, and nobody else writes this file.
    const there = isMade || isSeen ? undefined : fs.lstatSync(file, { throwIfNoEntry: false });
    if (there !== undefined && !there.isFile()) {
      throw new PakratError('E_UNSAFE_PATH', `${file} is there and is no plain file`, { data: { path: file } });
    }
    return file;
  }

  /** @returns true when it was made here */
  #folder(folder: string, name: string): boolean {
    const there = fs.lstatSync(folder, { throwIfNoEntry: false });
    if (there === undefined) return makeFolder(folder);
    if (!there.isDirectory()) {
      throw new PakratError('E_UNSAFE_PATH', `${folder} is on the way of ${JSON.stringify(name)} and is no folder`, {
        data: { name, path: folder },
      });
    }
    this.#clear(folder);
    return false;
  }

  /** Removes what killed runs left, the first time that a folder is written into. */
  #clear(folder: string): void {
    if (this.#cleared.has(folder)) return;
    this.#cleared.add(folder);
    clearDeadTemporaries(folder);
  }
}

/** @returns false where another thread made the same folder at the same moment; what it made is looked at when the next file comes */
function makeFolder(folder: string): boolean {
  try {
    fs.mkdirSync(folder);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !fs.lstatSync(folder).isDirectory()) throw error;
    return false;
  }
}

/**
 * Writes a file so that its final name only ever has the whole of it.
 * @param pieces the content; an error among them leaves nothing behind
 * @returns bytes written
 */
export async function writeOutput(file: string, pieces: AsyncIterable<Uint8Array>, mtime?: Date): Promise<number> {
  const { name, fd } = openTemporary(file);
  let open = true;
  try {
    const size = await writePieces(fd, 0, pieces);
    if (mtime !== undefined) fs.futimesSync(fd, mtime, mtime);
    // Where that fails the system has closed it all the same, and may give its number to another thread.
    open = false;
    fs.closeSync(fd);
    fs.renameSync(name, file);
    releaseTemporary(name);
    return size;
  } catch (error) {
    if (open) fs.closeSync(fd);
    removeTemporary(name);
    throw error;
  }
}

/** As {@link writeOutput}, for content that is all there. */
export function writeWhole(file: string, content: Uint8Array): void {
  writeUnderTemporary(file, undefined, (fd) => {
    writeAll(fd, content, 0);
    return content.length;
  });
}

/**
 * As {@link writeOutput}, for pieces that come without waiting.
 * @param pieces end with false where they are nothing
 * @returns bytes written; undefined where they are nothing, which leaves nothing behind
 */
export function writeAtOnce(file: string, pieces: Generator<Uint8Array, boolean>, mtime?: Date): number | undefined {
  return writeUnderTemporary(file, mtime, (fd) => writeNow(fd, 0, pieces));
}

/** Writes a file under a temporary name. It gets its own when the work is done, and is taken away when that gives nothing. */
function writeUnderTemporary(
  file: string,
  mtime: Date | undefined,
  work: (fd: number) => number | undefined,
): number | undefined {
  const { name, fd } = openTemporary(file);
  let open = true;
  try {
    const size = work(fd);
    if (size !== undefined && mtime !== undefined) fs.futimesSync(fd, mtime, mtime);
    open = false;
    fs.closeSync(fd);
    if (size === undefined) removeTemporary(name);
    else fs.renameSync(name, file);
    releaseTemporary(name);
    return size;
  } catch (error) {
    if (open) fs.closeSync(fd);
    removeTemporary(name);
    throw error;
  }
}

const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = fs.constants;

function openTemporary(file: string): { name: string; fd: number } {
  const name = temporaryName(dirname(file), '.pakrat-');
  return { name, fd: fs.openSync(name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o666) };
}

async function writePieces(fd: number, offset: number, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const piece of pieces) {
    writeAll(fd, piece, offset + size);
    size += piece.length;
  }
  return size;
}

/** @returns bytes written; undefined where the pieces are nothing */
function writeNow(fd: number, offset: number, pieces: Generator<Uint8Array, boolean>): number | undefined {
  let size = 0;
  let next = pieces.next();
  for (; next.done !== true; next = pieces.next()) {
    writeAll(fd, next.value, offset + size);
    size += next.value.length;
  }
  return next.value ? size : undefined;
}

/** A file that is written in parts, by several threads. It has its final name when all of them are there, or never. */
export interface PartedOutput {
  /** Its name until it is finished: for {@link writePart}. */
  readonly temporary: string;
  /** Gives it its name. */
  finish(mtime: Date | undefined): void;
  /** Takes away what was written. */
  discard(): void;
}

/** Makes room for a file that is written in parts. */
export function openParted(file: string): PartedOutput {
  const { name, fd } = openTemporary(file);
  fs.closeSync(fd);
  return {
    temporary: name,
    finish(mtime) {
      if (mtime !== undefined) fs.lutimesSync(name, mtime, mtime);
      fs.renameSync(name, file);
      releaseTemporary(name);
    },
    discard() {
      removeTemporary(name);
    },
  };
}

/**
 * Writes a part of a file at its place.
 * @param temporary what {@link openParted} made
 * @returns bytes written
 */
export async function writePart(temporary: string, offset: number, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  const fd = fs.openSync(temporary, O_WRONLY | O_NOFOLLOW);
  try {
    return await writePieces(fd, offset, pieces);
  } finally {
    fs.closeSync(fd);
  }
}

/** As {@link writePart}, for pieces that come without waiting. @returns bytes written; undefined where the pieces end with false: they are nothing */
export function writePartAtOnce(
  temporary: string,
  offset: number,
  pieces: Generator<Uint8Array, boolean>,
): number | undefined {
  const fd = fs.openSync(temporary, O_WRONLY | O_NOFOLLOW);
  try {
    return writeNow(fd, offset, pieces);
  } finally {
    fs.closeSync(fd);
  }
}
