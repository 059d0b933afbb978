import * as Flags from '@oclif/core/flags';
import { type PackReport, packNadeo } from '../../src/app/pack.ts';
import { optionsOf } from '../../src/cli/flags/options-of.ts';
import { headerFlags, keyFlag } from '../../src/cli/flags/pak-flags.ts';
import { PackCommand, packArgs, packFlags } from '../../src/cli/pack-command.ts';

export default class PackNadeo extends PackCommand {
  static override summary = 'Make a NadeoPak of a folder.';
  static override description =
    'Version 3 is that of TrackMania and needs a key: the base key of 16 bytes, or a packlist.dat that has one for the name of the PAK. From version 6 on the header is not encrypted, and files are only when a key is given. The same files and flags always give the same bytes.';
  static override args = packArgs;
  static override flags = {
    ...packFlags,
    version: Flags.integer({ summary: 'Version of the format: 1 to 18. Default 3.', helpValue: 'N', min: 1, max: 18 }),
    compress: Flags.option({
      summary: 'Compression of what gets smaller by it. Default zlib.',
      options: ['none', 'zlib'] as const,
    })(),
    key: keyFlag,
    ...headerFlags,
  };
  static override examples = [
    '<%= config.bin %> pack nadeo Stadium.pak files --key @packlist.dat',
    '<%= config.bin %> pack nadeo Title.Pack.Gbx files --version 8',
    "<%= config.bin %> pack nadeo My.Title.Pack.Gbx files --version 12 --title 'My@me' --author me --xml title.xml --include Base.pak",
  ];

  async run(): Promise<PackReport> {
    const { args, flags } = await this.parse(PackNadeo);
    const options = optionsOf(PackNadeo.flags, flags);
    return this.make(flags, (work) => packNadeo(args.out, args.dir, { ...options, ...work }));
  }
}
