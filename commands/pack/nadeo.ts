import * as Flags from '@oclif/core/flags';
import type { PackReport } from '../../src/cli/pack.ts';
import { PackCommand, packArgs, packFlags } from '../../src/cli/pack-command.ts';
import { packInfo, packInfoFlags } from '../../src/cli/pack-info.ts';
import { keyFlag } from '../../src/cli/pak-options.ts';

export default class PackNadeo extends PackCommand {
  static override summary = 'Make a NadeoPak of a folder.';
  static override description =
    'Version 3 is that of TrackMania and needs a key: the base key of 16 bytes, or a packlist.dat that has one for the name of the PAK. From version 6 on the header is not encrypted, and files are only when a key is given. The same files and flags always give the same bytes.';
  static override args = packArgs;
  static override flags = {
    ...packFlags,
    version: Flags.integer({ summary: 'Version of the format: 1 to 18. Default 3.', helpValue: 'N', min: 1, max: 18 }),
    compress: Flags.string({
      summary: 'Compression of what gets smaller by it. Default zlib.',
      options: ['none', 'zlib'],
    }),
    key: keyFlag,
    ...packInfoFlags,
  };
  static override examples = [
    '<%= config.bin %> pack nadeo Stadium.pak files --key @packlist.dat',
    '<%= config.bin %> pack nadeo Title.Pack.Gbx files --version 8',
    "<%= config.bin %> pack nadeo My.Title.Pack.Gbx files --version 12 --title 'My@me' --author me --xml title.xml --include Stadium.pak",
  ];

  async run(): Promise<PackReport> {
    const { args, flags } = await this.parse(PackNadeo);
    this.globals(flags);
    const { writeNadeoPak } = await import('../../src/paks/nadeo/write/write.ts');
    const { packKey } = await import('../../src/cli/pack.ts');
    const version = flags.version ?? 3;
    const options = {
      version,
      info: await packInfo(flags, version),
      compress: flags.compress !== 'none',
      key: await packKey(flags.key, args.out),
    };
    return this.pack(args, flags.force, (files, sink) => writeNadeoPak(files, sink, options));
  }
}
