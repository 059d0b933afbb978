import * as real from 'node:fs';
import { constants } from 'node:os';
import { relative } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { jest } from '@jest/globals';

/*
 * node:fs with every call that changes the disk written down, in order, and failing where a test wants it.
 * It takes the place of node:fs for modules that are imported after `watchFs`.
 */

/** A call that changes the disk. */
export type FsCall = 'open' | 'write' | 'fsync' | 'fdatasync' | 'rename' | 'mkdir' | 'unlink' | 'close';

/** What was called, and what is to fail. */
export interface WatchedFs {
  /** `write a/b`, `rename a b`, …; paths below the folder that is watched. */
  log: string[];
  /** An error for a call instead of its effect; undefined lets it happen. */
  fail: (call: FsCall, path: string) => Error | undefined;
  /** Bytes that one write takes at most. */
  mostPerWrite: number;
  /** What `fdatasync` waits for before it begins. */
  beforeFlush: () => Promise<void>;
}

/** An error as Node makes it of one of the system, some of which it has no name for. */
export function systemError(code: string): Error {
  const errno = -constants.errno[code as keyof typeof constants.errno];
  const isNamed = getSystemErrorMap().has(errno);
  const error = new Error(isNamed ? `${code}: no` : 'UNKNOWN: unknown error, write');
  return Object.assign(error, { errno, code: isNamed ? code : 'UNKNOWN', syscall: 'write' });
}

/** Puts watched functions in the place of node:fs. Call it before the module under test is imported. */
export function watchFs(folder: string): WatchedFs {
  const watched: WatchedFs = {
    log: [],
    fail: () => undefined,
    mostPerWrite: Number.POSITIVE_INFINITY,
    beforeFlush: async () => {},
  };
  const names = new Map<number, string>();
  const short = (path: real.PathLike): string => relative(folder, String(path)) || '.';
  const note = (call: FsCall, path: string, more = ''): void => {
    const error = watched.fail(call, path);
    if (error !== undefined) throw error;
    watched.log.push(`${call} ${path}${more}`);
  };
  const named = (fd: number): string => names.get(fd) ?? `fd ${fd}`;
  const functions = {
    openSync(path: real.PathLike, flags?: real.OpenMode, mode?: real.Mode): number {
      note('open', short(path));
      const fd = real.openSync(path, flags ?? 'r', mode);
      names.set(fd, short(path));
      return fd;
    },
    writeSync(fd: number, bytes: Uint8Array, offset: number, size: number, position: number): number {
      note('write', named(fd));
      return real.writeSync(fd, bytes, offset, Math.min(size, watched.mostPerWrite), position);
    },
    writevSync(fd: number, pieces: Uint8Array[], position: number): number {
      note('write', named(fd));
      const bytes = Buffer.concat(pieces);
      return real.writeSync(fd, bytes, 0, Math.min(bytes.length, watched.mostPerWrite), position);
    },
    fsyncSync(fd: number): void {
      note('fsync', named(fd));
      real.fsyncSync(fd);
    },
    fsync(fd: number, done: (error: Error | null) => void): void {
      try {
        note('fsync', named(fd));
      } catch (error) {
        done(error as Error);
        return;
      }
      real.fsync(fd, done);
    },
    fdatasync(fd: number, done: (error: Error | null) => void): void {
      const path = named(fd);
      watched.beforeFlush().then(() => {
        try {
          note('fdatasync', path);
        } catch (error) {
          done(error as Error);
          return;
        }
        real.fdatasync(fd, done);
      }, done);
    },
    renameSync(from: real.PathLike, to: real.PathLike): void {
      note('rename', short(from), ` ${short(to)}`);
      real.renameSync(from, to);
    },
    mkdirSync(path: real.PathLike): void {
      note('mkdir', short(path));
      real.mkdirSync(path);
    },
    unlinkSync(path: real.PathLike): void {
      note('unlink', short(path));
      real.unlinkSync(path);
    },
    closeSync(fd: number): void {
      note('close', named(fd));
      names.delete(fd);
      real.closeSync(fd);
    },
  };
  jest.unstable_mockModule('node:fs', () => ({ ...real, ...functions, default: { ...real, ...functions } }));
  return watched;
}
