import * as fs from 'node:fs';
import { addAll } from '../core/tables/add-all.ts';
import { clearLost, clearWay } from '../store/clear-way.ts';
import { removeDerived } from '../store/derived/derived-file.ts';
import type { Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { KnownObject } from './known-objects.ts';
import type { DamagedEntry } from './store-checks.ts';

/**
 * A damaged part of a store: a whole object, entries of an archive, a derived file, which is made again by itself, or what the ledger claims and
 * nothing proves: spans of an object that no entry lies in, or a row without a file of its own, whose path may be anything.
 */
export type Damage =
  | FetchedDamage
  | { kind: 'derived'; file: string }
  | { kind: 'spans'; path: string; spans: readonly Span[] }
  | { kind: 'row'; path: string };

/** Damage that only a host can mend. */
export type FetchedDamage = DamagedObject | DamagedEntries;

/** A damaged object, as a whole. */
interface DamagedObject {
  kind: 'object';
  object: KnownObject;
  /** The disk does not give it. Another time it may, and then its bytes may be right: they stay until others come. */
  isUnread?: boolean;
}

/** Damaged entries of one archive. There may be millions, and its index lists them: in memory is where they lie. */
export interface DamagedEntries {
  kind: 'entries';
  object: KnownObject;
  /** The stretches that are wrong, in the order of their entries; entries that lie one behind the other share one. */
  spans: Span[];
  count: number;
  /** Sizes of the entries together. */
  bytes: number;
}

/** True for damage that only a host can mend. */
export function needsFetch(damage: Damage): damage is FetchedDamage {
  return damage.kind === 'entries' || damage.kind === 'object';
}

/** The number of damaged things. */
export function countDamage(damages: readonly Damage[]): number {
  return damages.reduce((sum, damage) => sum + (damage.kind === 'entries' ? damage.count : 1), 0);
}

/** Adds entries of the same archive, which lie behind those that were added before. */
export function addEntries(damage: DamagedEntries, entries: readonly DamagedEntry[]): void {
  for (const { start, end, size } of entries) {
    damage.count += 1;
    damage.bytes += size;
    const last = damage.spans.at(-1);
    if (last !== undefined && start === last.end) last.end = end;
    else damage.spans.push({ start, end });
  }
}

/** Adds others of the same archive, which lie behind them. */
export function joinEntries(damage: DamagedEntries, { spans, count, bytes }: DamagedEntries): void {
  damage.count += count;
  damage.bytes += bytes;
  addAll(damage.spans, spans);
}

/** Moves what is damaged out of its place, says in the ledger that damaged bytes are not held, then removes files that are of no use any more. */
export function forgetDamage({ ledger, files, file, layout }: Store, damages: readonly Damage[]): void {
  const paths = new Set(damages.flatMap(movedPath));
  for (const path of paths) clearWay(layout, path);
  files.withdraw(paths, () => {
    for (const damage of damages) {
      if (damage.kind === 'entries') ledger.removeSpans(damage.object.path, damage.spans);
      else if (damage.kind === 'object') ledger.loseObject(damage.object.path, damage.object.size);
      else if (damage.kind === 'row') ledger.removeObject(damage.path);
      else if (damage.kind === 'spans') ledger.removeSpans(damage.path, damage.spans);
    }
  });
  for (const damage of damages) {
    if (damage.kind === 'object' && damage.isUnread !== true) fs.rmSync(file(damage.object.path), { force: true });
    else if (damage.kind === 'derived') {
      clearLost(damage.file, layout.temporary);
      removeDerived(damage.file);
    }
  }
}

/** The object that is moved out of its place, where there is one. */
function movedPath(damage: Damage): string[] {
  if (needsFetch(damage)) return [damage.object.path];
  return damage.kind === 'spans' ? [damage.path] : [];
}
