import * as Flags from '@oclif/core/flags';
import type { PackOptions, PackReport } from '../app/pack.ts';
import { PakratError } from '../core/errors.ts';
import type { WorkOptions } from '../core/progress.ts';
import { formatBytes, formatCount, plural } from '../core/quantities.ts';
import { CliCommand } from './base-command.ts';
import { optionalArg, repeatable, requiredArg } from './flags/args.ts';
import { type GlobalFlags, sessionOptions } from './flags/global-flags.ts';

/** The arguments of every command that makes a PAK. */
export const packArgs = {
  out: requiredArg('The PAK to write.'),
  input: optionalArg(
    'A folder, whose files go into it by their names in it, or a file, by its path as written. Several may follow.',
  ),
};

/** The flags of every command that makes a PAK. */
export const packFlags = {
  force: Flags.boolean({ summary: 'Write over a file that is there.' }),
  list: Flags.string({
    summary: 'File with a list of what goes into it, a file or folder a line, or - for stdin.',
    description: 'FILE, or FILE;NAME where its name in the PAK is to be another.',
    helpValue: 'FILE',
  }),
  like: Flags.string({
    summary: 'An older PAK. The new one has its order, flags, ids, version and names.',
    description:
      'With files or folders, these are all that is in it, and what has not changed stays as it is stored; without, all of the older PAK is, but for --replace.',
    helpValue: 'PAK',
  }),
  replace: Flags.string({
    summary: 'File in the place of an entry of the older PAK; index:N names one by number. Repeatable.',
    helpValue: 'NAME=FILE',
    dependsOn: ['like'],
    ...repeatable,
  }),
};

/** What every verb that makes a PAK is given. */
type PackWork = PackOptions & Required<WorkOptions> & { store: string };

/** What every command that makes a PAK was given. */
interface PackFlags extends GlobalFlags {
  force?: boolean;
  list?: string | undefined;
  like?: string | undefined;
  replace?: string[] | undefined;
}

/** The options that every family takes. @throws E_USAGE for what is no NAME=FILE */
function commonOptions({ force, list, like, replace }: PackFlags): PackOptions {
  return {
    force,
    list: list === '-' ? process.stdin : list,
    like,
    replace: replace && Object.fromEntries(replace.map(parseReplacement)),
  };
}

function parseReplacement(text: string): [name: string, file: string] {
  const [, name, file] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name !== undefined && file !== undefined) return [name, file];
  throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no NAME=FILE`, {
    hint: 'For a name with = in it, write index:N=FILE.',
  });
}

/** A command that makes a PAK. */
export abstract class PackCommand extends CliCommand {
  /** Makes a PAK, with a bar, and tells what was made. */
  protected async make(
    flags: PackFlags,
    argv: readonly unknown[],
    body: (out: string, inputs: string[], work: PackWork) => Promise<PackReport>,
  ): Promise<PackReport> {
    const [out = '', ...inputs] = argv as string[];
    const { store } = await sessionOptions(flags, this.config.dataDir);
    const common = { ...commonOptions(flags), store };
    const report = await this.withProgress(flags, (work) => body(out, inputs, { ...common, ...work }));
    const { path, files, bytes, notes, kept } = report;
    const taken = kept === undefined ? '' : `, ${formatCount(kept)} of them as they were stored`;
    const lines = [`${path}: ${plural(files, 'file', 'files')}, ${formatBytes(bytes)}${taken}`];
    for (const note of notes) lines.push(`Note: ${note}.`);
    this.log(lines.join('\n'));
    return report;
  }
}
