import * as Args from '@oclif/core/args';
import { PakratCommand } from '../src/cli/base-command.ts';
import type { StatusReport } from '../src/cli/status.ts';

export default class Status extends PakratCommand {
  static override summary = 'Show what the store holds and what is unfinished.';
  static override args = {
    product: Args.string({ description: 'Only builds of this product.', ignoreStdin: true }),
  };
  static override examples = [
    '<%= config.bin %> status',
    '<%= config.bin %> status wow_classic_era --store /srv/builds --json',
  ];

  async run(): Promise<StatusReport> {
    const { args, flags } = await this.parse(Status);
    const options = this.globals(flags);
    const { readStatus, renderStatus } = await import('../src/cli/status.ts');
    const report = readStatus(options.store, args.product);
    this.log(renderStatus(report, { width: this.width, product: args.product }));
    return report;
  }
}
