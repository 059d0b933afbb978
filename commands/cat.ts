import { readFile } from '../src/app/read.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { rawFlag, requiredArg, sourceArg } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';
import { writeToStdout } from '../src/cli/terminal/write-each.ts';

export default class Cat extends PakratCommand {
  static override enableJsonFlag = false;
  static override summary = 'Write one file of a source to stdout.';
  static override description =
    'What the store does not hold is fetched first, only the range of this file, and is then held.';
  static override args = {
    source: sourceArg,
    name: requiredArg('A name; fdid:N, ckey:HEX or ekey:HEX in a build, index:N in a PAK.'),
  };
  static override flags = {
    raw: rawFlag,
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
    const options = { ...this.look(), raw: flags.raw, pak: pakOptions(flags) };
    await this.withSession(flags, (session) =>
      readFile(session, args.source, args.name, options, (piece) => {
        this.beginOutput();
        return writeToStdout(piece);
      }),
    );
  }
}
