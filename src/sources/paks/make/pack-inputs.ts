import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, PakratError } from '../../../core/errors.ts';
import { storeError } from '../../../files/durable.ts';
import { decodeList, readList } from '../../../files/given/text-list.ts';
import { isTemporary } from '../../../files/temporary.ts';
import { refuseUnnamed, type WhyNot, walkFiles } from '../../../files/walk.ts';
import { cleanName } from '../../../paks/names.ts';
import type { PackFile } from '../../../paks/packing.ts';
import { DiskFile, type FileOrigin, type FileStat, type PackReading } from './disk-files.ts';

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

/** A file that was found: its name in the PAK, the number of its origin, and what the disk tells of it. */
export interface FoundFile {
  name: string;
  origin: number;
  stat: FileStat;
}

/**
 * Where the files of inputs come from: a folder gives its files by their names in it, a file is called by its path as it is written.
 * @throws E_NOT_FOUND, E_USAGE for a path that leads out of the folder and so is no name
 */
export function originsOf(inputs: readonly PackInput[]): (FileOrigin & PackInput)[] {
  return inputs.map(({ path, name }) => {
    if (!statOf(path).isDirectory()) return { path, name: name ?? nameOf(path), below: undefined };
    return { path, below: name === undefined ? '' : `${name.replace(/[/\\]+$/, '')}/` };
  });
}

/**
 * The files that go into a PAK, one after the other.
 * @param of.out the PAK itself, which is left out when it lies in a folder, as are the temporary files of its making
 * @param of.onPassed called with the path of what lies in a folder and is no file
 * @throws E_NOT_FOUND, E_USAGE for names on disk that are not UTF-8
 */
export function* filesOf(
  origins: readonly (FileOrigin & PackInput)[],
  { out, onPassed }: { out: string; onPassed: (path: string) => void },
): Generator<FoundFile> {
  const whole = resolve(out);
  const pass = (path: string, why: WhyNot): void => {
    refuseUnnamed(path, why);
    onPassed(path);
  };
  for (const [number, origin] of origins.entries()) {
    if (origin.below === undefined) {
      yield { name: origin.name ?? origin.path, origin: number, stat: statOf(origin.path) };
      continue;
    }
    for (const { name, stat } of walkFiles(origin.path, { onPassed: pass, largeUnsorted: true })) {
      const path = resolve(origin.path, name);
      if (path !== whole && !isTemporary(path)) yield { name: origin.below + name, origin: number, stat };
    }
  }
}

/** A file of the disk under a name. @throws E_NOT_FOUND, E_USAGE for a folder */
export function inputFile(path: string, name: string, reading: PackReading): PackFile {
  const stat = statOf(path);
  if (stat.isFile()) return new DiskFile(name, { origin: { path, below: undefined }, stat }, reading);
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
