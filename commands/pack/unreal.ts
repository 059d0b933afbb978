import * as Flags from '@oclif/core/flags';
import { type PackReport, packUnreal } from '../../src/app/pack.ts';
import { optionsOf } from '../../src/cli/flags/options-of.ts';
import { keyFlag, pakFlags } from '../../src/cli/flags/pak-flags.ts';
import { PackCommand, packArgs, packFlags } from '../../src/cli/pack-command.ts';
import { parseSize } from '../../src/core/quantities.ts';

/** The form of the PAK, and the keys. */
const formFlags = {
  version: Flags.string({ summary: 'Version of the format: 1 to 12, 8A or 8B. Default 11.', helpValue: 'N' }),
  compress: Flags.option({
    summary: 'Compression of what gets smaller by it. Default none.',
    options: ['none', 'zlib'] as const,
  })(),
  'block-size': Flags.string({ summary: 'Bytes that are compressed together. Default 64K.', helpValue: 'SIZE' }),
  'mount-point': Flags.string({ summary: 'Where names start in the game. Default ../../../', helpValue: 'PATH' }),
  key: keyFlag,
  'encrypt-index': Flags.boolean({ summary: 'Encrypt the index, too.', dependsOn: ['key'] }),
  'key-guid': Flags.string({
    summary: 'GUID of the key, from version 7 on. Default: zeros, the main key.',
    helpValue: 'HEX',
  }),
  oodle: pakFlags.oodle,
  exact: Flags.boolean({ summary: 'Compress as the original zlib does, byte for byte, and slower.' }),
};

export default class PackUnreal extends PackCommand {
  static override summary = 'Make an Unreal PAK of files and folders, or out of an older one.';
  static override description =
    'The same files and flags always give the same bytes on one machine; with --exact on every machine. A key encrypts the files; the index, too, with --encrypt-index.';
  static override strict = false;
  static override args = packArgs;
  static override flags = { ...packFlags, ...formFlags };
  static override examples = [
    '<%= config.bin %> pack unreal Game_P.pak content --compress zlib',
    '<%= config.bin %> pack unreal Game_P.pak content --version 3 --mount-point ../../../Game/',
    '<%= config.bin %> pack unreal Game_P.pak content --key @game.key --encrypt-index',
    '<%= config.bin %> pack unreal Game_P.pak --list content.txt',
    '<%= config.bin %> pack unreal New.pak --like Game.pak --replace Config/DefaultGame.ini=my.ini --key @game.key',
  ];

  async run(): Promise<PackReport> {
    const { argv, flags } = await this.parse(PackUnreal);
    const size = flags['block-size'];
    const blockSize = size === undefined ? undefined : parseSize(size);
    const options = { ...optionsOf(formFlags, flags), blockSize };
    return this.make(flags, argv, (out, inputs, work) => packUnreal(out, inputs, { ...options, ...work }));
  }
}
