import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { PakratCommand, sourceHelp } from '../src/cli/base-command.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';

export default class Cat extends PakratCommand {
  static override enableJsonFlag = false;
  static override summary = 'Write one file of a source to stdout.';
  static override description =
    'What the store does not hold is fetched first, only the range of this file, and is then held.';
  static override args = {
    source: Args.string({
      description: sourceHelp,
      required: true,
      ignoreStdin: true,
    }),
    name: Args.string({
      description: 'A name; fdid:N, ckey:HEX or ekey:HEX in a build, index:N in a PAK.',
      required: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    raw: Flags.boolean({ summary: 'The bytes as they are stored, where the source can give them.' }),
    ...pakFlags,
  };
  static override examples = [
    '<%= config.bin %> cat wow_classic_era interface/icons/inv_misc_bag_08.blp > bag.blp',
    '<%= config.bin %> cat wow_classic_era fdid:1349477 | xxd | head',
    '<%= config.bin %> cat wow_classic_era@1.15.7.61582 ckey:0bf3e9f23de17cf6a1d3ba8dbc5f6ac0 --offline',
    '<%= config.bin %> cat id1/pak0.pak gfx/palette.lmp > palette.lmp',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Cat);
    const { readFile } = await import('../src/app/read.ts');
    const { default: events } = await import('node:events');
    const options = { ...this.notes(), raw: flags.raw, pak: pakOptions(flags) };
    await this.withSession(flags, (session) =>
      readFile(session, args.source, args.name, options, async (piece) => {
        if (!process.stdout.write(piece)) await events.once(process.stdout, 'drain');
      }),
    );
  }
}
