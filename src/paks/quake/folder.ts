/*
 * The search paths of the Quake family: which of the PAKs and loose files of game directories gives a file.
 *
 * Quake and QuakeSpasm: each game directory adds itself, then pak0.pak, pak1.pak … in front, up to the first number that
 * is missing. So within a directory the highest PAK wins, and loose files come last; a later directory beats an earlier
 * one whole. Directories come in the order id1, rogue, hipnotic, quoth, then the game that was asked for. QuakeSpasm puts
 * its own quakespasm.pak, from the folder around id1, between pak0 and pak1 of id1. Names are compared exactly. Without
 * the registered gfx/pop.lmp, loose files in sub-folders are never opened.
 *
 * Quake II (as Yamagi's engine does it): pak0 … pak99 with gaps allowed, then every other PAK of the directory in front
 * of those. Names are compared without case.
 *
 * File names are matched without case everywhere: CDs and Steam have PAK0.PAK.
 * (id Software's WinQuake, QuakeSpasm, Yamagi Quake II.)
 */
import { basename, dirname, join, resolve } from 'node:path';
import { PakratError } from '../../core/errors.ts';
import { compareNames } from '../../core/names/name-order.ts';
import { folderEntries } from '../../files/read-at.ts';
import { childOf, namesIn } from '../../files/walk.ts';
import { openLooseFiles } from '../loose-files.ts';
import { foldName } from '../names.ts';
import type { Pak, PakEntry } from '../pak.ts';
import type { SearchStep } from '../search-path/placed-rows.ts';
import { closeSteps, joinSearchPath, openStepPak } from '../search-path/search-path.ts';
import { registeredProof } from './directory.ts';
import type { QuakeEngine, QuakeOptions } from './options.ts';
import { openQuakePak } from './quake-pak.ts';

interface PlannedStep {
  kind: 'pak' | 'loose';
  /** Path of the PAK, or of the game directory. */
  path: string;
  /** `id1/pak0.pak`, or `id1` for loose files. */
  label: string;
}

interface QuakeSearchPath {
  engine: QuakeEngine;
  steps: PlannedStep[];
  /** Files that the engine leaves out although people may think that it takes them. */
  notes: string[];
}

const baseGames = ['id1', 'baseq2'];
const missionPacks = ['rogue', 'hipnotic', 'quoth'];
const numbered = /^pak(0|[1-9][0-9]*)\.pak$/i;
/** What an engine or its ports may load. */
const packed = /\.(?:pak|pk3|pkz)$/i;
const quake2LastNumber = 99;

/** True for a folder that has numbered PAKs or a base game in it, or when an engine or a game is asked for. */
export function isQuakeFolder(path: string, { engine, games = [] }: QuakeOptions = {}): boolean {
  if (engine !== undefined || games.length > 0) return true;
  return namesIn(path, (name) => numbered.test(name) || isBaseGame(name)).length > 0;
}

function isBaseGame(name: string): boolean {
  return baseGames.includes(name.toLowerCase());
}

/**
 * The order in which an engine looks through a game directory, or through the base game in the folder given.
 * @throws E_NOT_FOUND for a folder or game that is not there, E_USAGE for a game that is no plain folder name
 */
export function planQuakeSearch(path: string, options: QuakeOptions = {}): QuakeSearchPath {
  const first = firstGameDirectory(path);
  const engine = options.engine ?? (basename(first).toLowerCase() === 'baseq2' ? 'quake2' : 'quake');
  const games = [first, ...orderGames(options.games ?? []).map((game) => gameDirectory(dirname(first), game))];
  const notes: string[] = [];
  const steps = games.flatMap((game) => gameSteps(game, { engine, notes })).reverse();
  return { engine, steps, notes };
}

/** The files of a game directory as the engine sees them. Throws as {@link planQuakeSearch}, and as its PAKs do. */
export async function openQuakeFolder(path: string, options: QuakeOptions = {}): Promise<Pak> {
  const { engine, steps: planned, notes } = planQuakeSearch(path, options);
  const steps: SearchStep[] = [];
  try {
    for (const step of planned) steps.push(await openStep(step, options));
  } catch (error) {
    await closeSteps(steps);
    throw error;
  }
  const state = engine === 'quake2' ? undefined : quakeState(steps);
  if (state?.registered === false) hideLooseSubfolders(steps, notes);
  if (state?.modified === true && !state.registered) {
    notes.push('the engine does not start: the game is modified, and the registered version is not there');
  }
  return joinSearchPath(steps, {
    family: 'quake-folder',
    version: engine,
    notes,
    facts: { engine, searchPath: steps.map(({ label }) => label), ...state },
    keyOf: engine === 'quake2' ? foldName : (name) => name,
  });
}

function firstGameDirectory(path: string): string {
  const folder = resolve(path);
  const [base] = namesIn(folder, isBaseGame);
  return base === undefined ? folder : join(folder, base);
}

/** Mission packs come in the engine's order, whatever the order in which they were asked for. */
function orderGames(games: readonly string[]): string[] {
  const asked = games.map((game) => game.toLowerCase());
  return [
    ...missionPacks.filter((pack) => asked.includes(pack)),
    ...games.filter((game) => !missionPacks.includes(game.toLowerCase())),
  ];
}

function gameDirectory(base: string, game: string): string {
  if (game === '' || /[/\\:]|\.\./.test(game)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(game)} is no name of a game directory`);
  }
  const found = childOf(base, game);
  if (found === undefined) throw new PakratError('E_NOT_FOUND', `${base} has no game directory ${game}`);
  return found;
}

/** The steps that a directory adds, in the order in which the engine adds them: the weakest first. */
function gameSteps(directory: string, { engine, notes }: { engine: QuakeEngine; notes: string[] }): PlannedStep[] {
  const game = basename(directory);
  const names: string[] = [];
  for (const entry of folderEntries(directory))
    if (!entry.isDirectory() && packed.test(entry.name)) names.push(entry.name);
  names.sort(compareNames);
  const ordered = engine === 'quake2' ? quake2Paks(names) : quakePaks(names, { game, notes });
  const paks = ordered.map(
    (name): PlannedStep => ({ kind: 'pak', path: join(directory, name), label: `${game}/${name}` }),
  );
  if (engine === 'quakespasm' && game.toLowerCase() === 'id1' && paks.length > 0) {
    paks.splice(1, 0, ...enginePak(dirname(directory)));
  }
  const zips = names.filter((name) => /\.(pk3|pkz)$/i.test(name)).length;
  if (zips > 0 && engine !== 'quake') notes.push(`${game} has ${zips} pk3 files, which are not read`);
  return [{ kind: 'loose', path: directory, label: game }, ...paks];
}

function enginePak(base: string): PlannedStep[] {
  const path = childOf(base, 'quakespasm.pak');
  return path === undefined ? [] : [{ kind: 'pak', path, label: basename(path) }];
}

/** Numbers of PAKs with their file names. Of names that differ by case only, the lower-case one counts. */
function numberedPaks(names: readonly string[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of names) {
    const number = Number(numbered.exec(name)?.[1] ?? -1);
    if (number >= 0 && (!found.has(number) || name === name.toLowerCase())) found.set(number, name);
  }
  return found;
}

function quakePaks(names: readonly string[], { game, notes }: { game: string; notes: string[] }): string[] {
  const found = numberedPaks(names);
  const ordered: string[] = [];
  for (let name = found.get(0); name !== undefined; name = found.get(ordered.length)) ordered.push(name);
  const left = names.filter((name) => /\.pak$/i.test(name) && !ordered.includes(name));
  for (const name of left)
    notes.push(`the engine does not load ${game}/${name}: ${whyLeft(name, found, ordered.length)}`);
  return ordered;
}

function whyLeft(name: string, found: ReadonlyMap<number, string>, firstMissing: number): string {
  const number = Number(numbered.exec(name)?.[1] ?? -1);
  if (number < 0) return 'it is not named pak0.pak, pak1.pak …';
  return number < firstMissing ? `${found.get(number)} takes its place` : `pak${firstMissing}.pak is missing`;
}

function quake2Paks(names: readonly string[]): string[] {
  const found = numberedPaks(names);
  const ordered: string[] = [];
  for (let number = 0; number <= quake2LastNumber; number++) {
    const name = found.get(number);
    if (name !== undefined) ordered.push(name);
  }
  return [...ordered, ...names.filter((name) => /\.pak$/i.test(name) && !ordered.includes(name))];
}

async function openStep({ kind, path, label }: PlannedStep, options: QuakeOptions): Promise<SearchStep> {
  if (kind === 'loose') return { label, pak: openLooseFiles(path, (name) => !isTopLevelPak(name)) };
  return { label, pak: await openStepPak(path, label, (source) => openQuakePak(source, options)) };
}

function isTopLevelPak(name: string): boolean {
  return !name.includes('/') && /\.(pak|pk3|pkz)$/i.test(name);
}

interface QuakeState extends Record<string, unknown> {
  registered: boolean;
  /** In the engine's sense: it has any PAK but an original pak0.pak. */
  modified: boolean;
  releases: string[];
}

function quakeState(steps: readonly SearchStep[]): QuakeState {
  const paks = steps.filter(({ pak }) => pak.family === 'quake');
  const releases = paks.flatMap(({ pak }) => (typeof pak.facts.release === 'string' ? [pak.facts.release] : []));
  const proofs = steps.flatMap(({ pak }) => (pak.namesakes?.(registeredProof.name) ?? pak.entries).find(isProof) ?? []);
  return { registered: proofs.length > 0, modified: releases.length < paks.length, releases };
}

function isProof({ name, size }: PakEntry): boolean {
  return name === registeredProof.name && size === registeredProof.size;
}

function hideLooseSubfolders(steps: SearchStep[], notes: string[]): void {
  let hidden = 0;
  for (const step of steps) {
    if (step.pak.family !== 'folder') continue;
    hidden += step.pak.entries.filter(({ name }) => name.includes('/')).length;
    step.leavesOut = ({ name }) => name.includes('/');
  }
  if (hidden > 0) {
    notes.push(
      `${hidden} loose files in sub-folders are left out: without ${registeredProof.name} the engine never opens them`,
    );
  }
}
