import { isPakratError, messageOf, type PakratError } from '../../core/errors.ts';
import { nameMatcher, withFolders } from '../../core/glob.ts';
import { decodeLines } from '../../files/given/text-list.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';
import { findLocaleFlag } from '../../formats/roots/locale.ts';
import type { PublishFile, PublishTag } from './publish-file.ts';

/*
 * A tag file says what files are for: words, separated by commas, then a glob, on a line. All lines count that match a name.
 *
 *   # remark
 *   Windows,x86_64       bin/win64/**
 *   enUS                 Data/enUS/**
 *   category:HighRes     textures/4k/**      a tag that is not known by its name needs its type
 *   install              bin/**              it lies beside the data, so it is in the install manifest, too
 *   priority:-1          Data/boot/**        lower comes sooner, -128 to 127
 *   key:FA505078126ACB3E secrets/**          encrypted with this key
 */

/** Types of tags by the words for them, as official manifests number them. */
const types: Readonly<Record<string, number>> = {
  platform: 1,
  architecture: 2,
  locale: 3,
  region: 4,
  category: 5,
  alternate: 0x4000,
};

/** Tags that are known by their names, as official manifests have them. */
const known: Readonly<Record<string, readonly string[]>> = {
  platform: ['Windows', 'OSX', 'Linux', 'Android', 'IOS', 'PS4', 'PS5', 'XBSX', 'Switch', 'Web'],
  architecture: ['x86_32', 'x86_64', 'arm64'],
  region: ['US', 'EU', 'KR', 'TW', 'CN', 'SG'],
  category: ['speech', 'text'],
  alternate: ['Alternate', 'HighRes'],
};

/** Facts about files beside their content. */
type Facts = Pick<PublishFile, 'tags' | 'install' | 'priority' | 'key'>;

interface Rule {
  glob: string;
  matches: (name: string) => boolean;
  facts: readonly Facts[];
}

/** What a tag file says of a name; of several priorities and keys the last. */
export type FactsOf = (name: string) => Facts;

/** A tag file. */
export interface TagFile {
  factsOf: FactsOf;
  /** It says which files are encrypted. */
  namesKeys: boolean;
  /** The globs that none of the names matched which were asked about. */
  unused(): string[];
}

/**
 * Reads a tag file.
 * @param keys what `key:NAME` may name
 * @throws E_FORMAT that names the line: for an unknown word, a key that is not there, a glob that cannot be used
 */
export function decodeTagFile(bytes: Uint8Array, keys: readonly TactKey[] = []): TagFile {
  const ruleOf = (line: string, refused: (problem: string) => PakratError): Rule => {
    const [, words = '', glob = ''] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    if (glob === '') throw refused('words, then a glob are expected');
    try {
      return {
        glob,
        matches: nameMatcher(withFolders([glob])),
        facts: words.split(',').map((word) => wordFacts(word, keys, refused)),
      };
    } catch (error) {
      throw isPakratError(error) && error.code === 'E_USAGE' ? refused(messageOf(error)) : error;
    }
  };
  const rules = decodeLines(bytes, ruleOf, 'tag file');
  const namesKeys = rules.some((rule) => rule.facts.some(({ key }) => key !== undefined));
  const used = new Set<Rule>();
  const factsOf: FactsOf = (name) => {
    const own = rules.filter(({ matches }) => matches(name));
    for (const rule of own) used.add(rule);
    const facts = own.flatMap((rule) => rule.facts);
    const tags = new Map(facts.flatMap((one) => one.tags ?? []).map((tag) => [`${tag.type} ${tag.name}`, tag]));
    return { ...Object.assign({}, ...facts), ...(tags.size > 0 && { tags: [...tags.values()] }) };
  };
  return { factsOf, namesKeys, unused: () => rules.flatMap((rule) => (used.has(rule) ? [] : [rule.glob])) };
}

function wordFacts(word: string, keys: readonly TactKey[], refused: (problem: string) => PakratError): Facts {
  if (word === '') throw refused('a word is empty; there are no blanks around commas');
  const [, kind, value = ''] = /^(\w+):(.+)$/.exec(word) ?? [];
  if (word === 'install') return { install: true };
  if (kind === 'priority') {
    const priority = Number(value);
    if (/^-?\d+$/.test(value) && priority >= -128 && priority <= 127) return { priority };
    throw refused(`priority ${value} is outside -128 to 127`);
  }
  if (kind === 'key') {
    const key = keys.find(({ name }) => name === value.toLowerCase());
    if (key !== undefined) return { key };
    throw refused(`no key ${value} is given; give a list that has it with --keys`);
  }
  return { tags: [tagOf(kind, kind === undefined ? word : value, refused)] };
}

function tagOf(kind: string | undefined, name: string, refused: (problem: string) => PakratError): PublishTag {
  if (kind !== undefined) {
    const type = types[kind] ?? Number(kind);
    if (Number.isInteger(type) && type > 0 && type <= 0xffff) return { name, type };
    throw refused(`${kind} is no type of tags: they are ${Object.keys(types).join(', ')}, or a number`);
  }
  if (/^[a-z]{2}[A-Z]{2}$/.test(name) && findLocaleFlag(name) !== undefined) return { name, type: 3 };
  const [found] = Object.entries(known).find(([, names]) => names.includes(name)) ?? [];
  if (found !== undefined) return { name, type: types[found] ?? 0 };
  throw refused(`the tag ${name} is not known by its name; say its type, as in category:${name}`);
}
