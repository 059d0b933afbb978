import * as fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isPakratError, PakratError } from '../../../core/errors.ts';
import { storeError, writeAll } from '../../../files/durable.ts';
import { releaseTemporary, removeTemporary, temporaryName } from '../../../files/temporary.ts';
import type { PackResult, PackSink } from '../../../paks/packing.ts';

/** Small pieces are gathered up to this size before they are written. */
const gatheredBytes = 1 << 20;

/**
 * Writes a PAK. Its name only ever has the whole of it.
 * @param force write over a file that is there
 * @param write writes the PAK of its family
 * @throws E_USAGE when it is there already, and as the families do
 */
export async function writePak(
  path: string,
  force: boolean,
  write: (sink: PackSink) => Promise<PackResult>,
): Promise<PackResult> {
  const out = resolve(path);
  if (!force) refuseExisting(out);
  const temporary = temporaryName(dirname(out), '.pakrat-');
  try {
    fs.mkdirSync(dirname(out), { recursive: true });
    const fd = fs.openSync(temporary, 'wx');
    const result = await writeInto(fd, write);
    if (!force) refuseExisting(out);
    fs.renameSync(temporary, out);
    releaseTemporary(temporary);
    return result;
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

/** Throws E_USAGE when a PAK is there already. */
export function refuseExisting(out: string): void {
  if (!fs.existsSync(out)) return;
  throw new PakratError('E_USAGE', `${out} is there already`, {
    hint: 'Add --force to write over it.',
    data: { path: out },
  });
}
