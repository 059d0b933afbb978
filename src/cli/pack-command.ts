import * as Flags from '@oclif/core/flags';
import type { PackReport } from '../app/pack.ts';
import type { WorkOptions } from '../core/progress.ts';
import { formatBytes, plural } from '../core/quantities.ts';
import { CliCommand } from './base-command.ts';
import { requiredArg } from './flags/args.ts';
import type { GlobalFlags } from './flags/global-flags.ts';

/** The arguments of every command that makes a PAK. */
export const packArgs = {
  out: requiredArg('The PAK to write.'),
  dir: requiredArg('The folder whose files go into it.'),
};

/** The flags of every command that makes a PAK. */
export const packFlags = {
  force: Flags.boolean({ summary: 'Write over a file that is there.' }),
};

/** A command that makes a PAK. */
export abstract class PackCommand extends CliCommand {
  /** Makes a PAK, with a bar, and tells what was made. */
  protected async make(
    flags: GlobalFlags,
    body: (work: Required<WorkOptions>) => Promise<PackReport>,
  ): Promise<PackReport> {
    const report = await this.withProgress(flags, body);
    const { path, files, bytes, notes } = report;
    const lines = [`${path}: ${plural(files, 'file', 'files')}, ${formatBytes(bytes)}`];
    for (const note of notes) lines.push(`Note: ${note}.`);
    this.log(lines.join('\n'));
    return report;
  }
}
