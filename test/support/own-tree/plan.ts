import { dice } from './content.ts';
import type { TreeOptions } from './options.ts';

/** How a file is encoded: its chunks plain (n), deflated (z), in blocks (b), mixed, or encrypted (e). */
export type Encoding = 'n' | 'z' | 'bz' | 'bn' | 'mix' | 'ez' | 'en';

/** A file that is to be made. */
export interface PlannedFile {
  id: number;
  name: string;
  /** Of its first revision. */
  size: number;
  /** As the rule of contents has it. */
  kind: 'r' | 't' | 'c';
  encoding: Encoding;
  /** Number of its key. */
  key: number | undefined;
  isLoose: boolean;
  /** The root has no hash of its name. */
  isNameless: boolean;
  isLocalized: boolean;
  /** It has a second encoding. */
  isTwice: boolean;
  priority: number;
  tagClass: string;
  /** There are other bytes for places where blood is not shown. */
  hasTwin: boolean;
  /** The revision in each build; undefined where the file is not in it. */
  revisions: Record<'a' | 'b', number | undefined>;
}

const folders = [
  ...Array.from({ length: 40 }, (_, i) => `world/maps/zone${String(i).padStart(3, '0')}`),
  'interface/icons',
  'interface/frames',
  'sound/music',
  'creature/wolf',
  'dbfilesclient',
  'character/human',
  'spells',
];
const extensions = ['adt', 'blp', 'm2', 'wmo', 'ogg', 'db2', 'anim', 'skin', 'mp3', 'lua'];
/** Shares of the encodings, summed up. */
const encodings: [below: number, encoding: Encoding][] = [
  [0.25, 'z'],
  [0.33, 'n'],
  [0.75, 'bz'],
  [0.82, 'bn'],
  [0.92, 'mix'],
  [0.97, 'ez'],
  [1, 'en'],
];
const addedShare = 0.03;
const removedShare = 0.02;
const namelessShare = 0.05;

/** Plans the files of both builds. The last of them is empty. */
export function planFiles(options: TreeOptions): PlannedFile[] {
  const weights = Array.from({ length: options.files }, (_, i) => Math.exp(1.4 * gauss(`${options.seed}|size|${i}`)));
  const scale = options.totalBytes / weights.reduce((sum, weight) => sum + weight, 0);
  const files = weights.map((weight, i) => planFile(i, Math.max(1, Math.floor(weight * scale)), options));
  const rest = {
    key: undefined,
    isLoose: false,
    isNameless: false,
    isLocalized: false,
    isTwice: false,
    hasTwin: false,
  };
  const name = 'interface/empty_0.txt';
  const last = {
    id: 100 + 2 * options.files,
    name,
    size: 0,
    kind: 'r',
    encoding: 'n',
    priority: 0,
    tagClass: 'all',
  } as const;
  return [...files, { ...last, ...rest, revisions: { a: 1, b: 1 } }];
}

function planFile(i: number, size: number, options: TreeOptions): PlannedFile {
  const roll = (what: string): number => dice(`${options.seed}|${what}|${i}`);
  const folder = folders[Math.floor(i / 7) % folders.length]!;
  const number = String(i).padStart(7, '0');
  const chosen = encodings.find(([below]) => roll('encoding') < below)![1];
  const isEncrypted = chosen.startsWith('e') && options.keys > 0 && size > 1;
  const isOdd = (chosen.startsWith('e') && !isEncrypted) || (chosen === 'mix' && size < 10);
  const encoding = isOdd ? 'bz' : chosen;
  const isLocalized = roll('localized') < options.localized;
  return {
    // Every other id, with a gap now and then.
    id: 100 + 2 * i - (roll('gap') < 0.1 ? 1 : 0),
    name: `${folder}/${folder.split('/').at(-1)}_${number}.${extensions[i % extensions.length]}`,
    size,
    kind: (['t', 't', 't', 'r', 'c'] as const)[Math.floor(roll('kind') * 5)]!,
    encoding,
    key: isEncrypted ? Math.floor(roll('key') * options.keys) : undefined,
    isLoose: roll('loose') < options.loose,
    isNameless: roll('nameless') < namelessShare,
    isLocalized,
    isTwice: roll('twice') < options.multiEkey && (encoding === 'z' || encoding === 'bz'),
    priority: [0, 0, 0, 1, 2][Math.floor(roll('priority') * 5)]!,
    tagClass:
      (['win', 'osx', 'speech'] as const)[[0.05, 0.1, 0.13].findIndex((below) => roll('class') < below)] ?? 'all',
    hasTwin: i % 97 === 0 && !isLocalized,
    revisions: {
      a: i < options.files * (1 - addedShare) ? 1 : undefined,
      b: i < Math.floor(options.files * removedShare) ? undefined : roll('changed') < options.changed ? 2 : 1,
    },
  };
}

/** A number of the normal distribution. */
function gauss(text: string): number {
  return Math.sqrt(-2 * Math.log(1 - dice(`${text}|radius`))) * Math.cos(2 * Math.PI * dice(`${text}|angle`));
}

/** A file of the install manifest: its path, its tags and its size. */
export type PlannedInstall = [path: string, tagClass: string, size: number];

/** Plans the install manifest. */
export function planInstall({ installFiles }: TreeOptions): PlannedInstall[] {
  const app = 'World of Warcraft.app\\Contents';
  const further = Array.from({ length: installFiles }, (_, i): PlannedInstall => {
    const tagClass = ['all', 'w64', 'osx', 'w32', 'de', 'us'][i % 6]!;
    return [`Data\\misc\\file${String(i).padStart(4, '0')}.bin`, tagClass, 500 + 37 * i];
  });
  return [
    ['Wow.exe', 'w64', 300_000],
    ['WowB.exe', 'w64', 200_000],
    ['Wow-ARM64.exe', 'warm', 250_000],
    ['Utils\\icudtl.dat', 'w64', 100_000],
    ['Utils\\WowVoiceProxy.exe', 'w64', 15_000],
    ['Utils\\WowVoiceProxy-China.exe', 'w64cn', 15_000],
    ['Utils32\\Handler.dll', 'w32', 9000],
    ['dbghelp.dll', 'w64', 12_000],
    [`${app}\\MacOS\\World of Warcraft`, 'osx', 280_000],
    [`${app}\\Info.plist`, 'osx', 2000],
    ['.flavor.info', 'all', 30],
    ...['en', 'de', 'fr', 'ko'].map(
      (language): PlannedInstall => [`${app}\\Resources\\${language}.lproj\\Startup.strings`, 'osx', 1500],
    ),
    ...further,
  ];
}
