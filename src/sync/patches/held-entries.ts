import { join } from 'node:path';
import type { Build } from '../../builds/build.ts';
import { groupMark } from '../../builds/indices/indices.ts';
import { PagedIndex } from '../../builds/indices/paged-index.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { toHex } from '../../core/bytes.ts';
import { codeOf, isPakratError, resultUnless } from '../../core/errors.ts';
import { HeldSpans } from '../../fetch/held-spans.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';

/** Finds entries that are held whole, wherever the builds of the store have them. Needs `close`. */
export interface HeldEntries {
  find(ekey: Uint8Array): EntryPlace | undefined;
  close(): void;
}

/** The archives of another build: a CDN config drops archives in time, and what an old build needs may lie in them only. */
interface OtherGroup {
  index: PagedIndex;
  archives: readonly string[];
}

/** Opens the look-up: the build's own archives and loose objects first, then the archives of other builds of the same CDN path. */
export function openHeldEntries(store: Store, build: Build): HeldEntries {
  const { cdnPath, cdnConfig } = build.identity;
  const spans = new HeldSpans(store);
  const others: OtherGroup[] = [];
  const configs = new Set(store.ledger.builds().flatMap((row) => (row.cdnPath === cdnPath ? row.cdnConfig : [])));
  configs.delete(cdnConfig);
  for (const hash of configs) {
    const group = openOtherGroup(store, { cdnPath, kind: 'config', hash });
    if (group !== undefined) others.push(group);
  }
  const data = (hash: string): ObjectName => ({ cdnPath, kind: 'data', hash });

  function* places(ekey: Uint8Array): Generator<EntryPlace> {
    const hex = toHex(ekey);
    const own = build.locate(hex);
    if (own !== undefined) yield own;
    const size = store.ledger.completeSize(objectPath(data(hex)));
    if (size !== undefined) yield { ekey: hex, object: data(hex), loose: true, offset: 0, size };
    for (const { index, archives } of others) {
      const entry = unlessDamaged(() => index.find(ekey));
      const archive = entry && archives[entry.archive];
      if (entry === undefined || archive === undefined) continue;
      const { offset, size } = entry;
      yield { ekey: hex, object: data(archive), loose: false, offset, size };
    }
  }
  return {
    find(ekey) {
      for (const place of places(ekey)) if (spans.hasEntry(place)) return place;
      return undefined;
    },
    close() {
      for (const { index } of others) index.close();
    },
  };
}

/** The group of a CDN config; undefined when one of both is not in the store, or damaged. */
function openOtherGroup(store: Store, config: ObjectName): OtherGroup | undefined {
  return unlessDamaged(() => {
    const bytes = store.readObject(config);
    if (bytes === undefined) return undefined;
    const cdnConfig = decodeCdnConfig(bytes);
    const file = join(store.layout.groups, `${config.hash}.index`);
    return { index: new PagedIndex(file, groupMark(cdnConfig)), archives: cdnConfig.archives };
  });
}

/** The value of `body`; undefined where a file that it reads is missing or damaged: another build is none of this sync's trouble. */
function unlessDamaged<Value>(body: () => Value): Value | undefined {
  return resultUnless((error) => codeOf(error) === 'ENOENT' || isPakratError(error), body);
}
