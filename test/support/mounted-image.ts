import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/* Small disks of a test's own: images of file systems, mounted through loop devices. It takes Linux, root, loop devices and the program that makes one. */

/** File systems that can be made, the least size of one in MiB, and the arguments that make it quietly whatever the file had. */
const kinds = {
  ext4: { least: 16, args: ['-q', '-F'] },
  xfs: { least: 300, args: ['-q', '-f'] },
  // One copy of what is known of the files, so that it fits.
  btrfs: { least: 128, args: ['-q', '-f', '-m', 'single'] },
} as const;

/** A file system of {@link kinds}. */
export type DiskKind = keyof typeof kinds;

/** Makes an image with an empty file system. */
export function makeImage(image: string, kind: DiskKind, megabytes: number = kinds[kind].least): void {
  writeFileSync(image, '');
  truncateSync(image, megabytes * 1024 * 1024);
  execFileSync(`mkfs.${kind}`, [...kinds[kind].args, image], { stdio: 'pipe' });
}

/** Mounts an image in a new folder. */
export function mountImage(image: string, folder: string, options = ''): void {
  mkdirSync(folder);
  execFileSync('mount', ['-o', ['loop', options].filter(Boolean).join(','), image, folder], { stdio: 'pipe' });
}

/** Unmounts it, and removes the folder, and the image unless that is to be kept. */
export async function unmountImage(image: string, folder: string, keep?: 'keep'): Promise<void> {
  // The system may take a moment to let go of the files of a process that was killed.
  for (let tries = 0; spawnSync('umount', [folder]).status !== 0; tries++) {
    if (tries === 100) throw new Error(`${folder} cannot be unmounted`);
    await sleep(50);
  }
  rmSync(folder, { recursive: true });
  if (keep === undefined) rmSync(image);
}

/** File systems keep bytes in blocks of this size. */
export const diskBlock = 4096;

/**
 * Has blocks of an image of btrfs, which is not mounted, go bad: it keeps a checksum of each, and gives back none that does not fit.
 * @param contents of those blocks; wherever one lies it goes bad
 * @returns how many went bad
 */
export function spoilBlocks(image: string, contents: readonly Uint8Array[]): number {
  const bytes = readFileSync(image);
  let spoilt = 0;
  for (let at = 0; at < bytes.length; at += diskBlock) {
    if (!contents.some((content) => bytes.subarray(at, at + content.length).equals(content))) continue;
    bytes[at]! ^= 1;
    spoilt += 1;
  }
  writeFileSync(image, bytes);
  return spoilt;
}

/** Spoils what an image of ext4, which is not mounted, knows of a file or folder: its checksum is wrong then, and the system gives the name alone. */
export function loseInode(image: string, path: string): void {
  const ask = (program: string, ...args: string[]): string =>
    execFileSync(program, [...args, image], { encoding: 'utf8', stdio: 'pipe' });
  const [, block, offset] =
    /located at block (\d+), offset (0x[0-9a-f]+)/.exec(ask('debugfs', '-R', `imap "${path}"`)) ?? [];
  const [, size] = /Block size:\s+(\d+)/.exec(ask('dumpe2fs', '-h')) ?? [];
  const fd = openSync(image, 'r+');
  writeSync(fd, Buffer.alloc(16, 0x5a), 0, 16, Number(block) * Number(size) + Number(offset) + 8);
  closeSync(fd);
}

/** Has the system mend an image of ext4 that is not mounted. */
export function mendImage(image: string): void {
  // It ends with what it mended.
  spawnSync('e2fsck', ['-fy', image]);
}

/** Why no such disk can be mounted here; undefined where one can. */
export function whyNoDisk(kind: DiskKind): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can mount a disk';
  if (spawnSync(`mkfs.${kind}`, ['-V']).status !== 0) return `mkfs.${kind} is not installed`;
  const home = mkdtempSync(join(tmpdir(), 'pakrat-disk-'));
  try {
    makeImage(join(home, 'image'), kind);
    mountImage(join(home, 'image'), join(home, 'mounted'));
    execFileSync('umount', [join(home, 'mounted')], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `no disk can be mounted (${(error as Error).message.split('\n')[0]})`;
  } finally {
    rmSync(home, { recursive: true });
  }
}
