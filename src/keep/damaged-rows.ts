import { identityOfRow } from '../builds/resolve/table-identity.ts';
import { rowOfRegion } from '../cdn/versions/region-rows.ts';
import { isPakratError, resultUnless } from '../core/errors.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import { cell, decodeBpsv } from '../formats/services/bpsv.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import { type BuildIdentity, type BuildRow, type DamagedRow, keyOf } from '../store/ledger/rows.ts';
import type { VerifyProblem } from '../verify/verify-result.ts';
import { type KeptHistory, takeBackLost } from './check-history.ts';

/** The rows of a ledger that are not as they were written. */
interface DamagedRows {
  bad: VerifyProblem[];
  /** Those that are right again, or that nothing needs. */
  repaired: number;
  /** Build configs of builds that were restored: nothing but a new count tells how much of them is held. */
  uncounted: Set<string>;
  /** Build configs of rows that stay damaged: nothing is written to them. */
  untouched: Set<string>;
}

/** The means to mend damaged rows. */
interface RowRepair {
  writable: boolean;
  repair: boolean;
  /** Asks the version services about a product, if they can be asked. */
  askAgain: (product: string) => Promise<void>;
  openHistory: () => KeptHistory;
}

/**
 * Looks at the checksums of rows that nothing on disk proves. What was remembered of version services and of the store itself is forgotten,
 * for it is asked or made again; so is a key, which only its user can import again. With `repair` a build becomes what the history file says of
 * it, or what the version services say or said, and all else that the history file has comes back.
 */
export async function checkRowSums(ledger: Ledger, options: RowRepair): Promise<DamagedRows> {
  const { writable, repair, openHistory } = options;
  const found: DamagedRows = { bad: [], repaired: 0, uncounted: new Set(), untouched: new Set() };
  const rows = ledger.damagedRows();
  for (const { table, key } of rows) {
    const message = `the row ${key} of its table ${table} is damaged or gone`;
    found.bad.push({ name: 'ledger.db', code: 'E_INTEGRITY', message });
  }
  if (!writable) return found;
  if (!repair) {
    for (const row of rows) if (row.table !== 'builds' && !saysWhatToKeep(row)) ledger.removeRow(row);
    for (const { table, key } of rows)
      if (table === 'builds') found.untouched.add(ledger.buildOfRow(key)?.buildConfig ?? '');
    return found;
  }
  const history = openHistory();
  try {
    await repairRows(ledger, { ...options, rows, history }, found);
  } finally {
    history.close();
  }
  return found;
}

async function repairRows(
  ledger: Ledger,
  { rows, history, askAgain }: Pick<RowRepair, 'askAgain'> & { rows: readonly DamagedRow[]; history: KeptHistory },
  found: DamagedRows,
): Promise<void> {
  // What is to be kept may stand in a line that is damaged itself.
  const isKept = history.problem === undefined && history.damaged.size === 0;
  const builds = rows.filter(({ table }) => table === 'builds');
  for (const row of rows) {
    if (row.table === 'builds') continue;
    if (saysWhatToKeep(row) && !isKept && ledger.hasRow(row)) ledger.sealRow(row);
    else ledger.removeRow(row);
    if (row.table !== 'keys') found.repaired += 1;
  }
  // Builds are restored from what the version services say: those that are right today may need that one day.
  const products = new Set([...ledger.askedProducts(), ...ledger.builds().map(({ product }) => product)]);
  for (const product of products) if (builds.length > 0 || lacksAnswers(ledger, product)) await askAgain(product);
  let removed = 0;
  for (const row of builds) {
    const restored = restoreBuild(ledger, history.ledger, row);
    if (restored === undefined) {
      ledger.removeRow(row);
      removed += 1;
    } else {
      found.uncounted.add(restored.buildConfig);
      found.repaired += 1;
    }
  }
  if (rows.length === 0) return;
  const back = takeBackLost(ledger, history);
  found.repaired += Math.min(back.size, removed);
  for (const buildConfig of back) found.uncounted.add(buildConfig);
}

/** True for a row that keeps a build, or more of it: too much is better than too little, so one that is damaged stays. */
function saysWhatToKeep({ table }: DamagedRow): boolean {
  return table === 'pins' || table === 'selections';
}

function lacksAnswers(ledger: Ledger, product: string): boolean {
  return (['versions', 'cdns'] as const).some((endpoint) => ledger.answers(product, endpoint).length === 0);
}

/** Makes a build what the history or the version services said of it. @returns undefined where nothing tells which build it was */
function restoreBuild(ledger: Ledger, history: Ledger, damaged: DamagedRow): BuildIdentity | undefined {
  const row = ledger.buildOfRow(damaged.key);
  const kept = row && keptBuild(ledger, history, row);
  const identity =
    kept ?? (row && (answeredBuild(ledger, row, row.buildConfig) ?? answeredBuild(ledger, row, undefined)));
  if (row === undefined || identity === undefined) return undefined;
  ledger.transaction(() => {
    ledger.renameBuild(damaged.key, identity);
    ledger.addBuild(identity);
    const selection =
      row.selection === null ? null : (kept?.selection ?? JSON.stringify(selectionOf(row) ?? wholeBuild));
    const { product, buildConfig } = identity;
    if (selection !== null) ledger.setProgress(product, buildConfig, { selection, wanted: row.wanted, held: row.held });
    ledger.sealRow(damaged);
  });
  return identity;
}

/** A build as the history has it: that of the same build config, else the only one that the ledger has no row of. */
function keptBuild(ledger: Ledger, history: Ledger, damaged: BuildRow): BuildRow | undefined {
  const builds = history.builds();
  const same = builds.find((build) => keyOf(build) === keyOf(damaged));
  const known = new Set(ledger.builds().map(keyOf));
  const [only, another] = builds.filter((build) => !known.has(keyOf(build)));
  return same ?? (another === undefined ? only : undefined);
}

const wholeBuild: Selection = { tags: [], include: [], all: false };

/** The selection of a build; undefined where there is none, or none that can be read. */
export function selectionOf({ selection }: Pick<BuildRow, 'selection'>): Selection | undefined {
  const value = resultUnless(
    () => true,
    () => JSON.parse(selection ?? 'null') as Partial<Selection> | null,
  );
  const { tags, include, all } = value ?? {};
  return Array.isArray(tags) && Array.isArray(include) && typeof all === 'boolean' ? { tags, include, all } : undefined;
}

/** True for a selection of every object that the CDN has for a build, and for one that cannot be read: then it may have been that. */
export function wantsAll(selection: string): boolean {
  return selectionOf({ selection })?.all !== false;
}

/** The build of a build config, out of what the version services answered; without one, the only build that was asked for and has no row. */
function answeredBuild(ledger: Ledger, { region }: BuildRow, config: string | undefined): BuildIdentity | undefined {
  const known = new Set(ledger.builds().map(({ buildConfig }) => buildConfig));
  const found = new Map<string, BuildIdentity>();
  for (const product of ledger.askedProducts()) {
    const [cdns] = ledger.answers(product, 'cdns');
    for (const { body } of cdns === undefined ? [] : ledger.answers(product, 'versions')) {
      const table = decodeBpsv(body);
      const rows = table.rows.filter((row) => {
        const own = cell(row, 'BuildConfig')?.toLowerCase() ?? '';
        return config === undefined ? !known.has(own) : own === config;
      });
      const row = rowOfRegion({ ...table, rows }, ['Region'], region)?.row;
      const identity =
        row &&
        resultUnless(isPakratError, () =>
          identityOfRow({ product, region }, row, decodeBpsv(cdns?.body ?? new Uint8Array()), () => {}),
        );
      if (identity !== undefined) found.set(`${product} ${identity.buildConfig}`, identity);
    }
  }
  const [only, another] = found.values();
  return config === undefined && another !== undefined ? undefined : only;
}
