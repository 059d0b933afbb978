import { toHex } from '../../core/bytes.ts';
import { isDamage, isUnavailable, resultUnless } from '../../core/errors.ts';
import type { CdnConfig } from '../../formats/configs/cdn-config.ts';
import { objectPath } from '../../store/layout.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { mergeSpans, type Span } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { patchLists } from '../../sync/patches/patch-lists.ts';
import type { KnownObject } from '../known-objects.ts';
import type { KeptBytes } from './kept-bytes.ts';
import { readIndexOf } from './read-index.ts';

interface PatchPlace {
  store: Store;
  row: BuildRow;
  cdnConfig: CdnConfig;
  /** The patches of the CDN path, and archives of them. */
  candidates: readonly KnownObject[];
  /** The lists that were gone through: builds have most of theirs in common. */
  seen: Set<string>;
}

/** Keeps the patches that a build lists. Where a list of it cannot be read, all that it may have. @throws E_KEY_MISSING */
export function markPatches(
  kept: KeptBytes,
  { store, row: { cdnPath }, cdnConfig, candidates, seen }: PatchPlace,
): void {
  if (candidates.length === 0) return;
  const held = new Set(candidates.map(({ name }) => name.hash));
  const lists = patchLists({ cdnConfig });
  let keepsLoose = !lists.some(({ loose }) => loose);
  for (const { hash, loose } of lists) {
    if (seen.has(hash) || (!loose && !held.has(hash))) continue;
    seen.add(hash);
    const path = objectPath({ cdnPath, kind: 'patch', hash });
    const index = resultUnless(
      (error) => isDamage(error) || isUnavailable(error),
      () => readIndexOf(store, { cdnPath, kind: 'patch', hash }),
    );
    if (index === undefined && loose) keepsLoose = true;
    else if (index === undefined) kept.addWhole(path);
    const spans: Span[] = [];
    for (const { ekey, offset, size } of index ?? []) {
      if (loose) kept.addWhole(objectPath({ cdnPath, kind: 'patch', hash: toHex(ekey) }));
      else spans.push({ start: offset, end: offset + size });
    }
    kept.addSpans(path, mergeSpans(spans));
  }
  for (const { form, path } of keepsLoose ? candidates : []) if (form === 'patch') kept.addWhole(path);
}
