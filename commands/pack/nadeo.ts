import * as Flags from '@oclif/core/flags';
import { type PackReport, packNadeo } from '../../src/app/pack.ts';
import { optionsOf } from '../../src/cli/flags/options-of.ts';
import { headerFlags, keyFlag, pakFlags } from '../../src/cli/flags/pak-flags.ts';
import { PackCommand, packArgs, packFlags } from '../../src/cli/pack-command.ts';

/** The form of the PAK, and the keys. */
const formFlags = {
  version: Flags.integer({ summary: 'Version of the format: 1 to 18. Default 3.', helpValue: 'N', min: 1, max: 18 }),
  compress: Flags.option({
    summary: 'Compression of what gets smaller by it. Default zlib.',
    options: ['none', 'zlib'] as const,
  })(),
  key: keyFlag,
  'lz4-dictionary': pakFlags['lz4-dictionary'],
  ...headerFlags,
};

export default class PackNadeo extends PackCommand {
  static override summary = 'Make a NadeoPak of files and folders, or out of an older one.';
  static override description =
    'Version 3 is that of TrackMania and needs a key: the base key of 16 bytes, or a packlist.dat that has one for the name of the PAK. From version 6 on the header is not encrypted, and files are only when a key is given. The same files and flags always give the same bytes.';
  static override strict = false;
  static override args = packArgs;
  static override flags = { ...packFlags, ...formFlags };
  static override examples = [
    '<%= config.bin %> pack nadeo Stadium.pak files --key @packlist.dat',
    '<%= config.bin %> pack nadeo Title.Pack.Gbx files --version 8',
    "<%= config.bin %> pack nadeo My.Title.Pack.Gbx files --version 12 --title 'My@me' --author me --xml title.xml --include Base.pak",
    '<%= config.bin %> pack nadeo New/Stadium.pak --like GameData/Packs/Stadium.pak extracted-and-edited',
    '<%= config.bin %> pack nadeo New/Stadium.pak --like GameData/Packs/Stadium.pak --replace Media/Sun.dds=my-sun.dds',
  ];

  async run(): Promise<PackReport> {
    const { argv, flags } = await this.parse(PackNadeo);
    const options = optionsOf(formFlags, flags);
    return this.make(flags, argv, (out, inputs, work) => packNadeo(out, inputs, { ...options, ...work }));
  }
}
