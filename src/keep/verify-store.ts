import { breathe } from '../core/breathe.ts';
import { isOurTrouble } from '../core/errors.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import { spanBytes } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { planSync } from '../sync/plan-sync.ts';
import type { VerifyResult } from '../verify/verify-result.ts';
import type { BuildOpener } from './build-opener.ts';
import { checkArchivesAgain, checkStore, type Finding, type StoreCheck } from './check-store.ts';
import { type Damage, type FetchedDamage, forgetDamage, needsFetch } from './damage.ts';
import { belongsTo, type KnownObject, knownObjects } from './known-objects.ts';
import { repairDamage } from './repair-store.ts';

interface VerifyStoreOptions {
  /** Only what has a part in this build. */
  build?: BuildRow | undefined;
  /** Fetch again what is damaged. */
  repair: boolean;
  /** Opens builds, with or without a network. */
  open: BuildOpener;
  signal?: AbortSignal | undefined;
  /** Called with the bytes that were checked, of how many. */
  onProgress?: ((phase: 'verify' | 'repair', done: number, total: number) => void) | undefined;
  /** Called with remarks for a person. */
  onNote?: ((text: string) => void) | undefined;
}

/**
 * Hashes again what a store holds, all of it or that of one build. Damaged bytes are no longer counted as held, and with `repair` they
 * are fetched again. A store that cannot be written is only checked. The caller holds the writer lock of one that can.
 * @throws E_ABORTED, E_STORE…
 */
export async function verifyStore(store: Store, options: VerifyStoreOptions): Promise<VerifyResult> {
  const { build, repair, open, signal, onProgress, onNote } = options;
  const objects = knownObjects(store).filter(build === undefined ? () => true : belongsTo(store, build));
  const check: StoreCheck = { store, objects, derived: build === undefined, signal };
  const run = new VerifyRun(store, options, heldBytes(store, objects));
  const unread = objects.filter(
    ({ form, path }) => form === 'archive' && store.ledger.completeSize(`${path}.index`) === undefined,
  );
  await run.take(checkStore(check));
  const { result, damages } = run;
  if (repair && damages.length > 0) {
    onProgress?.('repair', 0, 0);
    result.repaired = await repairDamage(
      { store, open },
      damages,
      build === undefined ? store.ledger.builds() : [build],
    );
    // An archive whose index had to be fetched first could not be checked before.
    const again = [...unread, ...damagedIndexArchives(objects, damages)];
    await run.take(checkArchivesAgain({ ...check, objects: again }));
  }
  if (store.writable && damages.length > 0) await recountBuilds(store.ledger, open, damages);
  if (store.writable && damages.length > result.repaired && damages.some(needsFetch)) {
    onNote?.('what is damaged is not held any more; sync again to fetch it');
  }
  return result;
}

/** Archives whose index was found damaged. */
function damagedIndexArchives(objects: readonly KnownObject[], damages: readonly Damage[]): KnownObject[] {
  const indices = new Set(
    damages.flatMap((damage) =>
      damage.kind === 'object' && damage.object.name.suffix === '.index' ? [damage.object.path] : [],
    ),
  );
  return objects.filter(({ path }) => indices.has(`${path}.index`));
}

function heldBytes(store: Store, objects: readonly KnownObject[]): number {
  const bytesOf = ({ path, complete, size }: KnownObject): number =>
    complete ? size : spanBytes(store.ledger.spans(path));
  return objects.reduce((sum, object) => sum + bytesOf(object), 0);
}

/** Damaged entries that are forgotten in one transaction. */
const forgetAtOnce = 256;

/** One run over a store: adds up what is found, and takes back at once what turns out to be damaged. */
class VerifyRun {
  readonly result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  readonly damages: Damage[] = [];
  readonly #waiting: Damage[] = [];
  readonly #store: Store;
  readonly #options: VerifyStoreOptions;
  readonly #total: number;

  constructor(store: Store, options: VerifyStoreOptions, total: number) {
    this.#store = store;
    this.#options = options;
    this.#total = total;
  }

  async take(findings: AsyncIterable<Finding>): Promise<void> {
    const { checked, bad } = this.result;
    const { signal, onProgress } = this.#options;
    try {
      for await (const { bytes, problem, damage } of findings) {
        if (bytes !== undefined) {
          checked.entries += 1;
          checked.bytes += bytes;
        }
        if (problem !== undefined) bad.push(problem);
        if (damage !== undefined) this.#forget(damage, problem !== undefined);
        onProgress?.('verify', checked.bytes, this.#total);
        await breathe(signal);
      }
    } finally {
      this.#forgetWaiting();
    }
  }

  /** Entries are forgotten many at a time; an object at once, for what follows may ask for it. */
  #forget(damage: Damage, isTold: boolean): void {
    // A row of the ledger that never had a file is no damage that anybody must hear of.
    if (isTold) this.damages.push(damage);
    this.#waiting.push(damage);
    if (damage.kind !== 'entry' || this.#waiting.length >= forgetAtOnce) this.#forgetWaiting();
  }

  #forgetWaiting(): void {
    const waiting = this.#waiting.splice(0);
    if (this.#store.writable && waiting.length > 0) forgetDamage(this.#store, waiting);
  }
}

/**
 * Counts again what is held of the builds that damaged objects may belong to, so that nobody is told that they are complete.
 * Nothing is fetched.
 */
async function recountBuilds(ledger: Ledger, open: BuildOpener, damages: readonly Damage[]): Promise<void> {
  const fetched = damages.filter(needsFetch);
  const paths = new Set(fetched.map(({ object }) => object.name.cdnPath));
  for (const row of ledger.builds()) {
    if (row.selection !== null && paths.has(row.cdnPath)) await recount(open, row, row.selection, { ledger, fetched });
  }
}

async function recount(
  open: BuildOpener,
  row: BuildRow,
  selection: string,
  { ledger, fetched }: { ledger: Ledger; fetched: readonly FetchedDamage[] },
): Promise<void> {
  try {
    const { build, fetcher, close } = await open(row, { offline: true });
    try {
      const { wanted, held } = (await planSync(fetcher, build, JSON.parse(selection) as Selection)).plan;
      ledger.setProgress(row.product, row.buildConfig, { selection, wanted, held });
    } finally {
      await close();
    }
  } catch (error) {
    if (isOurTrouble(error)) throw error;
    const { wanted } = row;
    ledger.setProgress(row.product, row.buildConfig, { selection, wanted, held: lessDamage(row, fetched) });
  }
}

/** For a build that cannot be opened, which may be because of what is damaged: too little is better than too much. */
function lessDamage({ cdnPath, wanted, held }: BuildRow, damages: readonly FetchedDamage[]): BuildRow['held'] {
  const own = damages.filter(({ object }) => object.name.cdnPath === cdnPath);
  const bytes = own.reduce((sum, damage) => sum + (damage.kind === 'entry' ? damage.entry : damage.object).size, 0);
  return {
    entries: Math.max(0, Math.min(held.entries, wanted.entries) - own.length),
    bytes: Math.max(0, Math.min(held.bytes, wanted.bytes) - bytes),
  };
}
