import { importListfile, type ListfileChange } from '../../src/app/listfile/import-listfile.ts';
import { StoreCommand } from '../../src/cli/base-command.ts';
import { requiredArg } from '../../src/cli/flags/args.ts';
import { lostNames } from '../../src/cli/render/updates.ts';
import { noteLine } from '../../src/cli/terminal/progress.ts';
import { formatCount } from '../../src/core/quantities.ts';

export default class ListfileImport extends StoreCommand {
  static override summary = 'Import a list of file names.';
  static override description =
    'Takes `id;name` lines, as the community listfile of World of Warcraft has them, and plain lists of names. A new name of an id takes the place of the old; other names stay. A line that is none is told and passed over, and `# …` is a comment.';
  static override args = {
    file: requiredArg('The list, or - for stdin.'),
  };
  static override examples = [
    '<%= config.bin %> listfile import community-listfile.csv',
    'zcat names.txt.gz | <%= config.bin %> listfile import -',
  ];

  async run(): Promise<ListfileChange> {
    const { args, flags } = await this.parse(ListfileImport);
    const list = args.file === '-' ? process.stdin : args.file;
    const result = await this.withSession(flags, (session) => importListfile(session, list, this.look()));
    const { rows, ids, added, changed } = result;
    const news = `${formatCount(added)} new, ${formatCount(changed)} changed`;
    this.log(`${formatCount(rows)} names imported (${news}), ${formatCount(ids)} ids have a name now`);
    if (result.damaged) this.note(noteLine(lostNames));
    return result;
  }
}
