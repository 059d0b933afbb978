import { type HistoryReport, readHistory } from '../src/app/history.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { productArgs } from '../src/cli/product-command.ts';
import { renderHistory } from '../src/cli/render/history.ts';

export default class History extends StoreCommand {
  static override summary = 'Show every build of a product that was ever seen.';
  static override description =
    'Whatever a version service says is kept in the store. Each build that was named there is a line, with when it was first and last seen, and whether the store holds what the last sync of it wanted. Nobody is asked; `pakrat versions PRODUCT` asks. PRODUCT@BUILD takes any name or the first digits of the config that is shown.';
  static override args = productArgs;
  static override examples = [
    '<%= config.bin %> history wow_classic_era',
    '<%= config.bin %> history wow --store /srv/builds --json',
  ];

  async run(): Promise<HistoryReport> {
    const { args, flags } = await this.parse(History);
    const report = await this.withSession(flags, (session) => readHistory(session, args.product));
    this.log(renderHistory(report, this.width));
    return report;
  }
}
