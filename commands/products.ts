import { listProducts, type ProductRow } from '../src/app/products.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { optionalArg } from '../src/cli/flags/args.ts';
import { serviceFlags } from '../src/cli/flags/global-flags.ts';
import { renderProducts } from '../src/cli/render/products.ts';

export default class Products extends StoreCommand {
  static override summary = 'List the products that the version service offers, with what the store holds of them.';
  static override strict = false;
  static override args = {
    glob: optionalArg('Only products whose codes match. Several may follow.'),
  };
  static override flags = serviceFlags;
  static override examples = [
    '<%= config.bin %> products',
    "<%= config.bin %> products 'wow*' --json",
    '<%= config.bin %> products --offline',
  ];

  async run(): Promise<ProductRow[]> {
    const { argv, flags } = await this.parse(Products);
    const options = { ...this.look(), globs: argv as string[] };
    const report = await this.withSession(flags, (session) => listProducts(session, options));
    this.log(renderProducts(report, this.width));
    return report.products;
  }
}
