import { BoundedRows, type CountedRow } from '../core/tables/bounded-rows.ts';

/** Something that is not as it should be; after the first ten thousand a row may stand for several. */
export interface VerifyProblem extends CountedRow {
  /** Name of a file, path of an object, or that and an ekey; empty for the directory of a PAK. */
  name: string;
  code: string;
  /** Number of the entry in its PAK. */
  index?: number;
}

/** Something that could not be checked, for what tells of it is not there. */
export interface UncheckedObject {
  /** Path of the object. */
  name: string;
  /** Bytes of it that are called held. */
  bytes: number;
  message: string;
}

/** The outcome of a check. */
export interface VerifyResult {
  checked: { entries: number; bytes: number };
  bad: VerifyProblem[];
  /** Bad ones that were brought anew. */
  repaired: number;
  /** Objects that could not be checked, or that the source lacks; left out when there are none. */
  unchecked?: UncheckedObject[];
  /** Files whose content may be wrong without anything that tells; left out when there are none. */
  unsure?: string[];
  /** Entries that were checked by their bounds alone, for there is no hash of them; left out when there are none. */
  unproven?: { entries: number; bytes: number };
}

/** Problems as they are found. Of very many those with entries of one archive share a row, and those of a kind with whole files. */
export function problemRows(list: VerifyProblem[]): BoundedRows<VerifyProblem> {
  return new BoundedRows(list, (problem) => {
    const archive = archiveOf(problem);
    return [`${problem.code} ${archive ?? ''}`, { ...problem, name: archive ?? problem.name }];
  });
}

/** The archive of which a problem names an entry. */
export function archiveOf({ name }: VerifyProblem): string | undefined {
  return /^(\S+) [0-9a-f]{32}$/.exec(name)?.[1];
}
