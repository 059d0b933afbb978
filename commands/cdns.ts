import type { ProductTable } from '../src/app/versions.ts';
import { serviceFlags } from '../src/cli/flags/global-flags.ts';
import { ProductCommand, productArgs } from '../src/cli/product-command.ts';

export default class Cdns extends ProductCommand {
  static override summary = 'Show the hosts and paths that carry a product, by region.';
  static override description =
    'Asks the version services in the order of the settings, the one that answered last first, and keeps the answer in the store.';
  static override args = productArgs;
  static override flags = serviceFlags;
  static override examples = [
    '<%= config.bin %> cdns wow_classic_era',
    '<%= config.bin %> cdns wow --region cn --json',
    '<%= config.bin %> cdns wow --patch-url ribbit://127.0.0.1:1119',
  ];

  async run(): Promise<ProductTable> {
    const { args, flags } = await this.parse(Cdns);
    return this.show(args.product, flags, 'cdns');
  }
}
