import * as Args from '@oclif/core/args';
import { importKeys, type KeyImport } from '../../src/app/keys/import-keys.ts';
import { StoreCommand } from '../../src/cli/base-command.ts';

export default class KeysImport extends StoreCommand {
  static override summary = 'Take decryption keys into the store.';
  static override description =
    'Reads key lists as TACTKeys has them ("NAME KEY" a line), key ring configs ("key-NAME = KEY"), the packlist.dat of TrackMania, whose keys open its packs, and NAME.ak, the key of a product that is not public. Keys are needed to read encrypted files, not to sync or verify; only of a product with a NAME.ak nothing works without it.';
  static override args = {
    file: Args.string({
      description: 'Key list, key ring config, NAME.ak or packlist.dat.',
      required: true,
      multiple: true,
      ignoreStdin: true,
    }),
  };
  static override examples = [
    '<%= config.bin %> keys import WoW.txt',
    '<%= config.bin %> keys import Packs/packlist.dat',
    '<%= config.bin %> keys import fenrisdev.ak',
    '<%= config.bin %> keys import WoW.txt my-keys.txt --store games --json',
  ];

  async run(): Promise<KeyImport> {
    const { args, flags } = await this.parse(KeysImport);
    const result = await this.withSession(flags, (session) => importKeys(session, args.file, this.look()));
    this.log(`${result.read} keys read: ${result.added} new, ${result.changed} changed.`);
    return result;
  }
}
