import * as Flags from '@oclif/core/flags';
import { findWhich, type WhichReport } from '../src/app/which.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { requiredArg } from '../src/cli/flags/args.ts';
import { globalFlags } from '../src/cli/flags/global-flags.ts';
import { renderWhich } from '../src/cli/render/which.ts';

export default class Which extends StoreCommand {
  static override summary = 'Show which builds of the store have a file, and where it changed.';
  static override description =
    'Looks into every build that the store knows, product by product, the oldest first: whether it has the file, whether that is new, the same, changed or gone against the build before, and whether it is held. Nothing is fetched; a build that cannot be read without a network is named with the reason. Exit 4 when no build has the file.';
  static override args = {
    name: requiredArg('A name; fdid:N, ckey:HEX or ekey:HEX.'),
  };
  static override flags = {
    product: Flags.string({ summary: 'Only builds of this product.', helpValue: 'PRODUCT' }),
    locale: globalFlags.locale,
  };
  static override examples = [
    '<%= config.bin %> which interface/icons/inv_misc_bag_08.blp',
    '<%= config.bin %> which fdid:1349477 --product wow_classic_era --json',
  ];

  async run(): Promise<WhichReport> {
    const { args, flags } = await this.parse(Which);
    const { product } = flags;
    const report = await this.withSession(flags, (session) =>
      findWhich(session, args.name, { ...this.work(), product }),
    );
    this.log(renderWhich(report, this.width));
    return report;
  }
}
