import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';

/*
 * Small disks for tests of full and read-only ones. Making one needs root on Linux; elsewhere these tests are skipped, with a word.
 */

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'pakrat-mount-'));
  const mounted = run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder);
  if (mounted) run('umount', folder);
  rmdirSync(folder);
  return mounted;
}

/** `describe` that needs small disks. */
export function describeTmpfs(name: string, body: () => void): void {
  if (canMount()) {
    describe(name, body);
  } else {
    console.warn(`SKIPPED, no tmpfs can be mounted (it needs root): ${name}`);
    describe.skip(name, body);
  }
}

/** Runs `body` with a disk of its own; `remount` changes its options (`size=16m`, `ro`). */
export async function withTmpfs(
  size: string,
  body: (folder: string, resize: (size: string) => void, remount: (options: string) => void) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pakrat-disk-'));
  const remount = (options: string): void => {
    if (!run('mount', '-o', `remount,${options}`, folder)) throw new Error(`cannot remount with ${options}`);
  };
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', folder)) throw new Error('cannot mount');
  try {
    await body(folder, (larger) => remount(`size=${larger}`), remount);
  } finally {
    // Lazily, for a failed test may have left files open.
    if (!run('umount', folder)) run('umount', '-l', folder);
    rmdirSync(folder);
  }
}

/** Takes the last bytes of a disk. */
export function fillDisk(folder: string): void {
  const fd = openSync(join(folder, 'filler'), 'w');
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096, 1));
  } catch {
    // That was the last.
  } finally {
    closeSync(fd);
  }
}
