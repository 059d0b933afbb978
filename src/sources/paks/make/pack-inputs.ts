import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { breathe } from '../../../core/breathe.ts';
import { codeOf, PakratError } from '../../../core/errors.ts';
import { storeError } from '../../../files/durable.ts';
import { fileSource } from '../../../files/file-source.ts';
import { readPieces } from '../../../files/pieces.ts';
import { decodeList, readList } from '../../../files/text-list.ts';
import { refuseUnnamed, type WhyNot, walkFiles } from '../../../files/walk.ts';
import { cleanName } from '../../../paks/names.ts';
import type { PackFile } from '../../../paks/packing.ts';

/*
 * A list of what is packed: UTF-8 text, a file or folder a line, with its name in the PAK behind a semicolon where that is to be
 * another: as the lists of `extract`, the other way round.
 *
 *   maps/e1m1.bsp                 a file, under this name
 *   /work/new.bsp;maps/e1m1.bsp   a file, under another name
 *   textures                      the files of a folder, by their names in it
 *   textures;gfx                  the same, below gfx
 *   # text                        a remark; blank lines and a byte order mark are passed over, too
 */

/** A file or folder that is packed. */
export interface PackInput {
  path: string;
  /** Its name in the PAK, where it is told. */
  name?: string | undefined;
}

/** How files are read that go into a PAK. */
export interface PackReading {
  signal: AbortSignal | undefined;
  /** Called with the bytes of a file when it was read for the first time since there is something to call. */
  onRead?: (bytes: number) => void;
}

/**
 * The files that go into a PAK: a folder gives its files by their names in it, a file is called by its path as it is written.
 * @param of.out the PAK itself, which is left out when it lies in a folder
 * @param of.onPassed called with the path of what lies in a folder and is no file
 * @throws E_NOT_FOUND, E_ABORTED, E_USAGE for a path that leads out of the folder and so is no name, and for names on disk that are not UTF-8
 */
export async function inputFiles(
  inputs: readonly PackInput[],
  { out, onPassed, reading }: { out: string; onPassed: (path: string) => void; reading: PackReading },
): Promise<PackFile[]> {
  const pass = (path: string, why: WhyNot): void => {
    refuseUnnamed(path, why);
    onPassed(path);
  };
  const files: PackFile[] = [];
  for (const { path, name } of inputs) {
    const stat = statOf(path);
    if (!stat.isDirectory()) {
      files.push(new DiskFile(name ?? nameOf(path), { path, stat, reading }));
      continue;
    }
    const below = name === undefined ? '' : `${name.replace(/[/\\]+$/, '')}/`;
    for (const file of walkFiles(path, pass)) {
      await breathe(reading.signal);
      const inner = join(path, file.name);
      // The PAK itself, when it is written into the folder that it is made of.
      if (resolve(inner) !== resolve(out))
        files.push(new DiskFile(below + file.name, { path: inner, stat: file.stat, reading }));
    }
  }
  return files;
}

/** A file of the disk under a name. @throws E_NOT_FOUND, E_USAGE for a folder */
export function inputFile(path: string, name: string, reading: PackReading): PackFile {
  const stat = statOf(path);
  if (stat.isFile()) return new DiskFile(name, { path, stat, reading });
  throw new PakratError('E_USAGE', `${path} is no file`, { data: { path } });
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw storeError(error, path);
    throw new PakratError('E_NOT_FOUND', `there is no ${path}`, { data: { path } });
  }
}

function nameOf(path: string): string {
  const name = cleanName(path);
  if (!/^(?:[/\\]|[a-z]:)/i.test(path) && !name.split('/').includes('..')) return name;
  throw new PakratError('E_USAGE', `${path} is no name in a PAK`, {
    hint: 'Write it from the folder in which names begin, or name it in a list (--list): FILE;NAME.',
    data: { path },
  });
}

/** A file of the disk. What all have in common is not in each: there may be a million. */
class DiskFile implements PackFile {
  readonly name: string;
  readonly size: number;
  readonly #path: string;
  readonly #modifiedMs: number;
  readonly #reading: PackReading;
  #isCounted = false;

  constructor(
    name: string,
    { path, stat, reading }: { path: string; stat: { size: number; mtimeMs: number }; reading: PackReading },
  ) {
    this.name = name;
    this.size = stat.size;
    this.#path = path;
    // Dates have no more.
    this.#modifiedMs = Math.round(stat.mtimeMs);
    this.#reading = reading;
  }

  get mtime(): Date {
    return new Date(this.#modifiedMs);
  }

  async *open(): AsyncGenerator<Uint8Array> {
    const { signal, onRead } = this.#reading;
    await breathe(signal);
    const source = await fileSource(this.#path);
    try {
      // All of it, should it have grown: the writer then sees that it changed.
      for await (const piece of readPieces(source, 0, Math.max(this.size, source.size))) {
        yield piece;
        await breathe(signal);
      }
    } finally {
      await source.close();
    }
    // A writer may read a file twice: for a hash, then to store it. It counts once.
    if (!this.#isCounted) onRead?.(this.size);
    this.#isCounted ||= onRead !== undefined;
  }
}

/** Reads a list of what is packed, from a file or from pieces of one. @throws E_USAGE for one that is too large, E_FORMAT, E_NOT_FOUND */
export async function readPackList(list: string | AsyncIterable<Uint8Array>): Promise<PackInput[]> {
  return decodePackList(await readList(list));
}

/** Decodes a list of what is packed. @throws E_FORMAT that names the line which is none */
export function decodePackList(bytes: Uint8Array): PackInput[] {
  return decodeList(bytes, ([path = '', name, ...more], refused) => {
    if (path === '') throw refused('it names no file');
    if (name === '') throw refused('there is nothing behind its semicolon');
    if (more.length > 0) throw refused('it has too many fields');
    return { path, name };
  });
}
