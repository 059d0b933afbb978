import * as Flags from '@oclif/core/flags';
import { type PackReport, packUnreal } from '../../src/app/pack.ts';
import { optionsOf } from '../../src/cli/flags/options-of.ts';
import { keyFlag } from '../../src/cli/flags/pak-flags.ts';
import { PackCommand, packArgs, packFlags } from '../../src/cli/pack-command.ts';
import { parseSize } from '../../src/core/quantities.ts';

export default class PackUnreal extends PackCommand {
  static override summary = 'Make an Unreal PAK of a folder.';
  static override description =
    'The same files and flags always give the same bytes on one machine; with --exact on every machine. A key encrypts the files; the index, too, with --encrypt-index.';
  static override args = packArgs;
  static override flags = {
    ...packFlags,
    version: Flags.string({ summary: 'Version of the format: 1 to 11, 8A or 8B. Default 11.', helpValue: 'N' }),
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
    exact: Flags.boolean({ summary: 'Compress as the original zlib does, byte for byte, and slower.' }),
  };
  static override examples = [
    '<%= config.bin %> pack unreal Game_P.pak content --compress zlib',
    '<%= config.bin %> pack unreal Game_P.pak content --version 3 --mount-point ../../../Game/',
    '<%= config.bin %> pack unreal Game_P.pak content --key @game.key --encrypt-index',
  ];

  async run(): Promise<PackReport> {
    const { args, flags } = await this.parse(PackUnreal);
    const size = flags['block-size'];
    const blockSize = size === undefined ? undefined : parseSize(size);
    const options = { ...optionsOf(PackUnreal.flags, flags), blockSize };
    return this.make(flags, (work) => packUnreal(args.out, args.dir, { ...options, ...work }));
  }
}
