import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  brokenHint,
  codeOf,
  type ErrorCode,
  type ErrorData,
  errorCodes,
  isDiskBroken,
  isDiskFull,
  isPakratError,
  isSystemError,
  messageOf,
  PakratError,
  resultUnless,
} from '../core/errors.ts';
import { printableBlock } from './terminal/text.ts';
import { type TypedCommand, usageError } from './usage-error.ts';

/** Exit codes of the process that no error gives. */
export const exitCodes = { done: 0, bug: 70 } as const;

/** The exit code for the `code` of an error; 70 (our bug) for anything that is no code of ours. */
export function exitCodeOf(code: string | undefined): number {
  return Object.entries(errorCodes).find(([known]) => known === code)?.[1] ?? exitCodes.bug;
}

/** An error as a person or a script is told of it. */
export interface ErrorReport {
  code: string;
  message: string;
  hint?: string | undefined;
  data: ErrorData;
  /** Exit code of the process. */
  exit: number;
  /** Messages of what led to it, where they say more. */
  because: string[];
  /** Only for our own bugs. */
  stack?: string | undefined;
}

const codeOfBugs = 'E_BUG';
const fullHint = 'Free some space and run the same command again.';

/**
 * Makes a report of anything that was thrown. Errors of ours, of the command line's grammar and of the file system are the user's
 * to act on; anything else is a bug of ours and comes with its stack.
 * @param command the command that was typed, for usage errors
 */
export function errorReport(error: unknown, command?: TypedCommand): ErrorReport {
  const known = isPakratError(error) ? error : (usageError(error, command) ?? systemError(error));
  if (known === undefined) {
    return {
      code: codeOfBugs,
      message: messageOf(error),
      hint: 'This is a bug in pakrat. Please report it, with the command and the lines above.',
      data: {},
      exit: exitCodes.bug,
      because: [],
      stack: (error as { stack?: string } | null)?.stack,
    };
  }
  const { code, message, hint, data } = known;
  return { code, message, hint, data, exit: exitCodeOf(code), because: causesOf(known) };
}

/** The report as lines for stderr, ending in a line break. */
export function errorText(report: ErrorReport): string {
  const because = report.because.map((message) => `Because: ${message}`);
  const stack = report.stack === undefined ? [] : [report.stack];
  const hint = report.hint === undefined ? [] : [`Try this: ${report.hint}`];
  const lines = [`Error: ${report.message}`, ...because, ...stack, `Code: ${report.code}`, ...hint];
  return printableBlock(`${lines.join('\n')}\n`);
}

/** The report as `--json` prints it. */
export function errorJson({ code, message, hint, data, stack }: ErrorReport): { error: Record<string, unknown> } {
  return { error: { code, message, hint: hint ?? null, data: stack === undefined ? data : { ...data, stack } } };
}

/** Errors of the file system about a path that the user named, by their codes. */
const systemErrors: Readonly<Record<string, (path: string) => [ErrorCode, message: string, hint?: string]>> = {
  ENOENT: (path) => ['E_NOT_FOUND', `there is no ${path}`],
  ENOSPC: (path) => ['E_STORE_FULL', `the disk is full: ${path}`, fullHint],
  EDQUOT: (path) => ['E_STORE_FULL', `the disk quota is used up: ${path}`, fullHint],
  EMFILE: (path) => [
    'E_STORE',
    `too many files are open: ${path}`,
    'Allow more of them (ulimit -n), and run the same command again.',
  ],
  EACCES: (path) => ['E_STORE', `no permission for ${path}`],
  EPERM: (path) => ['E_STORE', `no permission for ${path}`],
  EROFS: (path) => ['E_STORE', `no permission for ${path}`],
  EISDIR: (path) => ['E_USAGE', `${path} is a folder, a file is needed`],
  ENOTDIR: (path) => ['E_USAGE', `${fileInWay(path)} is no folder`],
};

/** The part of a path that is there and no folder: it may be one of those above. */
function fileInWay(path: string): string {
  for (let part = path; dirname(part) !== part; part = dirname(part)) {
    const isFolder = resultUnless(isSystemError, () => statSync(part).isDirectory());
    if (isFolder !== undefined) return isFolder ? path : part;
  }
  return path;
}

/** Errors of the file system that no one turned into ours are about a path that the user named. */
function systemError(error: unknown): PakratError | undefined {
  const { syscall, path, cause } = (error ?? {}) as { syscall?: unknown; path?: unknown; cause?: unknown };
  const reason = codeOf(error);
  // Without a path it is about what was open already: to write, standard output into a file.
  if (syscall !== undefined && path === undefined && isDiskFull(error)) {
    const message = `the disk is full: ${syscall === 'write' ? 'the output could not be written' : messageOf(error)}`;
    return new PakratError('E_STORE_FULL', message, { cause: error, data: { reason }, hint: fullHint });
  }
  if (syscall !== undefined && path === undefined && isDiskBroken(error)) {
    const message = `a disk, or a network drive, does not give or take what it should: ${messageOf(error)}`;
    return new PakratError('E_STORE', message, { cause: error, data: { reason }, hint: brokenHint });
  }
  // A thread that begins looks where it is, too.
  if (syscall === 'uv_cwd' || (cause as { syscall?: unknown } | undefined)?.syscall === 'uv_cwd')
    return new PakratError('E_NOT_FOUND', 'the current folder is gone', { cause: error });
  // The one that comes without its path: reading a folder as if it were a file.
  const named = typeof path === 'string' ? path : reason === 'EISDIR' ? 'what was named' : undefined;
  if (typeof syscall !== 'string' || named === undefined || reason === undefined) return undefined;
  const data = { path: named, reason };
  if (reason === 'EEXIST' && syscall === 'mkdir') {
    return new PakratError('E_USAGE', `${named} is a file, a folder is needed`, { cause: error, data });
  }
  const hintOfOthers = isDiskBroken(error) ? brokenHint : undefined;
  const [code, message, hint] = systemErrors[reason]?.(named) ?? ['E_STORE', messageOf(error), hintOfOthers];
  return new PakratError(code, message, { cause: error, data, hint });
}

function causesOf(error: PakratError): string[] {
  const causes: string[] = [];
  // A chain that closes on itself would never end.
  for (let cause = error.cause; isPakratError(cause) && causes.length < 4; cause = cause.cause) {
    if (!error.message.includes(cause.message)) causes.push(cause.message);
  }
  return causes;
}
