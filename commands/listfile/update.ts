import * as Flags from '@oclif/core/flags';
import { PakratCommand } from '../../src/cli/base-command.ts';
import type { ListfileUpdate } from '../../src/fetch/lists/update-listfile.ts';

export default class ListfileUpdateCommand extends PakratCommand {
  static override summary = 'Fetch a list of file names from the web.';
  static override description =
    'The list has `id;name` lines, as the community listfile of World of Warcraft has them, or plain names. It is fetched again only when the server says that it changed, and a download that was cut is gone on with. Names that the last version had, and the new one has not, go; names that were imported by hand stay. Nothing changes unless the whole list is good.\n\nNo list is set at first: give one with --url, or set listfile.url in the file that PAKRAT_CONFIG names.';
  static override flags = {
    url: Flags.string({ summary: 'Where the list is. Default: the setting listfile.url.', helpValue: 'URL' }),
  };
  static override examples = [
    '<%= config.bin %> listfile update --url https://names.example/listfile.csv',
    '<%= config.bin %> listfile update --json',
  ];

  async run(): Promise<ListfileUpdate> {
    const { flags } = await this.parse(ListfileUpdateCommand);
    const options = this.globals(flags);
    const { runListfileUpdate, renderListfileUpdate } = await import('../../src/cli/update-listfile.ts');
    const request = { url: flags.url, progress: this.progress(), signal: this.signal };
    const result = await runListfileUpdate(options, request);
    this.log(renderListfileUpdate(result));
    return result;
  }
}
