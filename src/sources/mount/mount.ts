import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isPakratError, messageOf, PakratError } from '../../core/errors.ts';
import type { WorkOptions } from '../../core/progress.ts';
import type { Source } from '../source.ts';
import { buildTree } from './file-tree.ts';
import { operations } from './operations.ts';

/** A mounted source, as `mount --json` prints it when it has ended. */
export interface MountReport {
  folder: string;
  files: number;
}

interface MountWork extends WorkOptions {
  /** As it was named, and its absolute path. */
  folder: string;
  path: string;
  signal: AbortSignal;
  /** Folder for temporary files. */
  temporary: string;
  onMounted?: ((report: MountReport) => void) | undefined;
  /** The FUSE library. */
  fuse: FuseClass;
}

/** The part of fuse-native that is used. It comes without types, and may not be there at all. */
interface Fuse {
  mount(done: (error: Error | null) => void): void;
  unmount(done: (error: Error | null) => void): void;
}
type FuseClass = new (folder: string, operations: object, options: object) => Fuse;

const lookEveryMs = 1000;

/** Checks that a source can be mounted at a folder, before it is opened and its names are gone through. @throws E_USAGE, E_UNSUPPORTED, E_STORE */
export async function demandMountable(folder: string): Promise<Pick<MountWork, 'folder' | 'path' | 'fuse'>> {
  const path = resolve(folder);
  // The library hands the path to a shell, inside double quotes.
  if (/["$`\\]/.test(path)) throw new PakratError('E_USAGE', `${path}: such a path cannot be mounted on`);
  demandEmpty(path);
  return { folder, path, fuse: await loadFuse() };
}

/**
 * Shows a source as a read-only file system until the signal is aborted or somebody unmounts it.
 * @returns `stuck` when the library still waits for its own way of unmounting, and would keep the process for ever
 * @throws E_STORE when it cannot be mounted there, E_ABORTED before it is
 */
export async function mountSource(
  source: Source,
  { folder, path, signal, temporary, onMounted, onProgress, fuse: FuseNative }: MountWork,
): Promise<MountReport & { stuck: boolean }> {
  const tree = await buildTree(source, { temporary, signal, onProgress });
  try {
    const report = { folder, files: tree.files };
    const { count, first } = tree.skipped;
    if (count > 0) onProgress?.({ type: 'note', text: `${count} names cannot be shown: ${first} …` });
    makeFolder(path);
    // "ro" has no option of its own in the library; behind a comma it reaches the system all the same.
    const fuse = new FuseNative(path, operations(source, tree), { timeout: false, fsname: 'pakrat,ro' });
    await done((tell) => fuse.mount(tell)).catch((error: unknown) => {
      throw notMounted(path, error);
    });
    onMounted?.(report);
    const stillMounted = await untilEnd(path, signal);
    return { ...report, stuck: stillMounted ? await unmount(fuse, path) : true };
  } finally {
    tree.close();
  }
}

async function loadFuse(): Promise<FuseClass> {
  // A name that is no literal: where the library is not installed its types are not there either.
  const library = 'fuse-native';
  try {
    bringLibfuse(library);
    return ((await import(library)) as { default: FuseClass }).default;
  } catch (cause) {
    throw new PakratError('E_UNSUPPORTED', 'mount needs the library fuse-native, which cannot be loaded here', {
      hint: `npm install fuse-native@2.2.6 (Linux and macOS); \`pakrat extract\` works without. The system says: ${messageOf(cause).split('\n')[0]}`,
      cause,
    });
  }
}

/** RTLD_NODELETE, which Node does not name: what is no addon of Node's stays loaded although it is refused as one. */
const keepLoaded = 0x1000;

/**
 * The library was linked against the system's libfuse.so.2, which few systems still have, and brings one of its own that nothing
 * would find. Loaded first, it is taken for the system's.
 */
function bringLibfuse(library: string): void {
  if (process.platform !== 'linux') return;
  const root = dirname(createRequire(import.meta.url).resolve(`${library}/package.json`));
  const own = join(root, 'prebuilds', `linux-${process.arch}`, 'libfuse.so');
  const { RTLD_NOW, RTLD_GLOBAL } = constants.dlopen;
  try {
    process.dlopen({ exports: {} }, own, RTLD_NOW | RTLD_GLOBAL | keepLoaded);
  } catch {
    // It never registers as an addon. Whether it was of use shows when the library itself is loaded.
  }
}

/** Unmounts, with the system's own command where the library's helper is not there. @returns whether the library waits for ever */
async function unmount(fuse: Fuse, folder: string): Promise<boolean> {
  try {
    await done((tell) => fuse.unmount(tell));
    return false;
  } catch (error) {
    const { status } = spawnSync('umount', ['-l', folder], { stdio: 'ignore' });
    if (status === 0) return true;
    throw new PakratError('E_STORE', `${folder} cannot be unmounted: ${messageOf(error)}`, {
      hint: `Run \`fusermount -u ${folder}\` or \`umount ${folder}\`.`,
      cause: error,
    });
  }
}

function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw notMounted(folder, error);
  }
  demandEmpty(folder);
}

/** What is in a folder would be hidden. @throws E_USAGE, E_STORE; not where nothing is there */
function demandEmpty(folder: string): void {
  let inside: string | undefined;
  try {
    const isFolder = fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory();
    if (isFolder === undefined) return;
    if (!isFolder) throw new PakratError('E_USAGE', `${folder} is a file, a folder is needed`);
    [inside] = fs.readdirSync(folder);
  } catch (error) {
    throw isPakratError(error) ? error : notMounted(folder, error);
  }
  if (inside === undefined) return;
  throw new PakratError('E_USAGE', `${folder} is not empty: ${inside} is in it`, {
    hint: 'Name an empty folder, or one that is not there: it is made.',
    data: { path: folder },
  });
}

function notMounted(folder: string, error: unknown): PakratError {
  const missing = process.platform === 'linux' && !fs.existsSync('/dev/fuse');
  const code = missing || process.platform === 'win32' ? 'E_UNSUPPORTED' : 'E_STORE';
  const hint =
    code === 'E_UNSUPPORTED'
      ? 'There is no FUSE on this system (/dev/fuse); `pakrat extract` works without.'
      : 'The folder must be yours and not mounted on already (fusermount -u ends an old mount), and you must be allowed to use /dev/fuse.';
  return new PakratError(code, `${folder} cannot be mounted on: ${messageOf(error)}`, { hint, cause: error });
}

function done(start: (tell: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}

/** Waits for an interruption (true), or until the folder is no longer mounted on (false). */
function untilEnd(folder: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (!isMounted(folder)) end(false);
    }, lookEveryMs);
    const end = (stillMounted: boolean): void => {
      clearInterval(timer);
      resolve(stillMounted);
    };
    if (signal.aborted) end(true);
    else signal.addEventListener('abort', () => end(true), { once: true });
  });
}

/** Looks into the system's list: to look at the folder itself would wait for this very process. */
function isMounted(folder: string): boolean {
  if (!fs.existsSync('/proc/self/mounts')) return true;
  const escaped = folder.replaceAll(' ', '\\040');
  return fs.readFileSync('/proc/self/mounts', 'utf8').includes(` ${escaped} `);
}
