import type { Build } from '../builds/build.ts';
import { giveBack, largeBytes } from '../core/tables/large-bytes.ts';
import { RecordTable } from '../core/tables/record-table.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { selectEntries } from '../fetch/plan/selection.ts';
import { wantedRow } from '../fetch/plan/wanted.ts';
import type { Amount } from '../store/ledger/rows.ts';
import { planSync } from './plan-sync.ts';

const keySize = 16;

/** The amounts that a sync of the second of two builds would bring. */
export interface FetchNeed {
  /** Encoded entries that the first build does not have. */
  fetch: Amount;
  /** Encoded entries that the store does not hold. */
  missing: Amount;
}

/**
 * Counts what a sync of a build takes where all of another build is there, and what it takes with the store as it is.
 * @param after the second build, with what would fetch it
 * @param globs as for `sync --include`; none for the whole build
 * @throws as selectEntries
 */
export async function fetchNeed(
  before: Build,
  { build, fetcher }: { build: Build; fetcher: Fetcher },
  globs: readonly string[],
): Promise<FetchNeed> {
  // Objects of another CDN path are other objects, even of equal content.
  const shares = before.identity.cdnPath === build.identity.cdnPath;
  const had = shares ? keysOf(await selectEntries(before, { tags: [], include: [], all: false })) : undefined;
  let fetch: Amount = { entries: 0, bytes: 0 };
  // Called once more where a look-up file turned out damaged on the way.
  const onWanted = (wanted: RecordTable): void => {
    fetch = lackingIn(had, wanted);
  };
  const { plan } = await planSync(fetcher, build, { tags: [], include: globs, all: false }, { onWanted });
  return { fetch, missing: plan.missing };
}

/** The ekeys of wanted entries alone; the entries are given back to the system. Of two builds of three millions there are 80 MB each. */
function keysOf({ bytes, stride, count }: RecordTable): RecordTable {
  const keys = largeBytes(count * keySize);
  for (let row = 0; row < count; row++)
    for (let i = 0; i < keySize; i++) keys[row * keySize + i] = bytes[row * stride + i]!;
  giveBack(bytes);
  return new RecordTable(keys, keySize);
}

/** The entries that a build wants and another does not have; all of them where there is no other. */
function lackingIn(had: RecordTable | undefined, wanted: RecordTable): Amount {
  const amount = { entries: 0, bytes: 0 };
  for (const row of wanted) {
    const { ekey, size } = wantedRow(row);
    if (had?.find(ekey) !== undefined) continue;
    amount.entries += 1;
    amount.bytes += size;
  }
  return amount;
}
