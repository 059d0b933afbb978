import type { ProductsReport } from '../../app/products.ts';
import { isHeldWhole } from '../../app/status.ts';
import { plural } from '../../core/quantities.ts';
import { renderTable } from '../terminal/table.ts';
import { saidBy } from './said-by.ts';

/** The products in words, with the builds of them that are held. */
export function renderProducts(report: ProductsReport, width: number): string {
  const { products, service, time } = report;
  const said = service === undefined ? 'held by the store' : saidBy({ service, time });
  const head = `${plural(products.length, 'product', 'products')}, ${said}`;
  if (products.length === 0) return head;
  const columns = [{ title: 'product' }, { title: 'seqn', align: 'right' as const }, { title: 'held' }];
  const rows = products.map(({ product, seqn, listed, builds }) => {
    const names = builds.map(({ name, wanted, held }) =>
      isHeldWhole({ wanted, held }) ? name : `${name} (unfinished)`,
    );
    return [
      product,
      seqn === null ? '' : String(seqn),
      [...names, ...(listed === false ? ['not listed any more'] : [])].join(', '),
    ];
  });
  return `${head}\n\n${renderTable(columns, rows, width)}`;
}
