import { isPakratError, PakratError, withHint } from '../core/errors.ts';
import { fold } from '../core/glob.ts';
import { didYouMean, nearest } from '../core/names/nearest.ts';
import { folderOf } from './folders.ts';
import type { Source, SourceEntry } from './source.ts';

/** Advice for when no name of a source matches: many builds have no names without a list. Undefined where a list is there, or none would help. */
async function namesHint(source: Source): Promise<string | undefined> {
  // Loaded where something is wrong: a PAK needs nothing of builds.
  const { isBuildSource } = await import('./build-source.ts');
  if (!isBuildSource(source) || source.kind !== 'build' || source.build.hasListfile()) return undefined;
  return 'Many files are known by id only until a list of names is there: `pakrat listfile import FILE`.';
}

/** Says more of a name that is not there: that it is a folder, or which are alike; and of a glob that none matches. Any other error is given back. */
export async function withNamesHint(error: unknown, source: Source): Promise<unknown> {
  if (!isPakratError(error) || error.code !== 'E_NOT_FOUND') return error;
  const { name, glob } = error.data;
  let hint = error.hint;
  if (glob !== undefined) hint ??= await namesHint(source);
  else if (typeof name === 'string') {
    const { isFolder, alike } = await namesAlike(source, name);
    if (isFolder) return folderError(source, name);
    hint = didYouMean(alike) ?? hint ?? (await namesHint(source));
  }
  return withHint(error, hint);
}

function folderError(source: Source, name: string): PakratError {
  return new PakratError('E_USAGE', `${name} is a folder of ${source.label}, a file is needed`, {
    hint: `\`pakrat ls SOURCE ${name}\` shows the files in it.`,
    data: { name },
  });
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

/** Siblings that a misspelt name is compared with. */
const mostSiblings = 10_000;

/** Files and folders whose names end in the same part, for the folder was left out or is another one; else those beside it that are spelt much alike. */
async function namesAlike(source: Source, name: string): Promise<{ isFolder: boolean; alike: string[] }> {
  const [, parent = '', last = ''] = /^(.*\/)?([^/]*)$/s.exec(fold(name).replace(/\/+$/, '')) ?? [];
  if (last === '') return { isFolder: false, alike: [] };
  const [wanted, folder, above] = [`/${last}`, folderOf(name), folderOf(parent)];
  const [alike, siblings] = [new Set<string>(), new Set<string>()];
  let isFolder = false;
  const none = source.list((other) => {
    isFolder ||= folder.start(other) >= 0;
    const start = above.start(other);
    if (start >= 0 && siblings.size < mostSiblings) siblings.add(other.slice(start).replace(/\/.*$/s, '/'));
    if (alike.size === mostAlike) return false;
    const folded = `/${fold(other)}`;
    const at = folded.indexOf(`${wanted}/`);
    if (folded.endsWith(wanted)) alike.add(other);
    else if (at >= 0) alike.add(other.slice(0, at + wanted.length));
    return false;
  });
  for await (const _ of none);
  const near = alike.size > 0 ? [...alike] : nearest(last, siblings).map((sibling) => parent + sibling);
  return { isFolder, alike: near };
}
