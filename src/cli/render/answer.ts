import type { ProductReport } from '../../app/versions.ts';
import { type Field, renderFields } from '../terminal/fields.ts';

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
