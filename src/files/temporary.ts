import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { join, sep } from 'node:path';
import { threadId } from 'node:worker_threads';
import { codeOf, isPakratError, resultUnless } from '../core/errors.ts';
import { folderEntries } from './read-at.ts';

/*
 * The name of a temporary file says whose it is, so that the next run can clear what a killed one left:
 *
 *   [.pakrat-]PID-START-HOST-THREAD-SERIAL.tmp      .pakrat- where other people's files lie beside it
 *
 * START is when the process began, in ticks since the system did (base 36; 0 where /proc does not tell), for process numbers are used again.
 * HOST is a hash of the host and its space of process numbers: what another host or container wrote is never judged from here.
 */
const namePattern = /^(?:\.pakrat-)?(\d+-[0-9a-z]+-[0-9a-f]{8})-\d+-\d+\.tmp$/;

const open = new Set<string>();
let serial = 0;
let ownMark: string | undefined;

/** A path in `folder` that no other process, thread or call uses. It is this thread's until {@link removeTemporary} or {@link releaseTemporary}. */
export function temporaryName(folder: string, prefix: '' | '.pakrat-' = ''): string {
  serial += 1;
  const path = `${folder}${sep}${prefix}${processMark()}-${threadId}-${serial}.tmp`;
  open.add(path);
  return path;
}

/** The mark of this process, as it stands in the names: `PID-START-HOST`. */
export function processMark(): string {
  ownMark ??= `${process.pid}-${startOf(process.pid) ?? 0}-${hostHash()}`;
  return ownMark;
}

/** True for the mark of a process that is known to be dead; never for one of another host. */
export function isDeadMark(mark: string): boolean {
  const [pid = '', start = '', host] = mark.split('-');
  return host === hostHash() && !isAlive(Number(pid), start);
}

/** True for the path of a temporary file of this thread, as {@link temporaryName} gave it. */
export function isTemporary(path: string): boolean {
  return open.has(path);
}

/** Removes a temporary file, if it is there. */
export function removeTemporary(path: string): void {
  fs.rmSync(path, { force: true });
  open.delete(path);
}

/** Tells that a temporary file has another name now. */
export function releaseTemporary(path: string): void {
  open.delete(path);
}

/** Makes a folder that goes with the temporary files of this thread, whatever is in it, until {@link removeTemporaryFolder}. */
export function makeTemporaryFolder(path: string): void {
  open.add(path);
  fs.mkdirSync(path, { recursive: true });
}

/** Removes a temporary folder, if it is there, with all that is in it. */
export function removeTemporaryFolder(path: string): void {
  fs.rmSync(path, { recursive: true, force: true });
  open.delete(path);
}

/** Removes all temporary files and folders of this thread: for a process that ends where it stands. */
export function removeTemporaries(): void {
  for (const path of open) fs.rmSync(path, { force: true, recursive: true });
  open.clear();
}

/** Removes the temporary files in a folder whose process is known to be dead. What cannot be removed stays. */
export function clearDeadTemporaries(folder: string): void {
  resultUnless(isPakratError, () => {
    for (const { name } of folderEntries(folder)) {
      const [, mark] = namePattern.exec(name) ?? [];
      if (mark === undefined || !isDeadMark(mark)) continue;
      // One that stays is in nobody's way.
      resultUnless(
        () => true,
        () => fs.rmSync(join(folder, name), { force: true }),
      );
    }
  });
}

/** True unless there is no such process, or one that began at another time, or one that ended and whose parent has not looked yet. */
function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
  }
  if (statOf(pid)[0] === 'Z') return false;
  const found = startOf(pid);
  return start === '0' || found === undefined || found === start;
}

function startOf(pid: number): string | undefined {
  const ticks = Number(statOf(pid)[19]);
  return ticks > 0 ? ticks.toString(36) : undefined;
}

/** The fields of `stat` from the third on, its state; the second, a name in parentheses, may have blanks and parentheses in it. */
function statOf(pid: number): string[] {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
}

let host: string | undefined;

function hostHash(): string {
  host ??= createHash('sha256')
    .update([hostname(), textOf('/etc/machine-id'), processSpace()].join('\n'))
    .digest('hex')
    .slice(0, 8);
  return host;
}

function textOf(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Containers have process numbers of their own; undefined where the system knows no such thing. */
function processSpace(): string | undefined {
  try {
    return fs.readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}
