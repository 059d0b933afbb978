import { type PinnedBuild, pin } from '../src/app/pin.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { buildArgs } from '../src/cli/flags/args.ts';
import { renderPins } from '../src/cli/render/gc.ts';

export default class Pin extends StoreCommand {
  static override summary = 'Keep builds, whatever the rules of gc say.';
  static override description =
    'A pin stays until it is taken off with `pakrat unpin`. PRODUCT alone is its live build.';
  static override strict = false;
  static override args = buildArgs;
  static override examples = ['<%= config.bin %> pin wow_classic_era@1.15.7.61582'];

  async run(): Promise<PinnedBuild[]> {
    const { argv, flags } = await this.parse(Pin);
    const builds = await this.withSession(flags, (session) => pin(session, argv as string[], { pinned: true }));
    this.log(renderPins(builds));
    return builds;
  }
}
