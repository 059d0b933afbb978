import { createHash } from 'node:crypto';
import type { FileName } from '../../../sources/names/find-entry.ts';
import type { NameIndex, NameLine } from '../../../sources/names/name-index.ts';
import type { Lease } from './served-sources.ts';

const placePattern = /^([0-9a-z]{1,9})-([\w-]{5})$/;

/** A line of the names in a few characters, for forms with hundreds of names and for names that no URL has room for: where it is, and a mark of its name. */
export function placeOf({ at, name }: Pick<NameLine, 'at' | 'name'>): string {
  return `${at.toString(36)}-${markOf(name)}`;
}

/** The line of a place; undefined when another name is there by now. */
export function lineAt(index: NameIndex, place: string): NameLine | undefined {
  const [, at = '', mark] = placePattern.exec(place) ?? [];
  const start = Number.parseInt(at, 36);
  if (mark === undefined || index.lineStart(start) !== start) return undefined;
  for (const line of index.lines(start)) return markOf(line.name) === mark ? line : undefined;
  return undefined;
}

/** The folder of a place, one that lies in `below`; undefined when another is there by now. */
export function folderAt(index: NameIndex, place: string, below: string): string | undefined {
  const [, at = '', mark] = placePattern.exec(place) ?? [];
  const start = Number.parseInt(at, 36);
  if (mark === undefined || index.lineStart(start) !== start) return undefined;
  for (const { name } of index.lines(start)) {
    const folder = name.slice(0, name.indexOf('/', below.length) + 1);
    return markOf(folder) === mark ? folder : undefined;
  }
  return undefined;
}

/** A file as a link names it. */
export interface LinkedFile extends FileName {
  place?: string | undefined;
}

/** The name of a linked file: it is there, or found by its place. */
export async function namedFile(lease: Lease, { name, index, place }: LinkedFile): Promise<FileName> {
  const line = place === undefined ? undefined : lineAt(await lease.names(), place);
  return line ?? { name, index };
}

function markOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 5);
}
