import type { VerifyProblem } from '../../verify/verify-result.ts';

/** An amount of what was looked at. Objects are whole files of the CDN; entries are those of archives. */
export interface ImportAmount {
  objects: number;
  entries: number;
  bytes: number;
}

/** What an import did, or with `dryRun` would do. */
export interface ImportReport {
  /** The folder, as it was named. */
  folder: string;
  dryRun: boolean;
  /** Builds that lie there, and are known to the store now. */
  builds: { product: string; name: string; buildConfig: string }[];
  /** Now in the store, and before not. */
  taken: ImportAmount;
  /** Those of the taken that share their file with the folder. */
  linked: { objects: number; bytes: number };
  /** In the store already. */
  held: ImportAmount;
  /** Entries that are not in the folder, although the archive is: holes, and what is behind the end of a file that was cut. */
  lacking: { entries: number; bytes: number };
  /** Not what its name or index says; nothing of it was taken but the chunks in front of the damage. */
  damaged: VerifyProblem[];
  /** Objects that nothing here proves, and what else may surprise. */
  unknown: { name: string; message: string }[];
  /** Archives in the folder that no build lists which the store knows: `gc` gives them back. */
  unlisted: number;
  /** Files that have no name of an object. */
  others: number;
}

/** A report of nothing. */
export function emptyReport(folder: string, dryRun: boolean): ImportReport {
  const amount = (): ImportAmount => ({ objects: 0, entries: 0, bytes: 0 });
  return {
    folder,
    dryRun,
    builds: [],
    taken: amount(),
    linked: { objects: 0, bytes: 0 },
    held: amount(),
    lacking: { entries: 0, bytes: 0 },
    damaged: [],
    unknown: [],
    unlisted: 0,
    others: 0,
  };
}

/** Counts an object that shares its file with the folder. */
export function addLinked({ linked }: ImportReport, bytes: number): void {
  linked.objects += 1;
  linked.bytes += bytes;
}

/** Adds to an amount. */
export function addAmount(sum: ImportAmount, { objects = 0, entries = 0, bytes = 0 }: Partial<ImportAmount>): void {
  sum.objects += objects;
  sum.entries += entries;
  sum.bytes += bytes;
}
