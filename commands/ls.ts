import * as Flags from '@oclif/core/flags';
import { listFiles } from '../src/app/list.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { exitCodeOf } from '../src/cli/error-report.ts';
import { optionalArg, regexFlag, sourceArg } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';
import { listRow, writeList } from '../src/cli/render/list.ts';
import { writeJsonList } from '../src/cli/terminal/json.ts';
import { noteLine } from '../src/cli/terminal/progress.ts';

export default class Ls extends PakratCommand {
  static override summary = 'List the files of a source, a folder at a time.';
  static override description =
    'Without a name it shows the files and folders at the top, on a terminal and in a pipe alike; of a folder what is in it; -R goes all the way down. A glob and --regex go over all names; a glob without a slash matches the last part of a name; case does not matter. Where a file and a folder have one name, NAME is the file and NAME/ the folder.\n\nNames are sorted by their bytes, as `LC_ALL=C sort` does, whatever their order in the source; --long shows the number that a file has in a PAK. Names come from the root of a build, the imported list of names and the install manifest; a file without a known name is fdid:N and comes after them. A row of a PAK that the engine does not give for its name is there too, with the reason; index:N is its name for cat and extract.\n\nOn a terminal sizes stand before the names, elsewhere there are names alone. What is not there is exit 4.';
  static override strict = false;
  static override args = {
    source: sourceArg,
    name: optionalArg('A folder to look into, a file or a glob. Several may follow.'),
  };
  static override flags = {
    recursive: Flags.boolean({ char: 'R', summary: 'Show all that is below, not only one level.' }),
    tree: Flags.boolean({ summary: 'Show all that is below, indented by folders.', exclusive: ['long', 'regex'] }),
    long: Flags.boolean({
      char: 'l',
      summary: 'Show what else is known: size, time, number, locale, whether it is held, method, offset.',
    }),
    // The types know letters alone, and the parser takes any character.
    'names-only': Flags.boolean({
      char: '1' as 'A',
      summary: 'Names alone, also on a terminal.',
      exclusive: ['long', 'tree'],
    }),
    regex: regexFlag,
    ...pakFlags,
  };
  static override examples = [
    '<%= config.bin %> ls wow_classic_era interface/icons',
    "<%= config.bin %> ls wow_classic_era 'interface/icons/*.blp'",
    "<%= config.bin %> ls wow_classic_era --regex '_[0-9]{2}\\.blp$'",
    '<%= config.bin %> ls wow_classic_era@1.15.7.61582 --recursive --locale deDE --json',
    '<%= config.bin %> ls wow_classic_era --offline --tree',
    '<%= config.bin %> ls quake/id1 maps --game rogue --long',
  ];

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Ls);
    const [source = '', ...names] = argv as string[];
    const { regex, tree, long: held } = flags;
    const recursive = flags.recursive || tree;
    const form = tree ? 'tree' : flags.long ? 'long' : process.stdout.isTTY && !flags['names-only'] ? 'sizes' : 'names';
    const namesOnly = form === 'names' && !this.jsonEnabled();
    const onBegin = (): void => this.beginOutput();
    const options = { ...this.look(), names, regex, recursive, held, namesOnly, onBegin, pak: pakOptions(flags) };
    const missing = await this.withSession(flags, (session) =>
      listFiles(session, source, options, async (rows) => {
        if (this.jsonEnabled()) await writeJsonList(process.stdout, rows, listRow);
        else await writeList(process.stdout, rows, form);
      }),
    );
    if (missing.length === 0) return;
    this.note(noteLine(`there is no ${missing.join(', nor ')}`));
    process.exitCode = exitCodeOf('E_NOT_FOUND');
  }
}
