import type { HistoryReport, SeenBuild } from '../../app/history.ts';
import { isHeldWhole } from '../../app/status.ts';
import { plural } from '../../core/quantities.ts';
import { type Column, renderTable } from '../terminal/table.ts';

const columns: readonly Column[] = [
  { title: 'build' },
  { title: 'first seen' },
  { title: 'last seen' },
  { title: 'regions' },
  { title: 'config' },
  { title: 'store' },
];

/** Digits of a build config that name it. */
const shownDigits = 8;

/** The builds in words, a line each. */
export function renderHistory({ product, builds }: HistoryReport, width: number): string {
  const rows = builds.map((build) => [
    build.name,
    timeText(build.firstSeen),
    timeText(build.lastSeen),
    build.regions.join(' '),
    build.buildConfig.slice(0, shownDigits),
    stateOf(build),
  ]);
  return `${product}: ${plural(builds.length, 'build was', 'builds were')} seen\n\n${renderTable([...columns], rows, width)}`;
}

function timeText(time: string | null): string {
  return time?.slice(0, 16).replace('T', ' ') ?? '';
}

function stateOf({ wanted, held, pinned }: SeenBuild): string {
  const pin = pinned ? ['pinned'] : [];
  if (wanted === null || held === null) return pin.join();
  return [isHeldWhole({ wanted, held }) ? 'held' : 'unfinished', ...pin].join(', ');
}
