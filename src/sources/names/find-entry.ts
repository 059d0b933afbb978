import { isNotFound, valueUnless } from '../../core/errors.ts';
import type { Source, SourceEntry } from '../source.ts';

/** A file as a link names it. */
export interface FileName {
  name: string;
  /** Its number in the source, where names may be there twice, or be no text. */
  index?: number | undefined;
}

/** A file of a source. @throws E_NOT_FOUND, and as the source's `get` */
export async function getEntry(source: Source, { name, index }: FileName): Promise<SourceEntry> {
  if (index === undefined) return source.get(name);
  const numbered = await valueUnless(isNotFound, source.get(`index:${index}`));
  // A file may be called like a number.
  return numbered?.index === index ? numbered : source.get(name);
}

/** As {@link getEntry}; undefined for a name that the source lists and does not give: it has no variant for the locale, or is no text. */
export async function findEntry(source: Source, file: FileName): Promise<SourceEntry | undefined> {
  return getEntry(source, file).catch(() => undefined);
}
