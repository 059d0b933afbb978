import type { EntryPlace } from '../../builds/objects.ts';
import { objectPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';
import { HeldSpans } from '../held-spans.ts';
import { entryFile } from '../loose-objects.ts';
import type { RangeJob, RangeTarget } from '../transfer/range-job.ts';
import { type PlanOptions, uncut } from './plan.ts';

/** The jobs that bring some entries: those that lie close in one archive come in one range. */
export function entryJobs(store: Store, places: readonly EntryPlace[], options: PlanOptions): RangeJob[] {
  const { gapBytes, maxRangeBytes } = options.whole === true ? uncut : options;
  const held = new HeldSpans(store);
  const jobs: RangeJob[] = [];
  let last: RangeJob | undefined;
  for (const place of uniqueInOrder(places)) {
    const path = objectPath(place.object);
    const target: RangeTarget = { ekey: place.ekey, offset: place.offset, size: place.size, held: held.startOf(place) };
    const start = place.offset + target.held;
    const end = place.offset + place.size;
    const isClose = last?.path === path && place.offset >= last.end && start - last.end <= gapBytes;
    if (last !== undefined && isClose && end - last.start <= maxRangeBytes) {
      last.targets.push(target);
      last.end = end;
    } else {
      last = { path, file: entryFile(store, place), start, end, targets: [target] };
      jobs.push(last);
    }
  }
  return jobs;
}

/** Places by object and offset, each entry once. */
function uniqueInOrder(places: readonly EntryPlace[]): EntryPlace[] {
  const sorted = [...places].sort((a, b) =>
    a.object.hash < b.object.hash ? -1 : a.object.hash > b.object.hash ? 1 : a.offset - b.offset,
  );
  return sorted.filter(({ ekey }, i) => sorted[i - 1]?.ekey !== ekey);
}
