import * as Flags from '@oclif/core/flags';
import { type GcReport, gc } from '../src/app/gc.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { dryRunFlag } from '../src/cli/flags/args.ts';
import { parseAge, parseStoreSize } from '../src/cli/flags/parse-values.ts';
import { renderGc } from '../src/cli/render/gc.ts';

export default class Gc extends StoreCommand {
  static override summary = 'Give back the space of what no build of the store wants.';
  static override description =
    `Every build that the store knows keeps all that its manifests name, whatever part of it was chosen. One of which --all was ever synced also keeps all that its CDN config lists. What is left goes. Without a rule no build goes. With --keep and --older a build goes when both let it go; --max-size takes the oldest of the rest, and never one that --keep keeps.

Builds are ordered by what the version services said of them, never by when they were last read. Only complete builds count for --keep. A build that is pinned (\`pakrat pin\`) stays whatever the rules say, and so do the newest complete one of each product and those that are live. Where a build cannot be read, nothing of its CDN path goes.

It can be interrupted anywhere, runs beside everything else, and is the way out when the disk is full: the store keeps a little space for it.`;
  static override flags = {
    keep: Flags.integer({
      summary: 'Of each product keep the N newest complete builds, and what is newer; forget the others.',
      helpValue: 'N',
      min: 1,
    }),
    older: Flags.string({ summary: 'Forget builds that were first seen longer ago, such as 90d.', helpValue: 'AGE' }),
    'max-size': Flags.string({
      summary: 'Forget the oldest builds until the store holds no more than this, such as 500G.',
      helpValue: 'SIZE',
    }),
    'dry-run': dryRunFlag,
  };
  static override examples = [
    '<%= config.bin %> gc --dry-run',
    '<%= config.bin %> gc --keep 3 --older 90d',
    '<%= config.bin %> gc --max-size 500G --store /srv/builds',
  ];

  async run(): Promise<GcReport> {
    const { flags } = await this.parse(Gc);
    const rules = {
      keep: flags.keep,
      olderMs: parseAge(flags.older),
      maxBytes: parseStoreSize(flags['max-size']),
      dryRun: flags['dry-run'],
    };
    const report = await this.withSession(flags, (session) => gc(session, { ...this.work(), ...rules }));
    this.log(renderGc(report));
    return report;
  }
}
