import { readStatus, type StatusReport } from '../src/app/status.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { optionalArg } from '../src/cli/flags/args.ts';
import { renderStatus } from '../src/cli/render/status.ts';

export default class Status extends StoreCommand {
  static override summary = 'Show what the store holds and what is unfinished.';
  static override args = {
    product: optionalArg('Only builds of this product.'),
  };
  static override examples = [
    '<%= config.bin %> status',
    '<%= config.bin %> status wow_classic_era --store /srv/builds --json',
  ];

  async run(): Promise<StatusReport> {
    const { args, flags } = await this.parse(Status);
    const report = await this.withSession(flags, (session) => readStatus(session, args.product));
    this.log(renderStatus(report, { width: this.width, product: args.product }));
    return report;
  }
}
