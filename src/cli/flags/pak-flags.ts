import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import type { PakOpenOptions } from '../../app/session/pak-options.ts';
import { optionsOf } from './options-of.ts';
import { repeatable } from './shared-flags.ts';

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
