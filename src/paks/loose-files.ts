import * as fs from 'node:fs';
import { join } from 'node:path';
import { codeOf, formatError, messageOf, PakratError } from '../core/errors.ts';
import { fileSource } from '../files/file-source.ts';
import { readPieces } from '../files/pieces.ts';
import { foldName } from './names.ts';
import type { Pak, PakEntry, PakProblem } from './pak.ts';

/** Folders nested deeper than this are not looked into. */
const maxDepth = 32;

/**
 * The plain files of a folder, as {@link walkFiles} gives them, as a PAK of its own: the last step of most search paths.
 * @param isWanted tells by the relative name, with `/`
 * @throws as `walkFiles`
 */
export function openLooseFiles(root: string, isWanted: (name: string) => boolean): Pak {
  const entries: PakEntry[] = [];
  for (const { name, stat } of walkFiles(root)) {
    if (!isWanted(name)) continue;
    const { size, mtime } = stat;
    entries.push({ index: entries.length, name, size, storedSize: size, method: 'none', encrypted: false, mtime });
  }
  return new LooseFiles(root, entries);
}

/**
 * The plain files of a folder and of the folders in it, by name. Links to files are followed, links to folders are not.
 * @throws E_NOT_FOUND, E_STORE
 */
export function walkFiles(root: string): Generator<{ name: string; stat: fs.Stats }> {
  return walk(root, '', 0);
}

function* walk(root: string, prefix: string, depth: number): Generator<{ name: string; stat: fs.Stats }> {
  for (const { name } of sortedEntries(join(root, prefix))) {
    const relative = prefix + name;
    const stat = plainStat(join(root, relative));
    if (stat?.isFile() === true) yield { name: relative, stat };
    else if (stat?.isDirectory() === true && depth < maxDepth) yield* walk(root, `${relative}/`, depth + 1);
  }
}

function plainStat(path: string): fs.Stats | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() !== true) return stat;
  const target = fs.statSync(path, { throwIfNoEntry: false });
  return target?.isFile() === true ? target : undefined;
}

/** What is directly in a folder, by name. @throws E_NOT_FOUND, E_STORE */
export function sortedEntries(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
    throw new PakratError(missing ? 'E_NOT_FOUND' : 'E_STORE', `${folder}: ${messageOf(error)}`, {
      data: { path: folder },
      cause: error,
    });
  }
}

class LooseFiles implements Pak {
  readonly family = 'folder';
  readonly version = '';
  readonly notes: readonly string[] = [];
  readonly facts: Record<string, unknown> = {};
  readonly entries: readonly PakEntry[];
  readonly #root: string;

  constructor(root: string, entries: readonly PakEntry[]) {
    this.#root = root;
    this.entries = entries;
  }

  find(name: string): PakEntry | undefined {
    const wanted = name.replaceAll('\\', '/');
    return (
      this.entries.find((entry) => entry.name === wanted) ??
      this.entries.find((entry) => foldName(entry.name) === foldName(wanted))
    );
  }

  read(entry: PakEntry): AsyncIterable<Uint8Array> {
    return this.readRange(entry, 0, entry.size);
  }

  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    if (offset < 0 || size < 0 || offset + size > entry.size) {
      throw formatError('E_FORMAT_RANGE', entry.name, `has ${entry.size} bytes, not ${size} from ${offset}`);
    }
    const own = this.entries[entry.index];
    if (own === undefined) throw new PakratError('E_NOT_FOUND', `there is no entry ${entry.index}`);
    const source = await fileSource(join(this.#root, own.name));
    try {
      yield* readPieces(source, offset, size);
    } finally {
      await source.close();
    }
  }

  async verify(): Promise<PakProblem | undefined> {
    return undefined;
  }
  async verifyDirectory(): Promise<PakProblem | undefined> {
    return undefined;
  }
  async close(): Promise<void> {}
}
