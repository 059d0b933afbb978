import * as fs from 'node:fs';
import type { EncodedFile } from '../../../builds/encoded-files.ts';
import { codeOf, isPakratError } from '../../../core/errors.ts';
import { openPlain, readAt } from '../../../files/read-at.ts';
import { decodeBlte } from '../../../formats/blte/decode.ts';
import type { KeyRing } from '../../../formats/blte/keys.ts';

/** Objects up to this size, encoded and decoded, are read and decoded at once. */
const smallBytes = 8 << 20;

/** Files that a thread has open to read from: systems let a process have few. */
const mostOpen = 8;

/** True for a file that a thread may have in memory, encoded and decoded. */
export function isSmall({ encodedSize, size }: EncodedFile): boolean {
  return encodedSize <= smallBytes && size <= smallBytes;
}

/** The content of a small file, proved; for one that is not as most are. @throws E_KEY_MISSING, E_INTEGRITY, E_FORMAT…, system errors */
export function decodeWhole(task: EncodedFile, keys: KeyRing, files: OpenedFiles): Uint8Array {
  const { encodedSize, ekey, ckey, size } = task;
  return decodeBlte(readerOf(task, files)(0, encodedSize), { keys, ekey, ckey, decodedSize: size });
}

/** Reads ranges of the encoded bytes of a file. */
export function readerOf(task: EncodedFile, files: OpenedFiles): (at: number, size: number) => Uint8Array {
  const fd = files.open(task.file);
  return (at, size) => readAt(fd, task.offset + at, size, `entry ${task.ekey}`);
}

/** A file that a thread put back, with the name of the key that was not at hand, where that was it. */
export interface PutBack {
  putBack: string | undefined;
}

/** What a thread answers for a file that could not be had, whatever the reason. @throws the error where it ends the job: E_ABORTED */
export function putBackFor(error: unknown): PutBack {
  if (codeOf(error) === 'E_ABORTED') throw error;
  const keyName = isPakratError(error) ? error.data.keyName : undefined;
  return { putBack: typeof keyName === 'string' ? keyName : undefined };
}

/** Files that many tasks read from, open for one batch: what lies at a path may be another file later. */
export class OpenedFiles {
  readonly #fds = new Map<string, number>();

  open(file: string): number {
    const known = this.#fds.get(file);
    if (known !== undefined) return known;
    if (this.#fds.size >= mostOpen) this.close();
    const { fd } = openPlain(file);
    this.#fds.set(file, fd);
    return fd;
  }

  close(): void {
    for (const fd of this.#fds.values()) fs.closeSync(fd);
    this.#fds.clear();
  }
}
