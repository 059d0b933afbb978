import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { PakratCommand } from '../src/cli/base-command.ts';
import type { ExtractResult } from '../src/sources/extract.ts';

export default class Extract extends PakratCommand {
  static override summary = 'Extract files of a source by name.';
  static override description =
    `Names may be globs, fdid:N, ckey:HEX or ekey:HEX; without any, everything is extracted. What the store does not hold is fetched first and is then held.

A file that cannot be had (its key is missing, no host has it) is named with the reason, and the others are extracted. Nothing is ever written outside of the folder that --to names.`;
  static override strict = false;
  static override args = {
    source: Args.string({ description: 'PRODUCT, PRODUCT@BUILD or a path.', required: true, ignoreStdin: true }),
    name: Args.string({ description: 'A name or glob. Several may follow.', ignoreStdin: true }),
  };
  static override flags = {
    to: Flags.string({ summary: 'Folder to write into; made when it is not there.', helpValue: 'DIR', required: true }),
  };
  static override examples = [
    "<%= config.bin %> extract wow_classic_era 'interface/icons/*.blp' --to icons",
    '<%= config.bin %> extract wow_classic_era fdid:1349477 world/maps/azeroth/azeroth.wdt --to out',
    '<%= config.bin %> extract wow_classic_era@1.15.7.61582 --to everything --offline',
  ];

  async run(): Promise<ExtractResult> {
    const { argv, flags } = await this.parse(Extract);
    const options = this.globals(flags);
    const [source, ...names] = argv as string[];
    const { runExtract, renderExtract, extractExitCode } = await import('../src/cli/extract.ts');
    const hooks = { note: (text: string) => this.note(text), signal: this.signal, progress: this.progress() };
    const result = await runExtract(options, { source: source!, names, to: flags.to }, hooks);
    this.log(renderExtract(result, flags.to));
    process.exitCode = extractExitCode(result);
    return result;
  }
}
