import { type PackReport, packQuake } from '../../src/app/pack.ts';
import { PackCommand, packArgs, packFlags } from '../../src/cli/pack-command.ts';

export default class PackQuake extends PackCommand {
  static override summary = 'Make a Quake PAK of a folder.';
  static override description =
    'The same files always give the same bytes. Names may have 56 bytes, the whole 2 GiB; Quake itself loads at most 2,048 entries.';
  static override args = packArgs;
  static override flags = packFlags;
  static override examples = [
    '<%= config.bin %> pack quake mod/pak0.pak files',
    '<%= config.bin %> pack quake mod/pak0.pak files --force --json',
  ];

  async run(): Promise<PackReport> {
    const { args, flags } = await this.parse(PackQuake);
    return this.make(flags, (work) => packQuake(args.out, args.dir, { ...work, force: flags.force }));
  }
}
