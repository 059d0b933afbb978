import * as Flags from '@oclif/core/flags';
import { type ExtractResult, extract } from '../src/app/extract.ts';
import { goesOnHint, PakratCommand } from '../src/cli/base-command.ts';
import { optionalArg, rawFlag, regexFlag, repeatable, sourceArg } from '../src/cli/flags/args.ts';
import { pakFlags, pakOptions } from '../src/cli/flags/pak-flags.ts';
import { extractExitCode, renderExtract } from '../src/cli/render/extract.ts';
import { writeToStdout } from '../src/cli/terminal/write-each.ts';
import { PakratError } from '../src/core/errors.ts';

export default class Extract extends PakratCommand {
  static override summary = 'Extract files of a source by name.';
  static override description =
    `Names may be globs; fdid:N, ckey:HEX or ekey:HEX in a build, index:N in a PAK. Without any, everything is extracted, but for what the engine does not give for its name. What the store does not hold of a build is fetched first and is then held.

A file that cannot be had (its key is missing, no host has it) is named with the reason, and the others are extracted. Nothing is ever written outside of the folder that --to names.`;
  static override strict = false;
  static override args = {
    source: sourceArg,
    name: optionalArg('A name or glob. Several may follow.'),
  };
  static override flags = {
    to: Flags.string({
      summary: 'Folder to write into; made when it is not there. "-" writes a tar to stdout.',
      helpValue: 'DIR',
      required: true,
    }),
    list: Flags.string({
      summary: 'File with a list of what to extract, a file a line, or - for stdin.',
      description:
        'NAME, N or fdid:N, ckey:HEX, ekey:HEX; behind a semicolon the name to write it under, where it is to have another. The lists of TACTTool are read, too.',
      helpValue: 'FILE',
    }),
    include: Flags.string({ summary: 'Only names that match. Repeatable.', helpValue: 'GLOB', ...repeatable }),
    exclude: Flags.string({ summary: 'No names that match. Repeatable.', helpValue: 'GLOB', ...repeatable }),
    regex: regexFlag,
    strip: Flags.integer({ summary: 'Take so many folders off the front of names.', helpValue: 'N', min: 0 }),
    flat: Flags.boolean({ summary: 'Write all files into one folder.', exclusive: ['strip'] }),
    raw: rawFlag,
    jobs: Flags.integer({
      summary: 'Threads. Default: one for each core, where that pays.',
      helpValue: 'N',
      min: 1,
      max: 64,
    }),
    ...pakFlags,
  };
  static override examples = [
    "<%= config.bin %> extract wow_classic_era 'interface/icons/*.blp' --to icons",
    '<%= config.bin %> extract wow_classic_era fdid:1349477 world/maps/azeroth/azeroth.wdt --to out',
    '<%= config.bin %> extract wow_classic_era@1.15.7.61582 --to everything --offline',
    "<%= config.bin %> extract Game-WindowsNoEditor.pak --exclude '*.umap' --strip 1 --to out --key @game.key",
    '<%= config.bin %> extract wow_classic_era --list files.txt --to out',
    '<%= config.bin %> extract id1/pak0.pak --to - | tar t',
  ];

  async run(): Promise<ExtractResult | undefined> {
    const { argv, flags } = await this.parse(Extract);
    if (flags.to !== '-') this.interruptedHint = goesOnHint;
    const [source = '', ...names] = argv as string[];
    const isTar = flags.to === '-';
    if (isTar && this.jsonEnabled()) {
      throw new PakratError('E_USAGE', '--json and a tar cannot both go to stdout', { hint: 'Leave --json away.' });
    }
    const { to, include, exclude, regex, strip, flat, raw, jobs } = flags;
    const list = flags.list === '-' ? process.stdin : flags.list;
    const choice = { names, list, include, exclude, regex, strip, flat, raw, jobs, pak: pakOptions(flags) };
    const where = isTar ? { tar: writeToStdout } : { to };
    // To count files for nobody would take as long as to list them.
    const work = { ...this.work(), counts: !flags.quiet };
    const result = await this.withSession(flags, (session) =>
      extract(session, source, { ...work, ...choice, ...where }),
    );
    const text = renderExtract(result, isTar ? 'a tar' : to);
    if (!isTar) this.log(text);
    else if (result.failed.length > 0) process.stderr.write(`${text}\n`);
    else this.note(text);
    process.exitCode = extractExitCode(result);
    return isTar ? undefined : result;
  }
}
