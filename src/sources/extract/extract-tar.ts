import { concatBytes } from '../../core/bytes.ts';
import { codeOf, isPakratError, PakratError } from '../../core/errors.ts';
import type { BoundedRows } from '../../core/tables/bounded-rows.ts';
import { outputPath } from '../../files/output/output-path.ts';
import { inBlocks, pieceSize } from '../../files/pieces.ts';
import { fileReader } from '../file-reader.ts';
import type { Source } from '../source.ts';
import {
  addFailure,
  addUnsure,
  type ExtractFailure,
  type ExtractOptions,
  type ExtractResult,
  failureRows,
} from './extraction.ts';
import { filesAhead } from './read-ahead.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

/** Content up to this size is held until it is whole; more is decoded twice, first to see that it is right. */
const heldSize = 32 << 20;

/**
 * Gives out files of a source as a tar. Nothing of a file is given out before all of it was decoded: one that fails is left out.
 * @param result told what was done, while it is done
 * @throws E_NOT_FOUND when a name or glob chooses nothing, E_ABORTED, E_INTEGRITY for a file that changes meanwhile
 */
export function tarFiles(
  source: Source,
  options: Omit<ExtractOptions, 'to'>,
  result: ExtractResult,
): AsyncGenerator<Uint8Array> {
  // What was given out may still wait to be written: it is memory of its own.
  return inBlocks(tarPieces(source, options, result), pieceSize);
}

async function* tarPieces(
  source: Source,
  options: Omit<ExtractOptions, 'to'>,
  result: ExtractResult,
): AsyncGenerator<Uint8Array> {
  const read = fileReader(source, options);
  const failures = failureRows(result.failed);
  const onMissing = (name: string, error: unknown): void => addTarFailure(failures, name, error);
  for await (const { chosen, content } of filesAhead(source, options, onMissing)) {
    const { entry, output } = chosen;
    try {
      const path = outputPath(output);
      const { size, whole } =
        content === undefined ? await measure(read(entry)) : { size: content.length, whole: content };
      yield tarHeader(path, size, entry.mtime);
      yield* whole === undefined ? again(read(entry), entry.name, size) : [whole];
      yield tarPadding(size);
      result.files += 1;
      result.bytes += size;
      if (options.raw !== true && (await source.isUnsure?.(entry))) addUnsure(result, entry.name);
      options.onFile?.(size);
    } catch (error) {
      addTarFailure(failures, entry.name, error);
      options.onFile?.(0);
    }
  }
  yield tarEnd();
}

/** A file that fails when its header is out breaks the tar. */
function addTarFailure(failures: BoundedRows<ExtractFailure>, name: string, error: unknown): void {
  if (isPakratError(error) && error.data.isBroken === true) throw error;
  addFailure(failures, name, error);
}

/** Decodes all of a file: its size, and its content when that is small. */
async function measure(pieces: AsyncIterable<Uint8Array>): Promise<{ size: number; whole: Uint8Array | undefined }> {
  let held: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > heldSize) held = undefined;
    held?.push(piece.slice());
  }
  return { size, whole: held && concatBytes(held) };
}

/** The second pass. The header is out by then, so that a failure breaks the whole tar. */
async function* again(pieces: AsyncIterable<Uint8Array>, name: string, size: number): AsyncGenerator<Uint8Array> {
  const broken = (cause?: unknown): PakratError =>
    new PakratError('E_INTEGRITY', `${name} changed while it was read: the tar is broken off`, {
      cause,
      data: { name, isBroken: true },
    });
  let done = 0;
  try {
    for await (const piece of pieces) {
      done += piece.length;
      yield piece;
    }
  } catch (cause) {
    throw codeOf(cause) === 'E_ABORTED' ? cause : broken(cause);
  }
  if (done !== size) throw broken();
}
