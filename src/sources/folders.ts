import { fold, type NeededText, patternOf } from '../core/glob.ts';

/*
 * Folders of a source: there are only names, and what stands before a slash in one of them is a folder. Case and the direction of slashes do
 * not matter, as for files.
 */

/** A folder that a person named. */
export interface Folder {
  /** As it was named. */
  text: string;
  /** What names in it begin with, folded; nothing for all. */
  path: string;
  /** Says where in a name the part below the folder begins; -1 for a name that is not below it. */
  start: (name: string) => number;
  /** What names below it begin with; undefined for all. */
  needed?: NeededText | undefined;
}

/** The folder that a text names: `textures/`, `Textures`, `/` or `.` for all. */
export function folderOf(text: string): Folder {
  const path = fold(text)
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '');
  if (path === '' || path === '.') return { text, path: '', start: () => 0 };
  const prefix = `${path}/`;
  const { length } = prefix;
  const slash = '/'.charCodeAt(0);
  const start = (name: string): number => {
    const isThere = name.charCodeAt(length - 1) === slash && fold(name.slice(0, length)) === prefix;
    return isThere ? length : -1;
  };
  // The Kelvin sign is another k: what stands before the first k is enough.
  const [ascii = ''] = /^[ -jl-~]*/.exec(prefix) ?? [];
  return {
    text,
    path: prefix,
    start,
    needed: ascii === '' ? undefined : { pattern: patternOf(ascii), isAtStart: true },
  };
}

/** True for a text that can name nothing but a folder. */
export function isFolderName(text: string): boolean {
  return text === '' || text === '.' || /[/\\]$/.test(text);
}
