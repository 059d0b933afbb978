import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { isPakratError, PakratError } from '../../core/errors.ts';
import type { WorkOptions } from '../../core/progress.ts';
import { storeError, writeAll } from '../../files/durable.ts';
import { fileSource } from '../../files/file-source.ts';
import { readPieces } from '../../files/pieces.ts';
import { clearDeadTemporaries, releaseTemporary, removeTemporary, temporaryName } from '../../files/temporary.ts';
import { walkFiles } from '../../files/walk.ts';
import type { PackFile, PackResult, PackSink } from '../../paks/packing.ts';
import { countedFiles } from '../counted-files.ts';
import { parseKeys } from './given-keys.ts';

/** Options of making a PAK, whatever its family. */
export interface PackOptions extends WorkOptions {
  /** Write over a file that is there. */
  force?: boolean | undefined;
}

/** A PAK that was made, as `pack --json` prints it. */
export interface PackReport extends PackResult {
  path: string;
}

/** Small pieces are gathered up to this size before they are written. */
const gatheredBytes = 1 << 20;

/**
 * Makes a PAK of a folder. Its name only ever has the whole of it.
 * @param write writes the PAK of its family
 * @throws E_USAGE when it is there already or the folder holds nothing, and as the families do
 */
export async function packFolder(
  path: string,
  folder: string,
  options: PackOptions,
  write: (files: PackFile[], sink: PackSink) => Promise<PackResult>,
): Promise<PackReport> {
  const out = resolve(path);
  const { force = false } = options;
  if (!force) refuseExisting(out);
  const files = folderFiles(folder, out, options);
  if (files.length === 0) throw new PakratError('E_USAGE', `${folder} has no files in it`, { data: { path: folder } });
  clearDeadTemporaries(dirname(out));
  const temporary = temporaryName(dirname(out), '.pakrat-');
  try {
    fs.mkdirSync(dirname(out), { recursive: true });
    const fd = fs.openSync(temporary, 'wx');
    const result = await writeInto(fd, (sink) => write(files, sink));
    if (!force) refuseExisting(out);
    fs.renameSync(temporary, out);
    releaseTemporary(temporary);
    return { path, ...result };
  } catch (error) {
    removeTemporary(temporary);
    throw isPakratError(error) ? error : storeError(error, out);
  }
}

/** Runs `write` with a file as its sink, flushes and closes it. */
async function writeInto(fd: number, write: (sink: PackSink) => Promise<PackResult>): Promise<PackResult> {
  const buffer = Buffer.allocUnsafe(gatheredBytes);
  let filled = 0;
  let size = 0;
  const put = (bytes: Uint8Array): void => {
    writeAll(fd, bytes, size);
    size += bytes.length;
  };
  const flush = (): void => {
    put(buffer.subarray(0, filled));
    filled = 0;
  };
  try {
    const result = await write({
      async write(bytes) {
        if (filled + bytes.length > buffer.length) flush();
        if (bytes.length > buffer.length) return put(bytes);
        buffer.set(bytes, filled);
        filled += bytes.length;
      },
    });
    flush();
    fs.fsyncSync(fd);
    return result;
  } finally {
    fs.closeSync(fd);
  }
}

function refuseExisting(out: string): void {
  if (!fs.existsSync(out)) return;
  throw new PakratError('E_USAGE', `${out} is there already`, {
    hint: 'Add --force to write over it.',
    data: { path: out },
  });
}

function folderFiles(folder: string, out: string, { signal, onProgress }: WorkOptions): PackFile[] {
  const files: PackFile[] = [];
  const { onPlan, onFile } = countedFiles('pack', onProgress);
  for (const { name, stat } of walkFiles(folder)) {
    const path = join(folder, name);
    const { size, mtime } = stat;
    let isCounted = false;
    // The PAK itself, when it is written into the folder that it is made of.
    if (resolve(path) === out) continue;
    const open = async function* (): AsyncGenerator<Uint8Array> {
      await breathe(signal);
      for await (const piece of contentOf(path, size)) {
        yield piece;
        await breathe(signal);
      }
      // A writer may read a file twice: for a hash, then to store it.
      if (!isCounted) onFile(size);
      isCounted = true;
    };
    files.push({ name, size, mtime, open });
  }
  onPlan(
    files.length,
    files.reduce((sum, { size }) => sum + size, 0),
  );
  return files;
}

async function* contentOf(path: string, size: number): AsyncGenerator<Uint8Array> {
  const source = await fileSource(path);
  try {
    // All of it, should it have grown: the writer then sees that it changed.
    yield* readPieces(source, 0, Math.max(size, source.size));
  } finally {
    await source.close();
  }
}

/**
 * The key to pack with: the only one given, or of a list the one for this PAK.
 * @throws E_USAGE when more than one may be meant
 */
export async function packKey(texts: readonly string[] | undefined, out: string): Promise<Uint8Array | undefined> {
  const keys = await parseKeys(texts ?? []);
  const stem = basename(out)
    .replace(/\.(pak|pack\.gbx)$/i, '')
    .toLowerCase();
  const own = keys.filter(({ name }) => name?.toLowerCase() === stem);
  const chosen = own.length > 0 ? own : keys;
  if (chosen.length > 1) {
    throw new PakratError('E_USAGE', `${chosen.length} keys are given, and a PAK is packed with one`, {
      hint: 'Give one key with --key.',
    });
  }
  return chosen[0]?.key;
}
