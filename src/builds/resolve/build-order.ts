import { resultUnless } from '../../core/errors.ts';
import { cell, decodeBpsv } from '../../formats/services/bpsv.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';

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
  const ages = answeredAges(ledger, product);
  const live = new Set(configsOf(ledger.answers(product, 'versions')[0]?.body).map(({ config }) => config));
  const builds = ledger.builds(product).map((row): AgedBuild => {
    const firstSeen = ledger.keeping.arrival(row) ?? 0;
    const age = ages.get(row.buildConfig) ?? { firstSeen, seqn: undefined, named: false };
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

/** Ages by build config. */
function answeredAges(ledger: Ledger, product: string): Map<string, BuildAge> {
  const ages = new Map<string, BuildAge>();
  for (const { firstTime, body } of ledger.answerHistory(product, 'versions')) {
    for (const { config, seqn } of configsOf(body)) {
      const age = ages.get(config) ?? { firstSeen: firstTime, seqn: undefined, named: true };
      if (seqn !== undefined) age.seqn = Math.max(age.seqn ?? 0, seqn);
      age.firstSeen = Math.min(age.firstSeen, firstTime);
      ages.set(config, age);
    }
  }
  return ages;
}

/** The build configs that an answer names. One that cannot be read names none. */
function configsOf(body: Uint8Array | undefined): { config: string; seqn: number | undefined }[] {
  const table = resultUnless(
    () => true,
    () => body && decodeBpsv(body),
  );
  return (table?.rows ?? []).flatMap((row) => {
    const config = cell(row, 'BuildConfig')?.toLowerCase();
    return config ? [{ config, seqn: table?.seqn ?? undefined }] : [];
  });
}
