import type { ProductTable } from '../src/app/versions.ts';
import { serviceFlags } from '../src/cli/flags/global-flags.ts';
import { ProductCommand, productArgs } from '../src/cli/product-command.ts';

export default class Versions extends ProductCommand {
  static override summary = 'Show the live builds of a product, by region.';
  static override description =
    'Asks the version services in the order of the settings, the one that answered last first, and keeps the answer in the store.';
  static override args = productArgs;
  static override flags = serviceFlags;
  static override examples = [
    '<%= config.bin %> versions wow_classic_era',
    '<%= config.bin %> versions wow --region eu --json',
    '<%= config.bin %> versions wow --patch-url http://127.0.0.1:8090',
    '<%= config.bin %> versions wow --offline',
  ];

  async run(): Promise<ProductTable> {
    const { args, flags } = await this.parse(Versions);
    return this.show(args.product, flags, 'versions');
  }
}
