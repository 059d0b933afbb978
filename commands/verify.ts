import * as Flags from '@oclif/core/flags';
import { type VerifyResult, verify } from '../src/app/verify.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { optionalArg, sourceHelp } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';
import { renderVerify, verifyExitCode } from '../src/cli/render/verify.ts';

export default class Verify extends PakratCommand {
  static override summary = 'Check every byte of a source, or of the whole store, against its hashes.';
  static override description =
    `Of a build, what the store holds of it is read and hashed again: configs, indices, archives entry by entry, loose objects. What is damaged is no longer counted as held; --repair fetches it again, with all that was held and lacks. What cannot be checked, for an index or a config is not held, is named. No key is needed.

Of a PAK, the hash of its directory and of every entry is checked, as far as its format has hashes; entries without one are counted apart. --decode decodes what is compressed, which shows a wrong size and damage that was hashed. The exit code is 3 when something is damaged and was not repaired, else 9 when something could not be checked for want of what tells of it.`;
  static override args = {
    source: optionalArg(`${sourceHelp} Default: the whole store.`),
  };
  static override flags = {
    repair: Flags.boolean({ summary: 'Fetch again what is damaged.' }),
    decode: Flags.boolean({
      summary: 'Of a PAK, decode what is compressed, too. Needs the key of what is encrypted.',
    }),
    jobs: Flags.integer({
      char: 'j',
      summary:
        'Threads. Default: one for each core, where that pays, and 4 at most but for PAKs; 1 is kind to a disk that turns.',
      helpValue: 'N',
      min: 1,
      max: 64,
    }),
    ...pakFlags,
  };
  static override examples = [
    '<%= config.bin %> verify',
    '<%= config.bin %> verify wow_classic_era@1.15.7.61582 --repair',
    '<%= config.bin %> verify Game-WindowsNoEditor.pak --json',
  ];

  async run(): Promise<VerifyResult> {
    const { args, flags } = await this.parse(Verify);
    const { repair, decode, jobs } = flags;
    const result = await this.withSession(flags, (session) =>
      verify(session, args.source, { ...this.work(), repair, decode, jobs, pak: pakOptions(flags) }),
    );
    this.log(renderVerify(result));
    process.exitCode = verifyExitCode(result);
    return result;
  }
}
