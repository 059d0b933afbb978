import { type PackReport, packQuake } from '../../src/app/pack.ts';
import { PackCommand, packArgs, packFlags } from '../../src/cli/pack-command.ts';

export default class PackQuake extends PackCommand {
  static override summary = 'Make a Quake PAK of files and folders, or out of an older one.';
  static override description =
    'The same files always give the same bytes. Names may have 56 bytes, the whole 2 GiB; Quake itself loads at most 2,048 entries.';
  static override strict = false;
  static override args = packArgs;
  static override flags = packFlags;
  static override examples = [
    '<%= config.bin %> pack quake mod/pak0.pak files',
    '<%= config.bin %> pack quake mod/pak0.pak maps/e1m1.bsp gfx/conback.lmp --force',
    '<%= config.bin %> pack quake new.pak --like id1/pak0.pak --replace maps/e1m1.bsp=my-e1m1.bsp',
    '<%= config.bin %> pack quake new.pak --like id1/pak0.pak extracted-and-edited',
  ];

  async run(): Promise<PackReport> {
    const { argv, flags } = await this.parse(PackQuake);
    return this.make(flags, argv, packQuake);
  }
}
