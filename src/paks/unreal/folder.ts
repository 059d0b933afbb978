/*
 * The search path of a game's Paks folder. Every PAK has an order, the highest gives the file:
 *
 *   3    a PAK of the project's content; 4 when it is named after the project (Game/Content/Paks/Game-….pak)
 *   2    of the engine's content, 1 of the folder for saved files
 *   +100 times n for a name that ends in _P.pak: n is 1 for "_P" and "_0_P", and N + 1 for "_N_P"
 *
 * PAKs of the same order go by their paths, the last of the alphabet first. Names are compared without case, mount point
 * and name together. A delete record takes the name away from all lower PAKs.
 * (Order values from the engine's own rules, by CUE4Parse; a pair of base and patch checked on real files.)
 */
import { statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import type { ByteSource } from '../../core/byte-source.ts';
import { codeOf, isPakratError, messageOf, PakratError } from '../../core/errors.ts';
import { fileSource } from '../../files/file-source.ts';
import { walk } from '../../files/walk.ts';
import { foldName } from '../names.ts';
import type { LockedPart, Pak } from '../pak.ts';
import type { SearchStep } from '../search-path/placed-rows.ts';
import { closeSteps, joinSearchPath, openStepPak, type SharedStep } from '../search-path/search-path.ts';
import { hasFooterMagic, maxFooterSize } from './footer.ts';
import { mountedNames } from './index/index-rows.ts';
import { openUnrealPak } from './open.ts';
import type { SharedIndex } from './opened-index.ts';
import type { UnrealOptions } from './options.ts';
import type { UnrealPak } from './unreal-pak.ts';

const patchOrder = 100;

/** Order of a PAK by its whole path, as far as that tells; of two PAKs the one of the higher order wins. */
export function pakOrder(path: string): number {
  return baseOrder(path) + patchOrder * patchNumber(path);
}

function baseOrder(path: string): number {
  const folders = path.replaceAll('\\', '/').toLowerCase().split('/');
  const name = folders.at(-1);
  const paks = folders.lastIndexOf('paks');
  if (folders[paks - 1] === 'saved') return 1;
  const project = folders[paks - 1] === 'content' ? folders[paks - 2] : undefined;
  if (project === 'engine') return 2;
  return project !== undefined && name?.startsWith(`${project}-`) ? 4 : 3;
}

function patchNumber(path: string): number {
  const match = /(?:_(\d+))?_P\.pak$/i.exec(path);
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
  for (const { name } of walk(path, { largeUnsorted: true })) {
    await breathe();
    if (isPakName(name) && isFile(join(path, name)) && (await hasFooter(join(path, name)))) return true;
  }
  return false;
}

async function hasFooter(path: string): Promise<boolean> {
  const source = await fileSource(path);
  try {
    const size = Math.min(source.size, maxFooterSize);
    return hasFooterMagic(await source.read(source.size - size, size));
  } finally {
    await source.close();
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isPakName(name: string): boolean {
  return /\.pak$/i.test(name);
}

/**
 * The files of a Paks folder as the game sees them: those of patches in place of those they replace. Names are whole:
 * mount point and name, without what leads out of the game's folder. PAKs that no key opens, and files that are no
 * Unreal PAK, are left out with a note.
 * @param shared the indices of its PAKs, as another thread opened them with the same options: then nothing is looked for
 * @throws E_NOT_FOUND when there is no PAK, E_KEY_MISSING when none can be opened, and as a PAK that is damaged
 */
export async function openUnrealFolder(
  path: string,
  options: UnrealOptions = {},
  shared?: readonly SharedStep[],
): Promise<Pak> {
  const root = resolve(path);
  const { found, notes } = shared === undefined ? await findPaks(root) : { found: shared, notes: [] };
  if (found.length === 0) throw new PakratError('E_NOT_FOUND', `${path} has no PAK in it`);
  const lockedParts: LockedPart[] = [];
  const steps = await openSteps(found, { root, options, notes, lockedParts });
  const inGame = mountedNames('');
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
    keyOf: (name) => foldName(inGame(name)),
  });
}

/** A PAK of a folder: its path in it, with `/`, and its index where that was opened. */
interface FoundPak {
  label: string;
  directory?: unknown;
}

/** The PAKs below a folder, the one that wins first. */
async function findPaks(root: string): Promise<{ found: FoundPak[]; notes: string[] }> {
  const paths: string[] = [];
  let containers = 0;
  for (const { name } of walk(root, { largeUnsorted: true })) {
    await breathe();
    if (isPakName(name) && isFile(join(root, name))) paths.push(join(root, name));
    else if (/\.utoc$/i.test(name)) containers += 1;
  }
  // It is opened by its label: where `/` stands between folders, a back-slash is a letter of a name.
  const labels = sortPaks(paths).map((path) => relative(root, path).replaceAll(sep, '/'));
  const notes = containers > 0 ? [`${containers} IoStore containers (.utoc, .ucas) beside the PAKs are not read`] : [];
  return { found: labels.map((label) => ({ label })), notes };
}

async function openSteps(
  found: readonly FoundPak[],
  folder: { root: string; options: UnrealOptions; notes: string[]; lockedParts: LockedPart[] },
): Promise<SearchStep[]> {
  const { root, options, notes, lockedParts } = folder;
  const steps: SearchStep[] = [];
  try {
    for (const { label, directory } of found) {
      try {
        const open = (source: ByteSource): Promise<UnrealPak> =>
          openUnlocked(source, options, directory as SharedIndex | undefined);
        const pak = await openStepPak(join(root, label), label, open);
        const mounted = mountedNames(pak.mountPoint);
        steps.push({ label, pak, nameOf: ({ name }) => mounted(name) });
      } catch (error) {
        if (isPakratError(error) && error.code === 'E_KEY_MISSING') lockedParts.push({ origin: label, error });
        else if (codeOf(error) !== 'E_FORMAT_MAGIC') throw error;
        const hint = isPakratError(error) && error.code === 'E_KEY_MISSING' ? `. ${error.hint}` : '';
        notes.push(`${label} is left out: ${messageOf(error)}${hint}`);
      }
    }
    if (steps.length === 0) {
      throw lockedParts[0]?.error ?? new PakratError('E_NOT_FOUND', `${root} has no Unreal PAK in it`);
    }
  } catch (error) {
    await closeSteps(steps);
    throw error;
  }
  return steps;
}

async function openUnlocked(source: ByteSource, options: UnrealOptions, shared?: SharedIndex): Promise<UnrealPak> {
  const pak = await openUnrealPak(source, options, shared);
  if (pak.locked !== undefined) throw pak.locked;
  return pak;
}
