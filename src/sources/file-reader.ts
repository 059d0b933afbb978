import { PakratError } from '../core/errors.ts';
import type { Source, SourceEntry } from './source.ts';

/** Reads files of a source, or with `raw` the bytes as they are stored. @throws E_UNSUPPORTED where these cannot be had */
export function fileReader(source: Source, raw = false): (entry: SourceEntry) => AsyncIterable<Uint8Array> {
  const read = raw ? source.readRaw?.bind(source) : source.read.bind(source);
  if (read !== undefined) return read;
  throw new PakratError('E_UNSUPPORTED', `${source.label}: files of this source cannot be taken out raw`, {
    hint: 'Leave --raw away.',
  });
}
