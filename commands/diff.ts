import * as Flags from '@oclif/core/flags';
import { diff } from '../src/app/diff.ts';
import { PakratCommand } from '../src/cli/base-command.ts';
import { optionalArg, requiredArg, sourceHelp } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';
import {
  diffExitCode,
  renderDiff,
  renderDiffSummary,
  writeDiff,
  writeDiffJson,
  writeDiffNames,
} from '../src/cli/render/diff.ts';

export default class Diff extends PakratCommand {
  static override summary = 'Compare the files of two sources.';
  static override description =
    `A line for each file that differs: A added, D removed, M changed, R renamed, with its size and by how much it grew; then the sums. Of two builds, also what a sync of the second would fetch beyond the first, and beyond what the store holds.

Where both sources have ids, the same file is the one with the same id; else the one with the same name. Of a build, files are compared by the MD5 that it has of them, and none is fetched. Where a source knows no MD5, sizes tell, and contents are read where sizes are equal.

The exit code is 0 whether files differ or not. With --exit-code it is 1 when they do, as it is for trouble with network or store: with --json the two are told apart by "error".`;
  static override strict = false;
  static override args = {
    before: requiredArg(`${sourceHelp} A folder of plain files too.`),
    after: requiredArg('What it is compared with. folder: in front takes any folder as one of plain files.'),
    glob: optionalArg('Only names that match, or that lie below a folder of this name. Several may follow.'),
  };
  static override flags = {
    summary: Flags.boolean({ summary: 'Show only sums, by folder.', exclusive: ['name-only'] }),
    'name-only': Flags.boolean({ summary: 'Show only the names of files that differ.' }),
    'exit-code': Flags.boolean({ summary: 'Exit with 1 when files differ.' }),
    ...pakFlags,
  };
  static override examples = [
    '<%= config.bin %> diff wow_classic_era@1.15.6.58912 wow_classic_era@1.15.7.61582',
    "<%= config.bin %> diff wow_classic_era@1.15.7.61582 wow_classic_era 'interface/*' --summary",
    '<%= config.bin %> diff id1/pak0.pak unpacked --exit-code',
    '<%= config.bin %> diff Game-1.0.pak Game-1.1.pak --json',
  ];

  async run(): Promise<unknown> {
    const { argv, flags } = await this.parse(Diff);
    const [before = '', after = '', ...globs] = argv as string[];
    const report = await this.withSession(flags, (session) =>
      diff(session, before, after, { ...this.work(), globs, pak: pakOptions(flags) }),
    );
    process.exitCode = diffExitCode(report, flags['exit-code']);
    if (flags.summary) {
      this.log(renderDiffSummary(report, this.width));
      return { failed: report.failed, summary: report.summary };
    }
    if (this.jsonEnabled()) await writeDiffJson(process.stdout, report);
    else if (flags['name-only']) await writeDiffNames(process.stdout, report);
    else {
      await writeDiff(process.stdout, report);
      this.log(renderDiff(report));
    }
    return undefined;
  }
}
