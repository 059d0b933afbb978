import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { PackFile, PackResult, PackSink } from '../paks/packing.ts';
import { PakratCommand } from './base-command.ts';
import type { PackReport } from './pack.ts';

/** The arguments of every command that makes a PAK. */
export const packArgs = {
  out: Args.string({ description: 'The PAK to write.', required: true, ignoreStdin: true }),
  dir: Args.string({ description: 'The folder whose files go into it.', required: true, ignoreStdin: true }),
};

/** The flags of every command that makes a PAK. */
export const packFlags = {
  force: Flags.boolean({ summary: 'Write over a file that is there.' }),
};

/** What the commands that make a PAK have in common. */
export abstract class PackCommand extends PakratCommand {
  /** Makes the PAK and tells what was made. */
  protected async pack(
    { out, dir }: { out: string; dir: string },
    force: boolean,
    write: (files: PackFile[], sink: PackSink) => Promise<PackResult>,
  ): Promise<PackReport> {
    const { runPack, renderPack } = await import('./pack.ts');
    const report = await runPack({ out, folder: dir, force, signal: this.signal, write });
    this.log(renderPack(report));
    return report;
  }
}
