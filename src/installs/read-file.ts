import * as fs from 'node:fs';
import { join } from 'node:path';
import { checkRange } from '../core/byte-source.ts';
import { isNoFile, PakratError, resultUnless } from '../core/errors.ts';
import { openPlain, readAt, readable, reading, readOwn, sizeOfFile } from '../files/read-at.ts';
import { namesIn, type OnUnread } from '../files/walk.ts';
import { checkObject } from '../verify/check-object.ts';

const maxConfigSize = 32 << 20;

/** Files of a folder that are opened once and read anywhere. Needs `close`. */
export class OpenFiles {
  readonly #fds = new Map<string, { fd: number; size: number } | undefined>();

  /** The size of a file; undefined when it is not there. @throws E_INTEGRITY when it cannot be opened */
  size(file: string): number | undefined {
    return this.#open(file)?.size;
  }

  /** Bytes of a file. @throws E_FORMAT_TRUNCATED when they are not all there, E_INTEGRITY when they cannot be read */
  read(file: string, offset: number, size: number): Uint8Array {
    const opened = this.#open(file);
    if (opened === undefined) throw new PakratError('E_NOT_FOUND', `${file} is not there`, { data: { path: file } });
    // Before anything is allocated: sizes come from the files, too.
    checkRange({ name: file, size: opened.size }, offset, size);
    return readable(file, () => readAt(opened.fd, offset, size, file));
  }

  #open(file: string): { fd: number; size: number } | undefined {
    if (!this.#fds.has(file)) this.#fds.set(file, openIfThere(file));
    return this.#fds.get(file);
  }

  close(): void {
    for (const opened of this.#fds.values()) if (opened !== undefined) fs.closeSync(opened.fd);
    this.#fds.clear();
  }
}

function openIfThere(file: string): { fd: number; size: number } | undefined {
  return readable(file, () => resultUnless(isNoFile, () => openPlain(file)));
}

/** The path of an object below a folder of its kind: `aa/bb/hash`. */
export function hashPath(hash: string): string {
  return join(hash.slice(0, 2), hash.slice(2, 4), hash);
}

const isPart = (name: string): boolean => /^[0-9a-f]{2}$/.test(name);
const isObject = (name: string): boolean => /^[0-9a-f]{32}(\.index)?$/.test(name);

/**
 * The objects in `folder/aa/bb/`, by their file names: hashes, with or without `.index`. A link to a folder is as good as one.
 * @param onUnread for folders of which a broken disk does not give the names, or not all
 */
export function* hashFiles(folder: string, onUnread: OnUnread): Generator<{ name: string; file: string }> {
  for (const first of namesIn(folder, isPart, onUnread)) {
    for (const second of namesIn(join(folder, first), isPart, onUnread)) {
      for (const name of namesIn(join(folder, first, second), isObject, onUnread))
        yield { name, file: join(folder, first, second, name) };
    }
  }
}

/**
 * A config from `folder/aa/bb/hash`, checked against its name.
 * @throws E_NOT_FOUND when it is not there, E_INTEGRITY when it is not what its name says
 */
export function readConfig(folder: string, hash: string): Uint8Array {
  const file = join(folder, hashPath(hash));
  const size = sizeOfFile(file);
  if (size === undefined) {
    throw new PakratError('E_NOT_FOUND', `config ${hash} is not in ${folder}`, { data: { path: file } });
  }
  if (size > maxConfigSize) throw new PakratError('E_FORMAT_RANGE', `config ${hash} has ${size} bytes`);
  const bytes = reading(file, () => readOwn(file));
  checkObject({ kind: 'config', hash }, bytes);
  return bytes;
}
