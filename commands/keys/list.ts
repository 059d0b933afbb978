import * as Flags from '@oclif/core/flags';
import { type ListedKey, listKeys } from '../../src/app/keys/list-keys.ts';
import { StoreCommand } from '../../src/cli/base-command.ts';
import { renderTable } from '../../src/cli/terminal/table.ts';

export default class KeysList extends StoreCommand {
  static override summary = 'List the decryption keys that the store has.';
  static override description =
    'Those that were imported, and those of the key rings that builds bring along. Names are as key lists print them. The keys themselves are cut short unless --show asks for them.';
  static override flags = {
    show: Flags.boolean({ summary: 'Print the keys in full.' }),
  };
  static override examples = ['<%= config.bin %> keys list', '<%= config.bin %> keys list --show --json'];

  async run(): Promise<ListedKey[]> {
    const { flags } = await this.parse(KeysList);
    const keys = await this.withSession(flags, (session) => listKeys(session, { show: flags.show }));
    const rows = keys.map(({ name, key, source }) => [name, key, source]);
    this.log(renderTable([{ title: 'NAME' }, { title: 'KEY' }, { title: 'FROM' }], rows, this.width));
    return keys;
  }
}
