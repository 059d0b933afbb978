import { keepPreloads } from '../builds/resolve/keep-preloads.ts';
import type { ResolvedBuild } from '../builds/resolve/resolve-build.ts';
import { pause } from '../core/breathe.ts';
import { isPakratError, PakratError, throwIfAborted } from '../core/errors.ts';
import type { GcReport } from '../keep/gc/collect-garbage.ts';
import { isComplete, type KeepRules } from '../keep/gc/going-builds.ts';
import { keepReserve } from '../store/reserve.ts';
import type { SyncReport } from '../sync/sync-report.ts';
import type { Session } from './session/session.ts';
import { type SyncOptions, syncFound } from './session/sync-found.ts';

/** The builds that are wanted, how often to look for them, and which may go. */
export interface WatchOptions extends Omit<SyncOptions, 'cdnConfig' | 'dryRun'> {
  /** Milliseconds from one look to the next. Default: ten minutes. */
  everyMs?: number | undefined;
  /** Look once, and end. */
  once?: boolean | undefined;
  /** The newest complete builds of each product that are kept; the others are forgotten. Default: all. */
  keep?: number | undefined;
}

/** Something that a watch did or met, as `watch --json` prints it. */
export type WatchEvent = { time: string } & (
  | { event: 'watching'; products: readonly string[] }
  /** A build is live that the store does not hold whole; it is fetched now. */
  | { event: 'found'; product: string; name: string; buildConfig: string }
  | ({ event: 'synced' } & SyncReport)
  | { event: 'forgot'; builds: GcReport['builds']; bytes: number; diskBytes: number }
  /** Trouble, told once until it changes or is over. `product` is null for that of giving space back. */
  | { event: 'trouble'; product: string | null; code: string; message: string }
  | { event: 'recovered'; product: string | null }
);

const defaultMs = 10 * 60_000;

type Untimed<Event> = Event extends unknown ? Omit<Event, 'time'> : never;
type Tell = (event: Untimed<WatchEvent>) => Promise<void>;

/**
 * Looks again and again which builds of some products are live, syncs what is new, and forgets what may go. Trouble of any kind ends none of it: the
 * next look tries again. Ends when the signal says so, or after one look with `once`.
 * @param onEvent told of each event, one after the other
 * @throws E_USAGE offline, E_ABORTED when the signal ended it, E_STORE… when there is no store to work on; with `once` the first trouble
 */
export async function watch(
  session: Session,
  products: readonly string[],
  options: WatchOptions,
  onEvent: (event: WatchEvent) => Promise<void> | void,
): Promise<void> {
  if (session.options.offline) {
    throw new PakratError('E_USAGE', 'watch asks and fetches, and --offline forbids that', {
      hint: 'Leave --offline away.',
    });
  }
  const { signal, once = false, everyMs = defaultMs } = options;
  keepReserve((await session.store({ create: true })).layout);
  const tell: Tell = async (event) => onEvent({ time: new Date().toISOString(), ...event } as WatchEvent);
  await tell({ event: 'watching', products });
  const troubles = new Map<string | null, string>();
  let first: PakratError | undefined;
  const attempt = async (product: string | null, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      if (troubles.delete(product)) await tell({ event: 'recovered', product });
    } catch (error) {
      throwIfAborted(signal);
      if (!isPakratError(error)) throw error;
      first ??= error;
      const { code, message } = error;
      if (troubles.get(product) !== code) await tell({ event: 'trouble', product, code, message });
      troubles.set(product, code);
    }
  };
  let tidied: string | undefined;
  const tidyOnce = async (): Promise<void> => {
    const { keeping } = (await session.store({ create: true })).ledger;
    if (keeping.signature() === tidied) return;
    await tidy(session, products, options, tell);
    tidied = keeping.signature();
  };
  for (;;) {
    for (const product of products) await attempt(product, () => look(session, product, options, tell));
    if (options.keep !== undefined) await attempt(null, () => tidyOnce());
    if (once && first !== undefined) throw first;
    if (once) return;
    await pause(everyMs, signal);
  }
}

/** Syncs the live build of a product, if it is not there. */
async function look(session: Session, product: string, options: WatchOptions, tell: Tell): Promise<void> {
  const { signal } = options;
  const build = await session.resolve(product, { fresh: true, signal });
  await keepPreloads(await session.resolveContext({ signal, create: true }), product);
  if (await isHeld(session, build, options)) return;
  const { name, buildConfig } = build;
  await tell({ event: 'found', product, name, buildConfig });
  await tell({ event: 'synced', ...(await syncFound(session, build, options, performance.now())) });
}

/** True for a build of which all that is wanted was brought, with the CDN config that is its own now. */
async function isHeld(session: Session, build: ResolvedBuild, options: WatchOptions): Promise<boolean> {
  const { tags = [], include = [], all = false } = options;
  const { ledger } = await session.store({ create: true });
  const row = ledger.builds(build.product).find(({ buildConfig }) => buildConfig === build.buildConfig);
  if (row === undefined || row.cdnConfig !== build.cdnConfig) return false;
  return isComplete(row) && row.selection === JSON.stringify({ tags, include, all });
}

async function tidy(session: Session, products: readonly string[], options: WatchOptions, tell: Tell): Promise<void> {
  const { collect } = await import('./session/collect.ts');
  const rules: KeepRules = { keep: options.keep, products };
  const { builds, bytes, diskBytes } = await collect(session, { ...options, rules });
  if (builds.length > 0 || bytes > 0) await tell({ event: 'forgot', builds, bytes, diskBytes });
}
