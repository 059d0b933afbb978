import { isHeldWhole, type StatusReport } from '../../app/status.ts';
import { formatBytes, plural } from '../../core/quantities.ts';
import { renderTable } from '../terminal/table.ts';

/** The report in words. @param shown.product the one that was asked for */
export function renderStatus(report: StatusReport, shown: { width: number; product?: string | undefined }): string {
  const { width, product } = shown;
  const head = `${report.store}: ${formatBytes(report.bytes)} held`;
  if (report.builds.length === 0) return `${head}, no build${product === undefined ? '' : ` of ${product}`} was synced`;
  const columns = [
    { title: 'product' },
    { title: 'build' },
    { title: 'wanted', align: 'right' as const },
    { title: 'held', align: 'right' as const },
    { title: 'state' },
  ];
  const rows = report.builds.map(({ product, name, wanted, held, pinned }) => [
    product,
    name,
    formatBytes(wanted.bytes),
    formatBytes(Math.min(held.bytes, wanted.bytes)),
    `${stateOf({ wanted, held })}${pinned ? ', pinned' : ''}`,
  ]);
  return `${head}\n\n${renderTable(columns, rows, width)}`;
}

function stateOf({ wanted, held }: Pick<StatusReport['builds'][number], 'wanted' | 'held'>): string {
  if (isHeldWhole({ wanted, held })) return 'complete';
  if (wanted.entries === 0) return 'unfinished, not counted';
  return `unfinished, ${plural(wanted.entries - held.entries, 'entry', 'entries')} to go`;
}
