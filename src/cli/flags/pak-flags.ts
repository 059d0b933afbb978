import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import type { PakOpenOptions } from '../../app/session/pak-options.ts';
import { repeatable } from './args.ts';
import { optionsOf } from './options-of.ts';

const helpGroup = 'PAK';

/** The flag for keys, wherever keys are taken. */
export const keyFlag = Flags.string({
  summary: 'Key for encrypted PAKs: hex, base64, or @FILE. Repeatable.',
  description:
    'Unreal keys have 32 bytes, Nadeo keys 16. A file may hold one key, lines of a pack name and a key, or be a packlist.dat.',
  helpGroup,
  helpValue: 'HEX|BASE64|@FILE',
  ...repeatable,
});

/** The flags that say how a PAK is read; builds take no notice of them. */
export const pakFlags = {
  key: keyFlag,
  encoding: Flags.string({
    summary: 'Text encoding of names. Default: UTF-8, or Latin-1 where they are none.',
    helpGroup,
    helpValue: 'NAME',
  }),
  engine: Flags.option({
    summary: 'Whose search path a game directory has. Default: by its content.',
    helpGroup,
    options: ['quake', 'quakespasm', 'quake2'] as const,
  })(),
  game: Flags.string({
    summary: 'Game directory beside the first: rogue, hipnotic, quoth or a mod. Repeatable.',
    helpGroup,
    helpValue: 'NAME',
    ...repeatable,
  }),
  names: Flags.string({
    summary: 'List of real names, for NadeoPaks that store hashes of them. Repeatable.',
    helpGroup,
    helpValue: 'FILE',
    ...repeatable,
  }),
  'resolve-names': Flags.boolean({
    summary: 'Look for real names of hashed files in the NadeoPak itself; reads much of it.',
    helpGroup,
  }),
  'lz4-dictionary': Flags.string({
    summary: 'The LZ4 dictionary of the game, for NadeoPak 18.',
    helpGroup,
    helpValue: 'FILE',
  }),
  oodle: Flags.string({
    summary: 'Module that decodes Oodle in place of the package ooz-wasm: it exports decompress(bytes, size).',
    helpGroup,
    helpValue: 'FILE',
    env: 'PAKRAT_OODLE',
  }),
  'ignore-magic': Flags.boolean({ summary: 'Read a PAK although its magic is wrong.', helpGroup }),
  'force-version': Flags.integer({
    summary: 'Read a PAK as this version, whatever it says.',
    helpGroup,
    helpValue: 'N',
    min: 0,
    max: 1000,
  }),
  'ignore-hashes': Flags.boolean({ summary: 'Read a PAK although a hash in it does not match.', helpGroup }),
};

/** The options of a PAK that the flags come to. */
export function pakOptions(flags: InferredFlags<typeof pakFlags>): PakOpenOptions {
  return optionsOf(pakFlags, flags);
}

const headerGroup = 'HEADER';
const headerText = (summary: string, helpValue = 'TEXT') =>
  Flags.string({ summary, helpGroup: headerGroup, helpValue });

/** The flags for facts in the header of a NadeoPak, from version 6 on. */
export const headerFlags = {
  author: headerText('Login of the author.', 'LOGIN'),
  'author-nick': headerText('Nick name of the author.'),
  'author-zone': headerText('Where the author comes from, such as World|Europe.'),
  'author-extra': headerText('More about the author.'),
  title: headerText('Title id, such as TMStadium@nadeo (12 and above).', 'ID'),
  xml: headerText('File whose text is the XML of the pack (12 and above).', 'FILE'),
  comment: headerText('Comment (7 and above).'),
  manialink: headerText('Manialink (9 and above).', 'LINK'),
  'download-url': headerText('Where the pack can be had (13 and above).', 'URL'),
  'author-url': headerText('URL of the author (8).', 'URL'),
  'usage-folder': headerText('Folder that the pack is for (9 and above).', 'NAME'),
  'build-info': headerText('What built it (8 and above).'),
  created: headerText(
    'When it was made (9 and above). Default: no time, so that the same files give the same bytes.',
    'DATE',
  ),
  include: Flags.string({
    summary: 'Pack that this one includes (10 and above). Repeatable.',
    helpGroup: headerGroup,
    helpValue: 'FILE',
    ...repeatable,
  }),
};
