import { breathe } from '../core/breathe.ts';
import { PakratError } from '../core/errors.ts';
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
      for await (const piece of read(entry)) {
        await breathe(signal);
        yield piece;
      }
    };
  }
  throw new PakratError('E_UNSUPPORTED', `${source.label}: files of this source cannot be taken out raw`, {
    hint: 'Leave --raw away.',
  });
}
