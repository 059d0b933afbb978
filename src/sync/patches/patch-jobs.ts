import type { EntryPlace } from '../../builds/objects.ts';
import { HeldSpans } from '../../fetch/held-spans.ts';
import { entryJobs, type PlanOptions } from '../../fetch/plan/plan.ts';
import type { RangeJob } from '../../fetch/transfer/range-job.ts';
import type { Store } from '../../store/store.ts';

/** The jobs that bring those of some patches that are not held. Patches are no BLTE objects: nothing of one is held before all of it is. */
export function patchJobs(store: Store, patches: readonly EntryPlace[], options: PlanOptions): RangeJob[] {
  const held = new HeldSpans(store);
  const missing = patches.filter((patch) => !held.hasEntry(patch));
  return entryJobs(store, missing, options).map((job) => {
    const targets = job.targets.map((target) => ({ ...target, held: 0, raw: true }));
    return { ...job, start: targets[0]?.offset ?? job.start, targets };
  });
}
