import * as fs from 'node:fs';
import { join, sep } from 'node:path';
import type { ByteSource } from '../core/byte-source.ts';
import { codeOf, isSystemError, messageOf, PakratError, resultUnless } from '../core/errors.ts';
import { fileSource, openedSource } from '../files/file-source.ts';
import { checkPart, readPieces } from '../files/pieces.ts';
import { openPlain } from '../files/read-at.ts';
import { walk } from '../files/walk.ts';
import type { Source, SourceEntry } from './source.ts';

/** A plain file of a folder. */
export interface FolderEntry extends SourceEntry {
  readonly size: number;
  readonly mtime: Date;
}

/**
 * The plain files below a folder as a source, each under its path with `/`, folder by folder and sorted by name.
 * A link is a file where it leads to one inside the folder; links to folders, and links that lead out, are passed over.
 * @throws E_NOT_FOUND when there is no such folder
 */
export function folderSource(path: string): Source<FolderEntry> {
  const root = realPath(path);
  if (root === undefined || !fs.statSync(root).isDirectory()) {
    throw new PakratError('E_NOT_FOUND', `there is no folder ${path}`, { data: { path } });
  }
  return {
    kind: 'folder',
    label: path,
    async *list(matches) {
      yield* listFolder(root, matches);
    },
    async get(name) {
      const entry = entryAt(root, name);
      if (entry !== undefined) return entry;
      throw new PakratError('E_NOT_FOUND', `${path} has no file ${name}`, { data: { name } });
    },
    async prepare() {},
    read: ({ name }) => readPart(root, name),
    readRange: ({ name }, offset, size) => readPart(root, name, { offset, size }),
    info: async () => folderInfo(root, path),
    async close() {},
  };
}

function* listFolder(root: string, matches: (name: string) => boolean): Generator<FolderEntry> {
  for (const { name, isLink } of walk(root)) {
    if (!matches(name)) continue;
    // A walk enters no link, so what is none lies inside: to follow its whole path takes longer than all else.
    const entry = isLink ? entryAt(root, name) : entryOf(name, join(root, name));
    if (entry !== undefined) yield entry;
  }
}

/** The file of a name, wherever its links lead inside the folder; undefined for what is no such file. */
function fileAt(root: string, name: string): string | undefined {
  const path = pathIn(root, name);
  const end = path && realPath(path);
  return end !== undefined && isInside(root, end) ? end : undefined;
}

/** The path of a name; undefined for one that no listing gives. */
function pathIn(root: string, name: string): string | undefined {
  const isOdd = name.includes('\0') || name.split('/').some((part) => part === '' || part === '.' || part === '..');
  return isOdd ? undefined : join(root, name);
}

function isInside(root: string, path: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function entryAt(root: string, name: string): FolderEntry | undefined {
  const path = fileAt(root, name);
  return path === undefined ? undefined : entryOf(name, path);
}

/** @param path of the file, without links */
function entryOf(name: string, path: string): FolderEntry | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return undefined;
  const { size, mtime } = stat;
  return { name, size, mtime, facts: { mtime: mtime.toISOString() } };
}

/** The end of a path, all links followed; undefined where they lead nowhere. */
function realPath(path: string): string | undefined {
  try {
    return fs.realpathSync.native(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(codeOf(error) ?? '')) return undefined;
    throw new PakratError('E_STORE', `${path}: ${messageOf(error)}`, { data: { path }, cause: error });
  }
}

/**
 * Opens a file that is no link. The system is asked where the file lies that is open now, which takes a third of the time of following its path first.
 * @returns undefined where it does not tell, or all links have to be followed to know
 */
function openInside(root: string, name: string): ByteSource | undefined {
  const path = pathIn(root, name);
  if (path === undefined || process.platform !== 'linux') return undefined;
  // Whoever follows the path is told what is wrong with it.
  const opened = resultUnless(isSystemError, () => openPlain(path, 'noFollow'));
  if (opened === undefined) return undefined;
  const place = resultUnless(isSystemError, () => fs.readlinkSync(`/proc/self/fd/${opened.fd}`));
  if (place !== undefined && isInside(root, place)) return openedSource(path, opened);
  fs.closeSync(opened.fd);
  return undefined;
}

async function openFollowed(root: string, name: string): Promise<ByteSource> {
  const path = fileAt(root, name);
  if (path === undefined) throw new PakratError('E_NOT_FOUND', `${name} is no longer there`, { data: { name } });
  return fileSource(path);
}

/** A part of a file, or all of it. The file is looked at anew, for a link may have come in its place since it was listed. */
async function* readPart(
  root: string,
  name: string,
  part?: { offset: number; size: number },
): AsyncGenerator<Uint8Array> {
  const source = openInside(root, name) ?? (await openFollowed(root, name));
  try {
    const { offset, size } = part ?? { offset: 0, size: source.size };
    checkPart({ name, size: source.size }, offset, size);
    yield* readPieces(source, offset, size);
  } finally {
    await source.close();
  }
}

function folderInfo(root: string, path: string): Record<string, unknown> {
  const sums = { files: 0, bytes: 0 };
  for (const { size } of listFolder(root, () => true)) {
    sums.files += 1;
    sums.bytes += size;
  }
  return { kind: 'folder', path, ...sums };
}
