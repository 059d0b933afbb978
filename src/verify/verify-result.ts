/** Something that is not as it should be. */
export interface VerifyProblem {
  /** Name of a file, or path of an object; empty for the directory of a PAK. */
  name: string;
  code: string;
  message: string;
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
