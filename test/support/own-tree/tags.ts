import type { PublishTag } from '../../../src/publish/files/publish-file.ts';

const locales = ['deDE', 'enUS', 'esES', 'frFR', 'koKR', 'ptBR', 'ruRU', 'zhCN'];
const regions = ['CN', 'EU', 'KR', 'TW', 'US'];

/** The tags by their types: platform, architecture, locale, region, speech or text. */
const tagsByType: Readonly<Record<number, readonly string[]>> = {
  1: ['OSX', 'Windows'],
  2: ['arm64', 'x86_32', 'x86_64'],
  3: locales,
  4: regions,
  5: ['speech', 'text'],
};

/** What files of a class are for, where that is not everything. */
const classes: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  all: {},
  osx: { 1: ['OSX'] },
  win: { 1: ['Windows'] },
  w64: { 1: ['Windows'], 2: ['x86_64'] },
  w32: { 1: ['Windows'], 2: ['x86_32'] },
  warm: { 1: ['Windows'], 2: ['arm64'] },
  w64cn: { 1: ['Windows'], 2: ['x86_64'], 4: ['CN'] },
  speech: { 5: ['speech'] },
  de: { 3: ['deDE'] },
  us: { 4: ['US'] },
  ...Object.fromEntries(locales.map((locale) => [locale, { 3: [locale] }])),
};

/** The tags of a class of files: of each type all that apply, as real manifests have them. */
export function tagsOfClass(name: string): PublishTag[] {
  return Object.entries({ ...tagsByType, ...classes[name] }).flatMap(([type, names]) =>
    names.map((tag) => ({ name: tag, type: Number(type) })),
  );
}

/** The names of the tags of every class. */
export function tagTable(): Record<string, string[]> {
  return Object.fromEntries(Object.keys(classes).map((name) => [name, tagsOfClass(name).map((tag) => tag.name)]));
}
