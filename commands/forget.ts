import { forget } from '../src/app/forget.ts';
import type { GcReport } from '../src/app/gc.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { buildArgs, dryRunFlag } from '../src/cli/flags/args.ts';
import { renderGc } from '../src/cli/render/gc.ts';

export default class Forget extends StoreCommand {
  static override summary = 'Forget builds, and give back what only they wanted.';
  static override description =
    'What other builds of the store want stays. The history of the build stays as well: it can be synced again while a host has it. A build that is pinned is not forgotten.';
  static override strict = false;
  static override args = buildArgs;
  static override flags = { 'dry-run': dryRunFlag };
  static override examples = [
    '<%= config.bin %> forget wow_classic_era@1.15.6.58912',
    '<%= config.bin %> forget wow@11.2.0.62000 wow_classic_era@1.15.6.58912 --dry-run',
  ];

  async run(): Promise<GcReport> {
    const { argv, flags } = await this.parse(Forget);
    const dryRun = flags['dry-run'];
    const report = await this.withSession(flags, (session) =>
      forget(session, argv as string[], { ...this.work(), dryRun }),
    );
    this.log(renderGc(report));
    return report;
  }
}
