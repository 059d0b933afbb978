import * as fs from 'node:fs';
import { clearWay } from '../store/clear-way.ts';
import { removeDerived } from '../store/derived/derived-file.ts';
import type { Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { KnownObject } from './known-objects.ts';
import type { DamagedEntry } from './store-checks.ts';

/**
 * A damaged part of a store: a whole object, an entry of an archive, a derived file, which is made again by itself, or what the ledger claims and
 * nothing proves: spans of an object that no entry lies in, or a row without a file of its own, whose path may be anything.
 */
export type Damage =
  | { kind: 'object'; object: KnownObject }
  | { kind: 'entry'; object: KnownObject; entry: DamagedEntry }
  | { kind: 'derived'; file: string }
  | { kind: 'spans'; path: string; spans: readonly Span[] }
  | { kind: 'row'; path: string };

/** Damage that only a host can mend. */
export type FetchedDamage = Extract<Damage, { object: KnownObject }>;

/** True for damage that only a host can mend. */
export function needsFetch(damage: Damage): damage is FetchedDamage {
  return damage.kind === 'entry' || damage.kind === 'object';
}

/** Moves what is damaged out of its place, says in the ledger that damaged bytes are not held, then removes files that are of no use any more. */
export function forgetDamage({ ledger, files, file, layout }: Store, damages: readonly Damage[]): void {
  const paths = new Set(damages.flatMap(movedPath));
  for (const path of paths) clearWay(layout, path);
  files.withdraw(paths, () => {
    for (const damage of damages) {
      if (damage.kind === 'entry') ledger.removeSpan(damage.object.path, damage.entry.start, damage.entry.end);
      else if (damage.kind === 'object') ledger.loseObject(damage.object.path, damage.object.size);
      else if (damage.kind === 'row') ledger.removeObject(damage.path);
      else if (damage.kind === 'spans')
        for (const { start, end } of damage.spans) ledger.removeSpan(damage.path, start, end);
    }
  });
  for (const damage of damages) {
    if (damage.kind === 'object') fs.rmSync(file(damage.object.path), { force: true });
    else if (damage.kind === 'derived') removeDerived(damage.file);
  }
}

/** The object that is moved out of its place, where there is one. */
function movedPath(damage: Damage): string[] {
  if (needsFetch(damage)) return [damage.object.path];
  return damage.kind === 'spans' ? [damage.path] : [];
}
