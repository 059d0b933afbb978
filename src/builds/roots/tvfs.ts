import { toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import type { ManifestKeys } from '../../formats/build-config.ts';
import { decodeTvfs, type TvfsSpan } from '../../formats/roots/tvfs.ts';
import type { StoreLayout } from '../../store/layout.ts';
import { type NameRow, openNameTable } from './name-table.ts';
import type { Root } from './root.ts';

/** Manifests nest two deep in real builds. */
const maxDepth = 8;

/** What a TVFS is opened with. */
export interface TvfsPlace {
  layout: StoreLayout;
  root: ManifestKeys;
  /** The nested manifests that the build config names: vfs-1, vfs-2 … */
  nested: readonly ManifestKeys[];
  /** The decoded bytes of a manifest. */
  load: (manifest: ManifestKeys) => Promise<Uint8Array>;
}

/** Opens the TVFS of a build; nested manifests are joined to it. Needs `close`. */
export async function openTvfs(place: TvfsPlace): Promise<Root> {
  return openNameTable({ layout: place.layout, kind: 'tvfs', ckey: place.root.ckey, rows: () => walk(place) });
}

/** Every file of the tree; a file that is a nested manifest gives way to the files in it, joined with `/`. */
async function* walk(place: TvfsPlace): AsyncGenerator<NameRow> {
  const nested = new Map(
    place.nested.flatMap((manifest) => (manifest.ekey === undefined ? [] : [[manifest.ekey.slice(0, 18), manifest]])),
  );
  async function* files(manifest: ManifestKeys, prefix: string, depth: number): AsyncGenerator<NameRow> {
    if (depth > maxDepth) throw formatError('E_FORMAT_RANGE', 'TVFS', `manifests nest deeper than ${maxDepth}`);
    for (const { path, spans } of decodeTvfs(await place.load(manifest)).files()) {
      const only = spans.length === 1 ? spans[0] : undefined;
      const inner = only === undefined ? undefined : nested.get(toHex(only.ekey.subarray(0, 9)));
      if (inner === undefined) yield rowOf(prefix + path, spans);
      else yield* files(inner, `${prefix}${path}/`, depth + 1);
    }
  }
  yield* files(place.root, '', 0);
}

function rowOf(name: string, spans: readonly TvfsSpan[]): NameRow {
  const parts = spans.map(({ ekey, ckey, size }) => ({ ekey: toHex(ekey), ckey: ckey && toHex(ckey), size }));
  return { name, parts };
}
