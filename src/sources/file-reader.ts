import { breathe } from '../core/breathe.ts';
import { PakratError } from '../core/errors.ts';
import { slicePieces } from '../files/pieces.ts';
import type { Source, SourceEntry } from './source.ts';

/** Whether files are read as they are stored, and the signal that ends it. */
interface ReadingOptions {
  raw?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Reads files of a source, or with `raw` the bytes as they are stored. @throws E_UNSUPPORTED where these cannot be had, E_ABORTED */
export function fileReader(
  source: Source,
  { raw = false, signal }: ReadingOptions,
): (entry: SourceEntry) => AsyncIterable<Uint8Array> {
  const read = raw ? source.readRaw?.bind(source) : source.read.bind(source);
  if (read !== undefined) {
    return async function* (entry) {
      for await (const piece of read(entry, signal)) {
        await breathe(signal);
        yield piece;
      }
    };
  }
  throw new PakratError('E_UNSUPPORTED', `${source.label}: files of this source cannot be taken out raw`, {
    hint: 'Leave --raw away.',
  });
}

/** A part of a file. */
interface FilePart {
  offset: number;
  /** Undefined for the rest of the file. */
  size: number | undefined;
  /** Ends the waiting for bytes that have to be fetched. */
  signal?: AbortSignal | undefined;
}

/**
 * The bytes of a part of a file: from little more than what holds them where the source can, else along the file.
 * @throws E_USAGE for a part that the file does not have, else as the source's `read`
 */
export async function* readPart(
  source: Source,
  entry: SourceEntry,
  { offset, size, signal }: FilePart,
): AsyncGenerator<Uint8Array> {
  const end = size === undefined ? (entry.size ?? Number.POSITIVE_INFINITY) : offset + size;
  if (!(offset >= 0 && end >= offset && end <= (entry.size ?? Number.POSITIVE_INFINITY))) {
    throw new PakratError('E_USAGE', `${entry.name} has ${entry.size} bytes, not ${size ?? 'any'} from ${offset}`, {
      data: { name: entry.name },
    });
  }
  if (offset === 0 && end === (entry.size ?? end)) yield* source.read(entry, signal);
  else if (source.readRange !== undefined) yield* source.readRange(entry, offset, end - offset, signal);
  else yield* slicePieces(source.read(entry, signal), offset, end - offset);
}
