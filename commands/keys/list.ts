import * as Flags from '@oclif/core/flags';
import { PakratCommand } from '../../src/cli/base-command.ts';

/** A key as it is listed: in full only where that was asked for. */
interface ListedKey {
  name: string;
  key: string;
  /** Further fields of the key's line, where there were any. */
  extra?: string;
  source: string;
}

export default class KeysList extends PakratCommand {
  static override summary = 'List the decryption keys that the store has.';
  static override description =
    'Names as key lists print them. The keys themselves are cut short unless --show asks for them.';
  static override flags = {
    show: Flags.boolean({ summary: 'Print the keys in full.' }),
  };
  static override examples = ['<%= config.bin %> keys list', '<%= config.bin %> keys list --show --json'];

  async run(): Promise<ListedKey[]> {
    const { flags } = await this.parse(KeysList);
    const options = this.globals(flags);
    const { openStore } = await import('../../src/store/store.ts');
    const { renderTable } = await import('../../src/cli/render/table.ts');
    const store = openStore(options.store, { create: false });
    try {
      const keys = store.ledger.keys().map(({ name, key, extra, source }): ListedKey => {
        const shown = flags.show ? key : `${key.slice(0, 4)}…`;
        return { name, key: shown, source, ...(extra === '' ? {} : { extra }) };
      });
      const rows = keys.map(({ name, key, source }) => [name, key, source]);
      this.log(renderTable([{ title: 'NAME' }, { title: 'KEY' }, { title: 'FROM' }], rows, this.width));
      return keys;
    } finally {
      store.close();
    }
  }
}
