import { isOurTrouble } from '../core/errors.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import type { BuildRow, Ledger } from '../store/ledger/ledger.ts';
import { planSync } from '../sync/sync-build.ts';
import { Session, type SessionHooks } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';
import type { Damage } from './repair-store.ts';

/**
 * Counts again what is held of the builds that damaged objects may belong to, so that nobody is told that they are complete.
 * Nothing is fetched.
 */
export async function recountBuilds(
  options: GlobalOptions,
  damages: readonly Damage[],
  hooks: SessionHooks,
): Promise<void> {
  const paths = new Set(damages.flatMap((damage) => (damage.kind === 'derived' ? [] : [damage.object.name.cdnPath])));
  const session = new Session({ ...options, offline: true }, { create: false, threads: 0 }, hooks);
  try {
    for (const row of session.store.ledger.builds()) {
      if (row.selection !== null && paths.has(row.cdnPath)) await recount(session, row, damages);
    }
  } finally {
    await session.close();
  }
}

async function recount(session: Session, row: BuildRow, damages: readonly Damage[]): Promise<void> {
  const { store } = session;
  const selection = row.selection!;
  try {
    const build = await session.openBuild(row);
    try {
      const tools = { store, build, planOptions: session.fetchTools().planOptions };
      const { wanted, held } = (await planSync(tools, JSON.parse(selection) as Selection)).plan;
      store.ledger.setProgress(row.product, row.buildConfig, { selection, wanted, held });
    } finally {
      build.close();
    }
  } catch (error) {
    if (isOurTrouble(error)) throw error;
    countOff(store.ledger, row, damages);
  }
}

/** For a build that cannot be opened, which may be because of what is damaged: too little is better than too much. */
function countOff(ledger: Ledger, row: BuildRow, damages: readonly Damage[]): void {
  const sizes = damages.flatMap((damage) =>
    damage.kind === 'derived' || damage.object.name.cdnPath !== row.cdnPath
      ? []
      : [damage.kind === 'entry' ? damage.entry.size : damage.object.size],
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const held = {
    entries: Math.max(0, Math.min(row.held.entries, row.wanted.entries) - sizes.length),
    bytes: Math.max(0, Math.min(row.held.bytes, row.wanted.bytes) - bytes),
  };
  ledger.setProgress(row.product, row.buildConfig, { selection: row.selection!, wanted: row.wanted, held });
}
