import { askVersions, type ProductReport, type ProductTable } from '../app/versions.ts';
import { StoreCommand } from './base-command.ts';
import { requiredArg } from './flags/args.ts';
import type { GlobalFlags } from './flags/global-flags.ts';
import { saidBy } from './render/said-by.ts';
import { type Field, renderFields } from './terminal/table.ts';

/** The argument of the commands that show what a version service says. */
export const productArgs = {
  product: requiredArg('Product code, such as wow or wow_classic_era.'),
};

/** The commands that show a table of a version service: they differ in the endpoint alone. */
export abstract class ProductCommand extends StoreCommand {
  protected async show(product: string, flags: GlobalFlags, endpoint: 'versions' | 'cdns'): Promise<ProductTable> {
    const report = await this.withSession(flags, (session) => askVersions(session, product, endpoint, this.look()));
    const { table, columns } = report;
    this.log(`${endpoint} of ${product}, seqn ${table.seqn ?? 'none'}, ${saidBy(report)}\n`);
    this.log(renderAnswer(columns, table.rows));
    return table;
  }
}

/**
 * A `versions` or `cdns` table for people: a record for each different row, the regions that share it together.
 * The first column names the region. Lists of hosts take a line for each.
 */
export function renderAnswer(columns: ProductReport['columns'], rows: ProductReport['table']['rows']): string {
  const [region, ...others] = columns.map(({ name }) => name);
  if (region === undefined || rows.length === 0) return '(no rows)';
  const regionsOf = new Map<string, string[]>();
  for (const row of rows) {
    const cells = JSON.stringify(others.map((name) => row[name] ?? ''));
    regionsOf.set(cells, [...(regionsOf.get(cells) ?? []), row[region] ?? '']);
  }
  return [...regionsOf]
    .map(([cells, regions]) => {
      const values = JSON.parse(cells) as string[];
      const fields = others.map((name, i): Field => [name, (values[i] ?? '').split(/\s+/)]);
      return renderFields([[region, regions.join(' ')], ...fields]);
    })
    .join('\n\n');
}
