import type { CdnList } from '../../builds/cdn-lists.ts';
import { toHex } from '../../core/bytes.ts';
import { resultUnless } from '../../core/errors.ts';
import type { ArchiveIndex } from '../../formats/indices/archive-index.ts';
import { objectPath } from '../../store/layout.ts';
import { mergeSpans, type Span } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { isNoList } from '../../sync/patches/patch-lists.ts';
import type { KnownObject } from '../known-objects.ts';
import type { KeptBytes } from './kept-bytes.ts';
import { readIndexOf } from './read-index.ts';

interface PatchPlace {
  store: Store;
  cdnPath: string;
  list: CdnList;
  /** The patches of the CDN path, and archives of them. */
  candidates: readonly KnownObject[];
  /** The indices that were gone through: builds have most of theirs in common. */
  seen: Set<string>;
}

/** Keeps the patches that a build lists. Where an index of them cannot be read, all that it may have. @throws E_KEY_MISSING */
export function markPatches(kept: KeptBytes, { store, cdnPath, list, candidates, seen }: PatchPlace): void {
  if (candidates.length === 0) return;
  const read = (hash: string): ArchiveIndex | undefined =>
    resultUnless(isNoList, () => readIndexOf(store, { cdnPath, kind: 'patch', hash }));
  const pathOf = (hash: string): string => objectPath({ cdnPath, kind: 'patch', hash });
  const isNew = (hash: string): boolean => !seen.has(hash) && seen.add(hash).has(hash);
  const listed = new Set(list.patchArchives.filter(isNew));
  for (const { name } of candidates) {
    if (!listed.has(name.hash)) continue;
    const index = read(name.hash);
    if (index === undefined) kept.addWhole(pathOf(name.hash));
    const spans = Array.from(index ?? [], ({ offset, size }): Span => ({ start: offset, end: offset + size }));
    kept.addSpans(pathOf(name.hash), mergeSpans(spans));
  }
  const loose = list.patchFileIndex === undefined ? undefined : read(list.patchFileIndex);
  for (const { ekey } of loose ?? []) kept.addWhole(pathOf(toHex(ekey)));
  for (const { form, path } of loose === undefined ? candidates : []) if (form === 'patch') kept.addWhole(path);
}
