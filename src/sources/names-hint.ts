import { isPakratError, PakratError } from '../core/errors.ts';
import { normalizeName } from '../core/jenkins.ts';
import { isBuildSource } from './build-source.ts';
import type { Source, SourceEntry } from './source.ts';

/** Advice for when no name of a source matches: many builds have no names without a list. Undefined where a list is there, or none would help. */
export function namesHint(source: Source): string | undefined {
  if (!isBuildSource(source) || source.kind !== 'build' || source.build.hasListfile()) return undefined;
  return 'Many files are known by id only until a list of names is there: `pakrat listfile import FILE`.';
}

/** Gives a better hint to an error about a name that is not there, or a glob that none matches; any other error is given back. */
export async function withNamesHint(error: unknown, source: Source): Promise<unknown> {
  if (!isPakratError(error) || error.code !== 'E_NOT_FOUND') return error;
  const { name, glob } = error.data;
  let hint = error.hint;
  if (glob !== undefined) hint ??= namesHint(source);
  else if (typeof name === 'string') {
    const alike = await namesAlike(source, name);
    if (alike.length > 0) hint = `Did you mean ${alike.join(' or ')}?`;
  }
  return new PakratError(error.code, error.message, { hint, data: error.data, cause: error.cause });
}

/** One file of a source. @throws E_NOT_FOUND that says which names are alike, else as the source's `get` */
export async function getNamed<Entry extends SourceEntry>(source: Source<Entry>, name: string): Promise<Entry> {
  try {
    return await source.get(name);
  } catch (error) {
    throw await withNamesHint(error, source);
  }
}

const mostAlike = 3;

/** Names that end in the same part: the folder was left out, or is another one. */
async function namesAlike(source: Source, name: string): Promise<string[]> {
  const lastPart = (text: string): string => normalizeName(text).replace(/^.*[/\\]/, '');
  const wanted = lastPart(name);
  const names: string[] = [];
  if (wanted === '') return names;
  for await (const entry of source.list((other) => lastPart(other) === wanted)) {
    if (!names.includes(entry.name)) names.push(entry.name);
    if (names.length === mostAlike) break;
  }
  return names;
}
