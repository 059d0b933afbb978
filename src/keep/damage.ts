import * as fs from 'node:fs';
import { clearWay } from '../store/clear-way.ts';
import type { Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { KnownObject } from './known-objects.ts';
import type { DamagedEntry } from './store-checks.ts';

/**
 * A damaged part of a store: a whole object, an entry of an archive, a derived file, which is made again by itself, or a claim of the ledger
 * that there is nothing to prove with: spans of an object that no entry lies in, or without spans a row that names no object.
 */
export type Damage =
  | { kind: 'object'; object: KnownObject }
  | { kind: 'entry'; object: KnownObject; entry: DamagedEntry }
  | { kind: 'derived'; file: string }
  | { kind: 'claim'; path: string; spans?: readonly Span[] };

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
      else if (damage.kind === 'claim') withdraw(ledger, damage);
    }
  });
  for (const damage of damages) {
    if (damage.kind === 'object') fs.rmSync(file(damage.object.path), { force: true });
    else if (damage.kind === 'derived') fs.rmSync(damage.file, { force: true });
  }
}

/** A row that names no object names no file either that may be moved: its path is whatever damage made of it. */
function movedPath(damage: Damage): string[] {
  if (needsFetch(damage)) return [damage.object.path];
  return damage.kind === 'claim' && damage.spans !== undefined && damage.spans.length > 0 ? [damage.path] : [];
}

function withdraw(ledger: Store['ledger'], { path, spans }: Extract<Damage, { kind: 'claim' }>): void {
  if (spans === undefined) ledger.removeObject(path);
  for (const { start, end } of spans ?? []) ledger.removeSpan(path, start, end);
}
