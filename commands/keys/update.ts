import * as Flags from '@oclif/core/flags';
import { type KeyUpdate, updateKeys } from '../../src/app/keys/update-keys.ts';
import { StoreCommand } from '../../src/cli/base-command.ts';
import { offlineFlag } from '../../src/cli/flags/global-flags.ts';
import { renderKeyUpdate } from '../../src/cli/render/updates.ts';

export default class KeysUpdate extends StoreCommand {
  static override summary = 'Take the new keys of a list on the web into the store.';
  static override description =
    'The list has "NAME KEY" a line, as TACTKeys has it; fields behind these are kept. It is fetched again only when the server says that it changed. Where the store has a key with another value it keeps its own, and the key is reported.\n\nThe list is WoW.txt of wowdev/TACTKeys, unless the setting keys.url or --url names another; nothing but this command asks for it.';
  static override flags = {
    ...offlineFlag,
    url: Flags.string({ summary: 'Where the list is. Default: the setting keys.url.', helpValue: 'URL' }),
    replace: Flags.boolean({ summary: 'Take the value of the list where the store has another.' }),
  };
  static override examples = [
    '<%= config.bin %> keys update',
    '<%= config.bin %> keys update --url https://keys.example/WoW.txt',
    '<%= config.bin %> keys update --url https://keys.example/WoW.txt --replace',
  ];

  async run(): Promise<KeyUpdate> {
    const { flags } = await this.parse(KeysUpdate);
    const { url, replace } = flags;
    const result = await this.withSession(flags, (session) => updateKeys(session, { ...this.work(), url, replace }));
    this.log(renderKeyUpdate(result));
    return result;
  }
}
