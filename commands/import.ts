import * as Flags from '@oclif/core/flags';
import { type ImportReport, importFolder } from '../src/app/import.ts';
import { goesOnHint, PakratCommand } from '../src/cli/base-command.ts';
import { requiredArg } from '../src/cli/flags/args.ts';
import { importExitCode, renderImport } from '../src/cli/render/import.ts';

export default class Import extends PakratCommand {
  static override summary = 'Take a mirror, another store or an installed game into the store.';
  static override description =
    `The folder may be in the layout of a CDN (config, data and patch, or the folders above them), the .ngdp of keg, another store, or the folder of an installed game. Everything is checked before it is taken: configs by their hashes, archives entry by entry by their indices. What is damaged is told and left away, the rest of the same archive is taken. Builds of which the configs are there are known to the store afterwards; a sync of them fetches only what the folder lacked. Nothing in the folder is changed.

Where the file system can, copies share their bytes with the folder until one of them changes. --link makes hard links of whole objects instead: whoever changes the file in the folder then damages the store, though never the other way. Run it again to go on where it stopped. The exit code is 3 when something was damaged.`;
  static override args = {
    folder: requiredArg('The folder: a CDN folder or one above it, an older mirror, a store, or an installed game.'),
  };
  static override flags = {
    link: Flags.boolean({ summary: 'Hard-link whole objects rather than copy them.' }),
    product: Flags.string({
      summary: 'Product of builds that do not tell theirs; its CDN path is taken for folders that do not tell theirs.',
      helpValue: 'PRODUCT',
    }),
    'cdn-path': Flags.string({
      summary: 'CDN path of objects whose folders do not tell it, such as tpr/wow.',
      helpValue: 'PATH',
    }),
    'dry-run': Flags.boolean({ summary: 'Check everything, and take nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> import mirror/tpr/wow_classic_era',
    '<%= config.bin %> import backup/.ngdp --cdn-path tpr/wow_classic_era',
    '<%= config.bin %> import games --link --store /srv/builds',
    '<%= config.bin %> import "World of Warcraft"',
    '<%= config.bin %> import mirror --dry-run --json',
  ];

  protected override interruptedHint = goesOnHint;

  async run(): Promise<ImportReport> {
    const { args, flags } = await this.parse(Import);
    const { link, product } = flags;
    const options = { link, product, cdnPath: flags['cdn-path'], dryRun: flags['dry-run'] };
    const report = await this.withSession(flags, (session) =>
      importFolder(session, args.folder, { ...this.work(), ...options }),
    );
    this.log(renderImport(report));
    process.exitCode = importExitCode(report);
    return report;
  }
}
