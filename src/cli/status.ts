import type { Amount } from '../store/ledger/ledger.ts';
import { openStore } from '../store/store.ts';
import { formatBytes, plural } from './render/bytes.ts';
import { renderTable } from './render/table.ts';

/** What `status --json` prints. */
export interface StatusReport {
  store: string;
  builds: { product: string; name: string; buildConfig: string; wanted: Amount; held: Amount }[];
  /** Verified bytes that the store holds, of all builds. */
  bytes: number;
}

/** What the ledger of a store says. @throws E_NOT_FOUND when there is no store */
export function readStatus(folder: string, product: string | undefined): StatusReport {
  const store = openStore(folder, { create: false });
  try {
    const builds = store.ledger.builds(product).filter((build) => build.selection !== null);
    return {
      store: folder,
      builds: builds.map(({ product, name, buildConfig, wanted, held }) => ({
        product,
        name,
        buildConfig,
        wanted,
        held,
      })),
      bytes: store.ledger.heldBytes(),
    };
  } finally {
    store.close();
  }
}

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
  const rows = report.builds.map(({ product, name, wanted, held }) => [
    ...[product, name, formatBytes(wanted.bytes), formatBytes(Math.min(held.bytes, wanted.bytes))],
    held.entries >= wanted.entries
      ? 'complete'
      : `unfinished, ${plural(wanted.entries - held.entries, 'entry', 'entries')} to go`,
  ]);
  return `${head}\n\n${renderTable(columns, rows, width)}`;
}
