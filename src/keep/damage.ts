import * as fs from 'node:fs';
import type { Store } from '../store/store.ts';
import type { KnownObject } from './known-objects.ts';
import type { DamagedEntry } from './store-checks.ts';

/** A damaged part of a store: a whole object, an entry of an archive, or a derived file, which is made again by itself. */
export type Damage =
  | { kind: 'object'; object: KnownObject }
  | { kind: 'entry'; object: KnownObject; entry: DamagedEntry }
  | { kind: 'derived'; file: string };

/** Damage that only a host can mend. */
export type FetchedDamage = Exclude<Damage, { kind: 'derived' }>;

/** True for damage that only a host can mend. */
export function needsFetch(damage: Damage): damage is FetchedDamage {
  return damage.kind !== 'derived';
}

/** Moves what is damaged out of its place, says in the ledger that damaged bytes are not held, then removes files that are of no use any more. */
export function forgetDamage({ ledger, files, file }: Store, damages: readonly Damage[]): void {
  const paths = damages.filter(needsFetch).map(({ object }) => object.path);
  files.withdraw(paths, () => {
    for (const damage of damages) {
      if (damage.kind === 'entry') ledger.removeSpan(damage.object.path, damage.entry.start, damage.entry.end);
      else if (damage.kind === 'object') ledger.removeObject(damage.object.path);
    }
  });
  for (const damage of damages) {
    if (damage.kind === 'object') fs.rmSync(file(damage.object.path), { force: true });
    else if (damage.kind === 'derived') fs.rmSync(damage.file, { force: true });
  }
}
