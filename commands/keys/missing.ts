import * as Flags from '@oclif/core/flags';
import { type MissingKey, missingKeys } from '../../src/app/keys/missing-keys.ts';
import { PakratCommand } from '../../src/cli/base-command.ts';
import { sourceArg } from '../../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../../src/cli/flags/pak-flags.ts';
import { renderMissingKeys } from '../../src/cli/render/missing-keys.ts';

export default class KeysMissing extends PakratCommand {
  static override summary = 'List the keys that a source needs and the store does not have.';
  static override description =
    'Each key with the files that it locks and their bytes. Of a build no data is fetched: its encoding file tells which key an object needs. Files are counted as ls lists them, in one locale; entries are the encoded objects of all locales. What is held stays held: once a key is imported, its files can be read.\n\nOf a PAK a key is named by its GUID (zeros: the main key of the game), or by the name of the pack.';
  static override args = {
    source: sourceArg,
  };
  static override flags = {
    verbose: Flags.boolean({ summary: 'Show some names of the files, too.' }),
    ...pakFlags,
  };
  static override examples = [
    '<%= config.bin %> keys missing wow_classic_era',
    '<%= config.bin %> keys missing wow_classic_era@1.15.7.61582 --offline --verbose',
    '<%= config.bin %> keys missing Game-WindowsNoEditor.pak --json',
  ];

  async run(): Promise<MissingKey[]> {
    const { args, flags } = await this.parse(KeysMissing);
    const options = { ...this.look(), pak: pakOptions(flags) };
    const keys = await this.withSession(flags, (session) => missingKeys(session, args.source, options));
    this.log(renderMissingKeys(keys, { width: this.width, verbose: flags.verbose }));
    return keys;
  }
}
