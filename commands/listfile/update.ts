import * as Flags from '@oclif/core/flags';
import { type ListfileUpdate, updateListfile } from '../../src/app/listfile/update-listfile.ts';
import { StoreCommand } from '../../src/cli/base-command.ts';
import { offlineFlag } from '../../src/cli/flags/global-flags.ts';
import { lostNames, renderListfileUpdate } from '../../src/cli/render/updates.ts';
import { noteLine } from '../../src/cli/terminal/progress.ts';

export default class ListfileUpdateCommand extends StoreCommand {
  static override summary = 'Fetch a list of file names from the web.';
  static override description =
    'The list has `id;name` lines, as the community listfile of World of Warcraft has them, or plain names. It is fetched again only when the server says that it changed, and a download that was cut is gone on with. Names that the last version had, and the new one has not, go; names that were imported by hand stay. Nothing changes unless the whole list is good.\n\nThe list is that of the latest release of wowdev/wow-listfile (some 150 MB), unless the setting listfile.url or --url names another; nothing but this command asks for it.';
  static override flags = {
    ...offlineFlag,
    url: Flags.string({ summary: 'Where the list is. Default: the setting listfile.url.', helpValue: 'URL' }),
  };
  static override examples = [
    '<%= config.bin %> listfile update',
    '<%= config.bin %> listfile update --url https://names.example/listfile.csv',
  ];

  async run(): Promise<ListfileUpdate> {
    const { flags } = await this.parse(ListfileUpdateCommand);
    const { url } = flags;
    const result = await this.withSession(flags, (session) => updateListfile(session, { ...this.work(), url }));
    this.log(renderListfileUpdate(result));
    if (result.damaged) this.note(noteLine(lostNames));
    return result;
  }
}
