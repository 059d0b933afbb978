import { isDamage, resultUnless } from '../../core/errors.ts';
import { type Bpsv, type BpsvRow, cell, decodeBpsv } from '../../formats/services/bpsv.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import { versionNameOf } from './table-identity.ts';

/** A build that version services named while they were asked with a store. */
export interface SeenVersion {
  /** Version name; the build config where none was told. */
  name: string;
  buildId: string | null;
  buildConfig: string;
  cdnConfig: string | null;
  /** Regions in which it was live, in the order in which that was first seen. */
  regions: string[];
  /** Milliseconds since 1970 of the first and the last answer that named it. */
  firstTime: number;
  lastTime: number;
  /** The highest sequence number of the answers that named it; undefined where none has a number. */
  seqn: number | undefined;
  /** The last table that named it, with the rows about it alone. */
  table: Bpsv;
}

interface SeenAnswer {
  firstTime: number;
  lastTime: number;
  table: Bpsv;
}

/**
 * The builds of a product that version services ever named, by their build configs, the oldest first. Age is that of the services: the
 * sequence number of the first answer that named a build, and where answers have none, when that was first given.
 * @param region of builds that one answer named first, those of this region are the newest
 */
export function seenVersions(ledger: Ledger, product: string, region = ''): Map<string, SeenVersion> {
  const seen = new Map<string, SeenVersion>();
  // An answer that is damaged tells nothing.
  const answers = ledger.answerHistory(product, 'versions').flatMap(({ body, ...times }): SeenAnswer[] => {
    const table = resultUnless(isDamage, () => decodeBpsv(body));
    return table === undefined ? [] : [{ ...times, table }];
  });
  const isOwn = (row: BpsvRow): number => (cell(row, 'Region') === region ? 1 : 0);
  for (const answer of byAge(answers)) {
    const rows = [...answer.table.rows].sort((a, b) => isOwn(a) - isOwn(b));
    for (const row of rows) addSeen(seen, answer, row);
  }
  return seen;
}

/** Answers in the order of their sequence numbers; those without one keep their places, by time. */
function byAge(answers: readonly SeenAnswer[]): SeenAnswer[] {
  const numbered = answers.filter(({ table }) => table.seqn !== undefined);
  numbered.sort((a, b) => (a.table.seqn ?? 0) - (b.table.seqn ?? 0));
  let next = 0;
  return answers.map((answer) => (answer.table.seqn === undefined ? answer : (numbered[next++] ?? answer)));
}

function addSeen(seen: Map<string, SeenVersion>, { firstTime, lastTime, table }: SeenAnswer, row: BpsvRow): void {
  const buildConfig = buildConfigOf(row);
  if (buildConfig === undefined) return;
  const names = {
    name: versionNameOf(row) ?? buildConfig,
    buildId: cell(row, 'BuildId') ?? null,
    cdnConfig: cell(row, 'CDNConfig')?.toLowerCase() ?? null,
  };
  const rows = table.rows.filter((other) => buildConfigOf(other) === buildConfig);
  const only = { ...table, rows };
  const { seqn } = table;
  const known = seen.get(buildConfig) ?? { ...names, buildConfig, regions: [], firstTime, lastTime, seqn, table: only };
  const region = cell(row, 'Region');
  if (region !== undefined && !known.regions.includes(region)) known.regions.push(region);
  known.firstTime = Math.min(known.firstTime, firstTime);
  known.seqn = seqn ?? known.seqn;
  if (lastTime < known.lastTime) {
    seen.set(buildConfig, known);
    return;
  }
  // The CDN config of a build grows while it is live: the last one lists its archives.
  seen.set(buildConfig, { ...known, ...names, lastTime, table: only });
}

/** The build config that a row names, in small letters; undefined for none. */
export function buildConfigOf(row: BpsvRow): string | undefined {
  return cell(row, 'BuildConfig')?.toLowerCase() || undefined;
}
