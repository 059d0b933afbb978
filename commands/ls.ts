import * as Flags from '@oclif/core/flags';
import { listFiles } from '../src/app/list.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { optionalArg, regexFlag, sourceArg } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';
import { listRow, writeList, writeLongList } from '../src/cli/render/list.ts';
import { writeJsonList } from '../src/cli/terminal/json.ts';

export default class Ls extends PakratCommand {
  static override summary = 'List the files of a source.';
  static override description =
    'Names come from the root of a build, the imported list of names and the install manifest. A file without a known name is listed as fdid:N. A glob without a slash matches the last part of a name; case does not matter.\n\nOf a PAK every entry is listed in its order. One that the engine does not give for its name is there too, with the reason; index:N is its name for cat and extract.';
  static override strict = false;
  static override args = {
    source: sourceArg,
    glob: optionalArg('Only names that match. Several may follow.'),
  };
  static override flags = {
    regex: regexFlag,
    long: Flags.boolean({ summary: 'Show stored size, method, time and origin, too (PAKs).' }),
    ...pakFlags,
  };
  static override examples = [
    "<%= config.bin %> ls wow_classic_era 'interface/icons/*.blp'",
    "<%= config.bin %> ls wow_classic_era --regex '_[0-9]{2}\\.blp$'",
    '<%= config.bin %> ls wow_classic_era@1.15.7.61582 --locale deDE --json',
    '<%= config.bin %> ls wow_classic_era --offline',
    '<%= config.bin %> ls quake/id1 --game rogue --long',
  ];

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Ls);
    const [source = '', ...globs] = argv as string[];
    const options = { ...this.notes(), globs, regex: flags.regex, pak: pakOptions(flags) };
    await this.withSession(flags, (session) =>
      listFiles(session, source, options, async (entries) => {
        if (this.jsonEnabled()) await writeJsonList(process.stdout, entries, listRow);
        else await (flags.long ? writeLongList : writeList)(process.stdout, entries);
      }),
    );
  }
}
