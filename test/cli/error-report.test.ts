import { mkdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { errorJson, errorReport, errorText } from '../../src/cli/error-report.ts';
import { PakratError } from '../../src/core/errors.ts';

describe('errorReport', () => {
  test('an error of ours: message, cause, code and hint for people, no stack', () => {
    const cause = new PakratError('E_FORMAT', 'BLTE: wrong magic at offset 0');
    const error = new PakratError('E_INTEGRITY', 'archive 0017 is damaged', { hint: 'Fetch it again.', cause });
    expect(errorText(errorReport(error))).toBe(
      'Error: archive 0017 is damaged\nBecause: BLTE: wrong magic at offset 0\nCode: E_INTEGRITY\nTry this: Fetch it again.\n',
    );
    expect(errorReport(error).exit).toBe(3);
  });

  test('the same for scripts, its data with it', () => {
    const error = new PakratError('E_KEY_MISSING', 'locked', { data: { keyName: 'fa505078126acb3e' } });
    expect(errorJson(errorReport(error))).toEqual({
      error: { code: 'E_KEY_MISSING', message: 'locked', hint: null, data: { keyName: 'fa505078126acb3e' } },
    });
  });

  test('anything that is not ours is a bug: stack, a plea to report it, 70', () => {
    const report = errorReport(new TypeError('x is undefined'));
    expect(report).toMatchObject({ code: 'E_BUG', exit: 70 });
    expect(errorText(report)).toMatch(/x is undefined.*at .*error-report\.test\.ts.*report it/s);
    expect(errorJson(report).error.data).toHaveProperty('stack');
    for (const thrown of ['text', null, undefined, 7]) expect(errorReport(thrown).exit).toBe(70);
  });

  test('a file that the user named and that is not there is no bug', () => {
    const thrown = (path: string): unknown => {
      try {
        return readFileSync(path);
      } catch (error) {
        return error;
      }
    };
    expect(errorReport(thrown('/no/such/file'))).toMatchObject({ code: 'E_NOT_FOUND', exit: 4 });
    expect(errorReport(thrown('/'))).toMatchObject({ code: 'E_USAGE', exit: 2 });
    expect(errorReport(thrown('package.json/x/y'))).toMatchObject({
      code: 'E_USAGE',
      exit: 2,
      message: 'package.json is no folder',
    });
  });

  test('a file where a folder is needed, and a full disk under the output', () => {
    const thrown = (): unknown => {
      try {
        return mkdirSync('package.json', { recursive: true });
      } catch (error) {
        return error;
      }
    };
    expect(errorReport(thrown())).toMatchObject({
      code: 'E_USAGE',
      exit: 2,
      message: expect.stringContaining('package.json is a file'),
    });
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    expect(errorReport(full)).toMatchObject({ code: 'E_STORE_FULL', exit: 1 });
    const quota = {
      message: 'UNKNOWN: unknown error, fsync',
      code: 'UNKNOWN',
      errno: -constants.errno.EDQUOT,
      syscall: 'fsync',
    };
    expect(errorReport(quota)).toMatchObject({ code: 'E_STORE_FULL', message: expect.stringContaining('EDQUOT') });
    expect(errorReport({ ...quota, path: 'out.pak' })).toMatchObject({
      code: 'E_STORE_FULL',
      message: 'the disk quota is used up: out.pak',
    });
    const gone = Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), {
      code: 'ENOENT',
      syscall: 'uv_cwd',
    });
    for (const error of [gone, new Error('a thread died', { cause: gone })])
      expect(errorReport(error)).toMatchObject({ code: 'E_NOT_FOUND', message: 'the current folder is gone' });
  });

  test('what a broken disk does to a file that was open, and that no more files may be opened, is no bug', () => {
    const broken = { message: 'EIO: i/o error, read', code: 'EIO', errno: -5, syscall: 'read' };
    expect(errorReport(broken)).toMatchObject({ code: 'E_STORE', exit: 1, message: expect.stringContaining('EIO') });
    const many = { message: 'EMFILE: too many open files', code: 'EMFILE', syscall: 'open', path: 'a.pak' };
    expect(errorReport(many)).toMatchObject({ code: 'E_STORE', exit: 1, hint: expect.stringContaining('ulimit -n') });
    expect(errorReport({ ...broken, code: 'EBADF' })).toMatchObject({ code: 'E_BUG' });
  });

  test('nothing that comes from outside reaches the terminal as a command', () => {
    const text = errorText(errorReport(new PakratError('E_NOT_FOUND', 'no \x1b[2J\x07\u202egnp.exe')));
    expect(text).toContain('no \\x1b[2J\\x07\\u202egnp.exe\n');
  });

  test('a chain of causes that closes on itself ends', () => {
    const error = new PakratError('E_FORMAT', 'a');
    (error as { cause?: unknown }).cause = new PakratError('E_FORMAT', 'b', { cause: error });
    expect(errorReport(error).because.length).toBeLessThan(5);
  });
});
