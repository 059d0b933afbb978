import { type PinnedBuild, pin } from '../src/app/pin.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { buildArgs } from '../src/cli/flags/args.ts';
import { renderPins } from '../src/cli/render/gc.ts';

export default class Unpin extends StoreCommand {
  static override summary = 'Take the pins of builds off.';
  static override description = 'The next `pakrat gc` treats them like any other.';
  static override strict = false;
  static override args = buildArgs;
  static override examples = ['<%= config.bin %> unpin wow_classic_era@1.15.7.61582'];

  async run(): Promise<PinnedBuild[]> {
    const { argv, flags } = await this.parse(Unpin);
    const builds = await this.withSession(flags, (session) => pin(session, argv as string[], { pinned: false }));
    this.log(renderPins(builds));
    return builds;
  }
}
