/*
 * Which PAK of a game's Paks folder gives a file. Every PAK has an order, the highest wins:
 *
 *   3    a PAK of the project's content; 4 when it is named after the project (Game/Content/Paks/Game-….pak)
 *   2    of the engine's content, 1 of the folder for saved files
 *   +100 times n for a name that ends in _P.pak: n is 1 for "_P" and "_0_P", and N + 1 for "_N_P"
 *
 * PAKs of the same order go by their paths, the last of the alphabet first. Names are compared without case, mount point
 * and name together. A delete record takes the name away from all lower PAKs.
 * (Order values from the engine's own rules, by CUE4Parse; a pair of base and patch checked on real files.)
 */
import { basename, join, resolve } from 'node:path';
import { codeOf, isPakratError, PakratError } from '../../core/errors.ts';
import { fileSource } from '../../files/file-source.ts';
import { walkFiles } from '../../files/walk.ts';
import { foldName } from '../names.ts';
import type { LockedPart, Pak } from '../pak.ts';
import { closeSteps, joinSearchPath, type SearchStep } from '../search-path.ts';
import { hasFooterMagic, maxFooterSize } from './footer.ts';
import { mountedName } from './index/mount-point.ts';
import { openUnrealPak } from './open.ts';
import type { UnrealOptions } from './options.ts';

const patchOrder = 100;

/** Order of a PAK by its whole path, as far as that tells; of two PAKs the one of the higher order wins. */
export function pakOrder(path: string): number {
  const parts = path.replaceAll('\\', '/').split('/');
  const name = parts.at(-1)!;
  return baseOrder(parts, name) + patchOrder * patchNumber(name);
}

function baseOrder(parts: readonly string[], name: string): number {
  const folders = parts.map((part) => part.toLowerCase());
  const paks = folders.lastIndexOf('paks');
  if (folders[paks - 1] === 'saved') return 1;
  const project = folders[paks - 1] === 'content' ? folders[paks - 2] : undefined;
  if (project === 'engine') return 2;
  return project !== undefined && name.toLowerCase().startsWith(`${project}-`) ? 4 : 3;
}

function patchNumber(name: string): number {
  const match = /(?:_(\d+))?_P\.pak$/i.exec(name);
  if (match === null) return 0;
  const chunk = Number(match[1] ?? 0);
  return chunk >= 1 ? chunk + 1 : 1;
}

/** Paths of some PAKs in the engine's order, the one that wins first. */
export function sortPaks(paths: readonly string[]): string[] {
  const ranked = paths.map((path) => ({ path, order: pakOrder(path), key: foldName(path) }));
  ranked.sort((a, b) => b.order - a.order || (a.key < b.key ? 1 : -1));
  return ranked.map(({ path }) => path);
}

/** True for a folder with an Unreal PAK in it, or in a folder in it. Reads the end of the PAKs it looks at. */
export async function isUnrealFolder(path: string): Promise<boolean> {
  for (const name of pakNames(path)) {
    const source = await fileSource(join(path, name));
    try {
      const size = Math.min(source.size, maxFooterSize);
      if (hasFooterMagic(await source.read(source.size - size, size))) return true;
    } finally {
      await source.close();
    }
  }
  return false;
}

function pakNames(path: string): string[] {
  return [...walkFiles(path)].flatMap(({ name }) => (/\.pak$/i.test(name) ? [name] : []));
}

/**
 * The files of a Paks folder as the game sees them: those of patches in place of those they replace. Names are whole:
 * mount point and name, without what leads out of the game's folder. PAKs that no key opens, and files that are no
 * Unreal PAK, are left out with a note.
 * @throws E_NOT_FOUND when there is no PAK, E_KEY_MISSING when none can be opened, and as a PAK that is damaged
 */
export async function openUnrealFolder(path: string, options: UnrealOptions = {}): Promise<Pak> {
  const root = resolve(path);
  const names = [...walkFiles(root)].map(({ name }) => name);
  const paks = sortPaks(names.filter((name) => /\.pak$/i.test(name)).map((name) => join(root, name)));
  if (paks.length === 0) throw new PakratError('E_NOT_FOUND', `${path} has no PAK in it`);
  const notes: string[] = [];
  const containers = names.filter((name) => /\.utoc$/i.test(name)).length;
  if (containers > 0) notes.push(`${containers} IoStore containers (.utoc, .ucas) beside the PAKs are not read`);
  const lockedParts: LockedPart[] = [];
  const steps = await openSteps(paks, { root, options, notes, lockedParts });
  return joinSearchPath(steps, {
    family: 'unreal-folder',
    version: [...new Set(steps.map(({ pak }) => pak.version))].join(', '),
    lockedParts,
    notes,
    facts: {
      game: 'Unreal Engine',
      searchPath: steps.map(({ label }) => label),
      paks: steps.map(({ label, pak }) => ({ name: label, order: pakOrder(join(root, label)), version: pak.version })),
    },
    keyOf: (name) => foldName(mountedName('', name)),
  });
}

interface FolderWork {
  root: string;
  options: UnrealOptions;
  notes: string[];
  lockedParts: LockedPart[];
}

async function openSteps(
  paths: readonly string[],
  { root, options, notes, lockedParts }: FolderWork,
): Promise<SearchStep[]> {
  const steps: SearchStep[] = [];
  try {
    for (const path of paths) {
      const label = path.slice(root.length + 1).replaceAll('\\', '/');
      try {
        steps.push(await openStep(path, label, options));
      } catch (error) {
        if (isPakratError(error) && error.code === 'E_KEY_MISSING') lockedParts.push({ origin: label, error });
        else if (codeOf(error) !== 'E_FORMAT_MAGIC') throw error;
        notes.push(`${label} is left out: ${(error as PakratError).message}`);
      }
    }
    if (steps.length === 0)
      throw lockedParts[0]?.error ?? new PakratError('E_NOT_FOUND', `${root} has no Unreal PAK in it`);
  } catch (error) {
    await closeSteps(steps);
    throw error;
  }
  return steps;
}

async function openStep(path: string, label: string, options: UnrealOptions): Promise<SearchStep> {
  const source = await fileSource(path);
  try {
    const pak = await openUnrealPak(source, options);
    const { mountPoint } = pak;
    return { label, pak, nameOf: ({ name }) => mountedName(mountPoint, name) };
  } catch (error) {
    await source.close();
    if (!isPakratError(error) || error.message.includes(basename(path))) throw error;
    throw new PakratError(error.code, `${label}: ${error.message}`, {
      hint: error.hint,
      data: error.data,
      cause: error,
    });
  }
}
