import * as Args from '@oclif/core/args';
import { PakratCommand, sourceHelp } from '../src/cli/base-command.ts';
import { pakFlags } from '../src/cli/pak-options.ts';

export default class Info extends PakratCommand {
  static override summary = 'Show what a source is, in a screenful.';
  static override args = {
    source: Args.string({
      description: sourceHelp,
      required: true,
      ignoreStdin: true,
    }),
  };
  static override flags = { ...pakFlags };
  static override examples = [
    '<%= config.bin %> info wow_classic_era',
    '<%= config.bin %> info wow_classic_era@1.15.7.61582 --json',
    '<%= config.bin %> info id1/pak0.pak',
  ];

  async run(): Promise<Record<string, unknown>> {
    const { args, flags } = await this.parse(Info);
    const options = this.globals(flags);
    const { withSource } = await import('../src/cli/sources.ts');
    const { renderInfo } = await import('../src/cli/render/info.ts');
    const hooks = { note: (text: string) => this.note(text), signal: this.signal };
    const info = await withSource(options, args.source, { hooks, pak: flags, tellNotes: false }, (source) =>
      source.info(),
    );
    this.log(renderInfo(info));
    return info;
  }
}
