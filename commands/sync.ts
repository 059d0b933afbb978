import * as Flags from '@oclif/core/flags';
import { type SyncedBuilds, type SyncReport, sync, syncBuilds } from '../src/app/sync.ts';
import { goesOnHint, PakratCommand } from '../src/cli/base-command.ts';
import { repeatable, requiredArg } from '../src/cli/flags/args.ts';
import { parseBuildCount, parseRate, parseTags } from '../src/cli/flags/parse-values.ts';
import { renderSync, renderSyncs, syncExitCode } from '../src/cli/render/sync.ts';
import { PakratError } from '../src/core/errors.ts';

export default class Sync extends PakratCommand {
  static override summary = 'Bring builds, or the part of them that is chosen, into the store.';
  static override description =
    `Fetches what is wanted and not yet held, checks every entry as it arrives, and keeps it. Run it again to go on where it stopped.

Without --tags, --include and --all the whole build is wanted. Tags choose as the official client does: OR among tags of one type (platform, architecture, locale …), AND across types; files without tags are always chosen.

Several builds are synced one after the other, and what they share is fetched once. One that fails does not stop the others: it is named at the end, and the exit code is that of the worst failure. --builds takes the newest builds of each product: those that the version services name for any region, or named whenever they were asked with this store, and those that the CDN config names.`;
  static override strict = false;
  static override args = {
    build: requiredArg(
      'PRODUCT or PRODUCT@BUILD (version name, build id, build-name, or build config or its first digits). Several may follow.',
    ),
  };
  static override flags = {
    tags: Flags.string({ summary: 'Tags to choose files by, separated by commas.', helpValue: 'TAG,TAG' }),
    include: Flags.string({
      summary: 'Only files whose names match this glob. Repeatable.',
      helpValue: 'GLOB',
      ...repeatable,
    }),
    builds: Flags.string({
      summary: 'The newest N builds of each product, or all that are known.',
      helpValue: 'N|all',
    }),
    all: Flags.boolean({
      summary: 'Keep every object of the build as the CDN has it: whole archives, patches, indices and configs.',
    }),
    patch: Flags.boolean({
      summary: 'Patch files of older builds that are held, where that fetches less than the new files.',
    }),
    'cdn-config': Flags.string({
      summary: 'CDN config of a build that no version table names, where the one that pakrat finds is not its own.',
      helpValue: 'HEX',
    }),
    'dry-run': Flags.boolean({ summary: 'Show what would be fetched, and fetch no data.' }),
    jobs: Flags.integer({ summary: 'Ranges to fetch at a time.', helpValue: 'N', min: 1, max: 256 }),
    'limit-rate': Flags.string({ summary: 'Bytes a second at most, such as 500K or 20M.', helpValue: 'RATE' }),
  };
  static override examples = [
    '<%= config.bin %> sync wow_classic_era --tags Windows,x86_64,enUS',
    '<%= config.bin %> sync wow_classic_era@1.15.7.61582 --all --store /srv/builds',
    "<%= config.bin %> sync wow --include 'interface/icons/*.blp'",
    '<%= config.bin %> sync wow_classic_era --patch',
    '<%= config.bin %> sync wow --dry-run --json',
    '<%= config.bin %> sync wow wow_classic_era --builds 2 --all',
  ];

  protected override interruptedHint = goesOnHint;

  async run(): Promise<SyncReport | SyncedBuilds> {
    const { argv, flags } = await this.parse(Sync);
    const [build = '', ...more] = argv as string[];
    const { include, all, patch, jobs, 'dry-run': dryRun, 'cdn-config': cdnConfig } = flags;
    const tags = parseTags(flags.tags);
    const limitRate = parseRate(flags['limit-rate']);
    const builds = parseBuildCount(flags.builds);
    const choice = { tags, include, all, patch, jobs, limitRate, dryRun };
    if (more.length === 0 && builds === undefined) {
      const one = { ...choice, cdnConfig };
      const report = await this.withSession(flags, (session) => sync(session, build, { ...this.work(), ...one }));
      this.log(renderSync(report));
      return report;
    }
    if (cdnConfig !== undefined) {
      throw new PakratError('E_USAGE', '--cdn-config is for one build', { hint: 'Sync the others by themselves.' });
    }
    const reports = await this.withSession(flags, (session) =>
      syncBuilds(session, [build, ...more], { ...this.work(), ...choice, builds }),
    );
    this.log(renderSyncs(reports, dryRun, this.width));
    process.exitCode = syncExitCode(reports);
    return reports;
  }
}
