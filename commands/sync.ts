import * as Flags from '@oclif/core/flags';
import { type SyncReport, sync } from '../src/app/sync.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { repeatable, requiredArg } from '../src/cli/flags/args.ts';
import { parseRate, parseTags } from '../src/cli/flags/parse-values.ts';
import { renderSync } from '../src/cli/render/sync.ts';

export default class Sync extends PakratCommand {
  static override summary = 'Bring a build, or the part of it that is chosen, into the store.';
  static override description =
    `Fetches what is wanted and not yet held, checks every entry as it arrives, and keeps it. Run it again to go on where it stopped.

Without --tags, --include and --all the whole build is wanted. Tags choose as the official client does: OR among tags of one type (platform, architecture, locale …), AND across types; files without tags are always chosen.`;
  static override args = {
    build: requiredArg(
      'PRODUCT or PRODUCT@BUILD (version name, build id, build-name, or build config or its first digits).',
    ),
  };
  static override flags = {
    tags: Flags.string({ summary: 'Tags to choose files by, separated by commas.', helpValue: 'TAG,TAG' }),
    include: Flags.string({
      summary: 'Only files whose names match this glob. Repeatable.',
      helpValue: 'GLOB',
      ...repeatable,
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
  ];

  async run(): Promise<SyncReport> {
    const { args, flags } = await this.parse(Sync);
    const { include, all, patch, jobs } = flags;
    const tags = parseTags(flags.tags);
    const limitRate = parseRate(flags['limit-rate']);
    const choice = {
      tags,
      include,
      all,
      patch,
      jobs,
      limitRate,
      dryRun: flags['dry-run'],
      cdnConfig: flags['cdn-config'],
    };
    const report = await this.withSession(flags, (session) => sync(session, args.build, { ...this.work(), ...choice }));
    this.log(renderSync(report));
    return report;
  }
}
