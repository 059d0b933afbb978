import { isDamage, resultUnless } from '../../core/errors.ts';
import { decodeBpsv } from '../../formats/services/bpsv.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { buildConfigOf, seenVersions } from './seen-builds.ts';

/** The age of a build, by what the version services said of it. */
export interface BuildAge {
  /** When an answer first named it, in milliseconds since 1970; for one that no answer named, when it was first asked for. */
  firstSeen: number;
  /** The highest sequence number of the answers that named it; undefined for one that no answer named, or none with a number. */
  seqn: number | undefined;
  /** True when an answer of a version service named it. */
  named: boolean;
}

/** A build of the ledger with its age. */
export interface AgedBuild {
  row: BuildRow;
  age: BuildAge;
  /** True for one that the last answer names: it is live in some region, however old it is. */
  live: boolean;
}

/**
 * The builds of a product that the ledger knows, the newest first: by sequence number where all have one, else by the time when they were first
 * seen, then by build id. When one was last read says nothing. One that no answer ever named is older than those that one did: it was asked for by
 * its key, after its time. Of such the build id tells the age, and when they were asked for only where that does not: they come in any order.
 */
export function buildsByAge(ledger: Ledger, product: string): AgedBuild[] {
  const seen = seenVersions(ledger, product);
  const [last] = ledger.answers(product, 'versions');
  const table = resultUnless(isDamage, () => last && decodeBpsv(last.body));
  const live = new Set(table?.rows.map(buildConfigOf));
  const builds = ledger.builds(product).map((row): AgedBuild => {
    const version = seen.get(row.buildConfig);
    const firstSeen = version?.firstTime ?? ledger.keeping.arrival(row) ?? 0;
    const age = { firstSeen, seqn: version?.seqn, named: version !== undefined };
    return { row, age, live: live.has(row.buildConfig) };
  });
  const bySeqn = builds.every(({ age }) => !age.named || age.seqn !== undefined);
  return builds.sort(
    (a, b) =>
      Number(b.age.named) - Number(a.age.named) ||
      (bySeqn ? (b.age.seqn ?? 0) - (a.age.seqn ?? 0) : 0) ||
      (a.age.named ? b.age.firstSeen - a.age.firstSeen : 0) ||
      Number(b.row.buildId ?? 0) - Number(a.row.buildId ?? 0) ||
      b.age.firstSeen - a.age.firstSeen ||
      (a.row.buildConfig < b.row.buildConfig ? -1 : 1),
  );
}
