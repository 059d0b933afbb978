import { readInfo } from '../src/app/info.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { sourceArg } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';
import { renderInfo } from '../src/cli/render/info.ts';

export default class Info extends PakratCommand {
  static override summary = 'Show what a source is, in a screenful.';
  static override args = {
    source: sourceArg,
  };
  static override flags = { ...pakFlags };
  static override examples = [
    '<%= config.bin %> info wow_classic_era',
    '<%= config.bin %> info wow_classic_era@1.15.7.61582 --json',
    '<%= config.bin %> info id1/pak0.pak',
  ];

  async run(): Promise<Record<string, unknown>> {
    const { args, flags } = await this.parse(Info);
    const options = { ...this.look(), pak: pakOptions(flags) };
    const info = await this.withSession(flags, (session) => readInfo(session, args.source, options));
    this.log(renderInfo(info));
    return info;
  }
}
