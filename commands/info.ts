import * as Args from '@oclif/core/args';
import { PakratCommand } from '../src/cli/base-command.ts';

export default class Info extends PakratCommand {
  static override summary = 'Show what a source is, in a screenful.';
  static override args = {
    source: Args.string({ description: 'PRODUCT, PRODUCT@BUILD or a path.', required: true, ignoreStdin: true }),
  };
  static override examples = [
    '<%= config.bin %> info wow_classic_era',
    '<%= config.bin %> info wow_classic_era@1.15.7.61582 --json',
  ];

  async run(): Promise<Record<string, unknown>> {
    const { args, flags } = await this.parse(Info);
    const options = this.globals(flags);
    const { withSource } = await import('../src/cli/sources.ts');
    const { renderFields } = await import('../src/cli/render/fields.ts');
    const hooks = { note: (text: string) => this.note(text), signal: this.signal };
    const info = await withSource(options, args.source, { hooks }, (source) => source.info());
    this.log(
      renderFields(
        Object.entries(info).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
      ),
    );
    return info;
  }
}
