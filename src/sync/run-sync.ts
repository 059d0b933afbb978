import type { Build } from '../builds/build.ts';
import type { OnProgress } from '../core/progress.ts';
import { plural } from '../core/quantities.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { Network } from '../fetch/network.ts';
import type { Plan } from '../fetch/plan/plan.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import { StepProgress } from '../fetch/step-progress.ts';
import type { PatchOptions } from './patches/patch-plan.ts';
import { syncBuild } from './sync-build.ts';
import { incomplete, interrupted } from './sync-errors.ts';
import { fetchedSoFar, reportPlan, type SyncReport } from './sync-report.ts';

const everyMs = 100;

/** Tells how far a sync is: its steps with the bytes that came for each, then bytes and entries of the data, and the hosts. Needs `end`. */
export class SyncProgress {
  /** True once there is data to fetch. */
  hasData = false;
  readonly #network: Network | undefined;
  readonly #onProgress: OnProgress;
  readonly #steps: StepProgress;
  #timer: NodeJS.Timeout | undefined;
  /** Entries that are held now, of those that are wanted. */
  readonly #files = { done: 0, total: 0 };
  #total = 0;
  /** Bytes that were held before. */
  #held = 0;
  /** Bytes that came before the data. */
  #before = 0;

  constructor(network: Network | undefined, onProgress: OnProgress) {
    this.#network = network;
    this.#onProgress = onProgress;
    this.#steps = new StepProgress(network, onProgress);
  }

  /** Begins a step. What comes between two of them is told as part of the first, until the data: a file that is made again meanwhile is a step of its own. */
  readonly onStep = (step: string | undefined): void => {
    if (step !== undefined || this.#timer !== undefined) this.#steps.onStep(step);
  };

  /** Takes the plan: its data comes next. */
  readonly onPlan = ({ rangeBytes, wanted, held }: Plan): void => {
    this.hasData = rangeBytes > 0;
    this.#held = held.bytes;
    this.#total = held.bytes + rangeBytes;
    this.#files.done = held.entries;
    this.#files.total = wanted.entries;
    this.#before = this.#network?.traffic.bytes ?? 0;
    this.#steps.onStep(this.hasData ? undefined : 'data');
    if (this.hasData) {
      this.#tell();
      this.#timer = setInterval(() => this.#tell(), everyMs);
    }
    this.#onProgress({ type: 'host', hosts: this.#network?.hosts.shown ?? [] });
  };

  /** Counts an entry that is held now. */
  readonly onEntry = (): void => {
    this.#files.done += 1;
  };

  /** Tells that files of objects were deleted, or cut. */
  readonly onLost = (paths: readonly string[]): void => {
    const what = plural(paths.length, 'file of the store is', 'files of the store are');
    const text = `${what} gone or cut, what lacks is fetched again: ${paths[0]}${paths.length > 1 ? ', …' : ''}`;
    this.#onProgress({ type: 'note', text });
  };

  /** Tells why patches did not do more, where they were asked for. */
  noteWhyNotPatched(reason: string | undefined): void {
    if (reason !== undefined) this.#onProgress({ type: 'note', text: `--patch: ${reason}` });
  }

  #tell(): void {
    const bytes = (this.#network?.traffic.bytes ?? 0) - this.#before;
    const done = Math.min(this.#held + bytes, this.#total);
    this.#onProgress({ type: 'bytes', phase: 'data', done, total: this.#total, files: { ...this.#files } });
  }

  /** Tells how far the data came, which may have been faster than the clock. */
  end(): void {
    this.#steps.end();
    clearInterval(this.#timer);
    if (this.hasData) this.#tell();
  }
}

/**
 * Syncs an open build, or plans it, and tells how far it is.
 * @param request.patches make entries out of older ones where that fetches less; undefined: fetch all
 * @throws E_INCOMPLETE when something is missing at the end, else as syncBuild
 */
export async function runSync(
  { fetcher, build }: { fetcher: Fetcher; build: Build },
  { selection, patches, dryRun }: { selection: Selection; patches: PatchOptions | undefined; dryRun: boolean },
  progress: SyncProgress,
): Promise<Omit<SyncReport, 'product' | 'build' | 'seconds'>> {
  if (dryRun) {
    const { patchReason, ...outcome } = await reportPlan(fetcher, build, selection, patches);
    progress.noteWhyNotPatched(patchReason);
    return outcome;
  }
  const { onPlan, onEntry, onLost } = progress;
  const result = await syncBuild(fetcher, build, selection, { patches, onPlan, onEntry, onLost }).catch(
    (error: unknown) => {
      throw progress.hasData ? interrupted(error, fetcher.store.ledger, build.identity) : error;
    },
  );
  const { wanted, held, missing, patched, failures, patchReason } = result;
  progress.noteWhyNotPatched(patchReason);
  if (missing.entries > 0 || failures.length > 0) throw incomplete({ wanted, held, missing }, failures);
  return { wanted, held, fetched: fetchedSoFar(fetcher), missing, ...(patched && { patched }) };
}
