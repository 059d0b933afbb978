import classes from '../../../../data/nadeo-classes.json' with { type: 'json' };
import { looksLikeGbx } from './gbx-header.ts';

const rootClass = 0x01001000;
const controlText = 0x07031000;
const controlBase = 0x07001000;
const gameEngineInFiles = 0x24;

/** Two ids in files for one class: the game writes the first. */
const challengeGroup = { engine: 0x03078000, file: 0x24061000 };

/** The curve node of ManiaPlanet, and the id that another reader mixes for it, where version 18 has a fixed one. */
const planetCurveNode = { classId: 0x09185000, mixed: rootClass };

/** ManiaPlanet and later: class to mixed id, where it is not that of the parent. */
const fixedMixes = idPairs(classes.planet.fixedMixes);
/** ManiaPlanet and later: classes that mix nothing, beside all plain structures (0x2F...). */
const plainClasses = new Set(classes.planet.plain.map(classIdOf));
const structureEngine = 0x2f;

interface ClassTables {
  parents: Map<number, number>;
  wraps: Map<number, number>;
  unwraps: Map<number, number>;
}

/** The classes of one generation of games, and the ids that they mix. */
export interface NodeClasses {
  /** The engine's id of a class id that stands in a file. */
  wrap(classId: number): number;
  /** True when a class of this (engine's) id is known. */
  isKnown(classId: number): boolean;
  /**
   * The ids that a node of this class may mix, likeliest first; undefined stands for none at all. A class that is not
   * known gives the likeliest of all classes, then none.
   */
  mixesOf(classId: number): (number | undefined)[];
  /** Every id that any class mixes. */
  readonly allMixes: readonly number[];
}

/** The classes that packs of a version were made with. Works the tables out, so keep it. */
export function nodeClasses(packVersion: number): NodeClasses {
  const isPlanet = packVersion >= 6;
  const [own, other] = isPlanet ? [planetTables(), unitedTables()] : [unitedTables(), planetTables()];
  const wrap = (classId: number) => own.wraps.get(classId) ?? classId;
  const isKnown = (classId: number) =>
    own.parents.has(classId) || other.parents.has(classId) || plainClasses.has(classId);
  return {
    wrap,
    isKnown,
    mixesOf(classId) {
      const mixes: (number | undefined)[] = [];
      const add = (mix: number | undefined) => {
        if (!mixes.includes(mix)) mixes.push(mix);
      };
      if (isPlanet) addPlanetRules(classId, packVersion, add);
      for (const table of [own, other]) {
        const parent = table.parents.get(classId);
        if (parent !== undefined) add(writtenId(table, parent));
      }
      if (mixes.length === 0) add(rootClass);
      add(undefined);
      return mixes;
    },
    get allMixes() {
      const mixes = [...own.parents.values()].map((parent) => writtenId(own, parent));
      return [...new Set([rootClass, ...mixes])];
    },
  };
}

function addPlanetRules(classId: number, packVersion: number, add: (mix: number | undefined) => void): void {
  if (plainClasses.has(classId) || classId >>> 24 === structureEngine) add(undefined);
  if (classId === planetCurveNode.classId && packVersion < 18) add(planetCurveNode.mixed);
  const fixed = fixedMixes.get(classId);
  if (fixed !== undefined) add(fixed);
}

function writtenId({ unwraps }: ClassTables, classId: number): number {
  const written = unwraps.get(classId) ?? classId;
  return written === controlText ? controlBase : written;
}

function unitedTables(): ClassTables {
  const wraps = idPairs(classes.united.wraps);
  const unwraps = new Map<number, number>();
  for (const [inFile, engine] of wraps) if (inFile >>> 24 === gameEngineInFiles) unwraps.set(engine, inFile);
  unwraps.set(challengeGroup.engine, challengeGroup.file);
  return { parents: parentsByChild(classes.united.parents), wraps, unwraps };
}

function planetTables(): ClassTables {
  const { parents, wraps, unwraps } = classes.planet;
  return { parents: parentsByChild(parents), wraps: idPairs(wraps), unwraps: idPairs(unwraps) };
}

function parentsByChild(childrenOf: Readonly<Record<string, readonly string[]>>): Map<number, number> {
  const parents = new Map<number, number>();
  for (const [parent, children] of Object.entries(childrenOf)) {
    for (const child of children) parents.set(classIdOf(child), classIdOf(parent));
  }
  return parents;
}

function idPairs(ids: Readonly<Record<string, string>>): Map<number, number> {
  return new Map(Object.entries(ids).map(([from, to]) => [classIdOf(from), classIdOf(to)]));
}

/** The id of digits in data/nadeo-classes.json: every one ends in 000, which is left out there. */
export function classIdOf(digits: string): number {
  return Number.parseInt(digits, 16) * 0x1000;
}

const otherFile = 0x09020000;

/** The class of a file: what a GBX says of itself, else what its ending means. Scripts are text before version 6. */
export function fileClassId(name: string, start: Uint8Array, packVersion: number): number {
  if (looksLikeGbx(start) && start.length >= 13) {
    const at = start[3]! >= 4 ? 9 : 8;
    return new DataView(start.buffer, start.byteOffset).getUint32(at, true);
  }
  const lower = name.toLowerCase();
  const found = Object.entries(classes.endings).find(
    ([ending]) => lower.endsWith(ending) && (packVersion >= 6 || ending !== '.script.txt'),
  );
  return found === undefined ? otherFile : classIdOf(found[1]);
}
