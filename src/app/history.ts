import { seenVersions } from '../builds/resolve/seen-builds.ts';
import { PakratError } from '../core/errors.ts';
import type { Amount } from '../store/ledger/rows.ts';
import type { Session } from './session/session.ts';

/** A build that was ever live, or that the store knows otherwise, as `history --json` prints it. */
export interface SeenBuild {
  /** Version name; the build config where none was told. */
  name: string;
  buildId: string | null;
  buildConfig: string;
  cdnConfig: string | null;
  /** Regions in which it was live, in the order in which that was first seen. */
  regions: string[];
  /** ISO times of the first and the last answer that named it; null for a build that no answer named. */
  firstSeen: string | null;
  lastSeen: string | null;
  /** What the last sync of it wanted, and what of that is held; null where it was not synced. */
  wanted: Amount | null;
  held: Amount | null;
  /** True for a build that is kept, whatever the rules say. */
  pinned: boolean;
}

/** The builds of a product that were ever seen. */
export interface HistoryReport {
  product: string;
  /** Those that were seen last come first. */
  builds: SeenBuild[];
}

/**
 * Lists every build of a product that the version services named whenever they were asked with this store, and those that the store knows
 * otherwise. Nobody is asked.
 * @throws E_NOT_FOUND when there is no store, or nothing of the product in it
 */
export async function readHistory(session: Session, product: string): Promise<HistoryReport> {
  const { ledger } = await session.store({ create: false });
  const builds = new Map<string, SeenBuild>();
  for (const { firstTime, lastTime, seqn: _, table: __, ...names } of seenVersions(ledger, product).values()) {
    const [firstSeen, lastSeen] = [new Date(firstTime).toISOString(), new Date(lastTime).toISOString()];
    builds.set(names.buildConfig, { ...names, firstSeen, lastSeen, wanted: null, held: null, pinned: false });
  }
  for (const { name, buildId, buildConfig, cdnConfig, selection, wanted, held } of ledger.builds(product)) {
    const seen = builds.get(buildConfig) ?? unseen({ name, buildId, buildConfig, cdnConfig });
    builds.set(buildConfig, selection === null ? seen : { ...seen, wanted, held });
  }
  for (const [buildConfig, build] of builds) build.pinned = ledger.keeping.isPinned({ product, buildConfig });
  if (builds.size === 0) {
    throw new PakratError('E_NOT_FOUND', `nothing is known of ${product}`, {
      hint: `\`pakrat versions ${product}\` asks, and the answer is kept.`,
      data: { product },
    });
  }
  const newest = (build: SeenBuild): string => `${build.lastSeen ?? ''} ${build.firstSeen ?? ''}`;
  const sorted = [...builds.values()].sort((a, b) => (newest(a) < newest(b) ? 1 : newest(a) > newest(b) ? -1 : 0));
  return { product, builds: sorted };
}

function unseen(names: Pick<SeenBuild, 'name' | 'buildId' | 'buildConfig' | 'cdnConfig'>): SeenBuild {
  return { ...names, regions: [], firstSeen: null, lastSeen: null, wanted: null, held: null, pinned: false };
}
