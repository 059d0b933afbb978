import { askVersions, type ProductTable } from '../app/versions.ts';
import { PakratCommand } from './base-command.ts';
import { requiredArg } from './flags/args.ts';
import type { GlobalFlags } from './flags/global-flags.ts';
import { renderAnswer } from './render/answer.ts';

/** The argument of the commands that show what a version service says. */
export const productArgs = {
  product: requiredArg('Product code, such as wow or wow_classic_era.'),
};

/** The commands that show a table of a version service: they differ in the endpoint alone. */
export abstract class ProductCommand extends PakratCommand {
  protected async show(product: string, flags: GlobalFlags, endpoint: 'versions' | 'cdns'): Promise<ProductTable> {
    const report = await this.withSession(flags, (session) => askVersions(session, product, endpoint, this.notes()));
    const { table, columns, service, time } = report;
    const when = time === undefined ? '' : `, as it was at ${new Date(time).toISOString()}`;
    const from = service.replace('/{product}/{endpoint}', '');
    this.log(`${endpoint} of ${product}, seqn ${table.seqn ?? 'none'}, from ${from}${when}\n`);
    this.log(renderAnswer(columns, table.rows));
    return table;
  }
}
