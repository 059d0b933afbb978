import { join } from 'node:path';
import { toHex } from '../../core/bytes.ts';
import { formatError, resultUnless } from '../../core/errors.ts';
import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import { decodeTvfs } from '../../formats/roots/tvfs/decode.ts';
import type { TvfsSpan } from '../../formats/roots/tvfs/layout.ts';
import { parseWowTvfsName } from '../../formats/roots/tvfs/wow-name.ts';
import { DerivedFile, isLacking, removeDerived } from '../../store/derived/derived-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { type ListfileIndex, namesWhenNeeded } from '../listfile/listfile-index.ts';
import { type BuildPlace, optional } from '../objects.ts';
import { type NameRow, type Note, openNameTable } from './name-table.ts';
import type { Root } from './root.ts';
import { diablo4Naming, type LoadPart } from './rows/diablo4.ts';
import { openVfsIds, openWowTvfs, WowTvfsRecords } from './wow/wow-tvfs.ts';

/** Manifests nest two deep in real builds. */
const maxDepth = 8;

/** The TVFS of a build, and the way to its objects. */
export interface TvfsPlace {
  folders: LookupFolders;
  root: ManifestKeys;
  /** The nested manifests that the build config names: vfs-1, vfs-2 … */
  nested: readonly ManifestKeys[];
  /** Its files are numbered as in Diablo IV. */
  numbered: boolean;
  /** Opens the imported names, if there are any. */
  listfile: () => Promise<ListfileIndex | undefined>;
  /** The decoded bytes of a manifest, as a derived file. */
  manifest: (keys: ManifestKeys) => Promise<string>;
  /** The decoded bytes of a part of a file, by its ckey or the start of its ekey. */
  loadPart: LoadPart;
  /** Called with what cannot be had, in words. */
  onNote?: BuildPlace['onNote'];
}

/** Opens the TVFS of a build; nested manifests are joined to it, and those that cannot be had are left out for now. Needs `close`. */
export async function openTvfs(place: TvfsPlace): Promise<Root> {
  const { folders, root } = place;
  const base = join(folders.names, root.ckey);
  const idsFile = `${base}.vfsids`;
  // Both are written together: where the ids lack, so must the paths.
  const isThere = resultUnless(isLacking, () => openVfsIds(idsFile));
  isThere?.close();
  if (isThere === undefined) removeDerived(`${base}.paths`);
  const paths = await openNameTable({ folders, kind: 'tvfs', ckey: root.ckey, rows: (note) => rowsOf(place, note) });
  const ids = openVfsIds(idsFile);
  try {
    if (ids.count > 0)
      return openWowTvfs(ids, paths, {
        base,
        temporary: folders.temporary,
        names: await namesWhenNeeded(place.listfile),
      });
  } catch (error) {
    ids.close();
    paths.close();
    throw error;
  }
  ids.close();
  return paths;
}

/** The rows of all paths that are names; files that WoW calls by numbers go into a file of their own. */
async function* rowsOf(place: TvfsPlace, note: Note): AsyncGenerator<NameRow> {
  const records = new WowTvfsRecords();
  const onLacking = (path: string): void => {
    const text = `manifest ${path} cannot be had, nor the names in it`;
    note(`E_NOT_FOUND: ${text}`, 'forNow');
    place.onNote?.(`its ${text}.`);
  };
  const naming = place.numbered ? await diablo4Naming(walk(place), place.loadPart, note) : undefined;
  for await (const row of walk(place, { records, onLacking })) {
    if (naming === undefined) yield row;
    else yield* naming(row);
  }
  const { folders, root } = place;
  await records.write(`${join(folders.names, root.ckey)}.vfsids`, folders.temporary);
}

/** Every file of the tree; a file that is a nested manifest gives way to the files in it, joined with `/`. */
async function* walk(
  place: TvfsPlace,
  { records, onLacking }: { records?: WowTvfsRecords; onLacking?: (path: string) => void } = {},
): AsyncGenerator<NameRow> {
  const nested = new Map(
    place.nested.flatMap((manifest) => (manifest.ekey === undefined ? [] : [[manifest.ekey.slice(0, 18), manifest]])),
  );
  async function* files(manifest: ManifestKeys, outer: string, depth: number): AsyncGenerator<NameRow> {
    if (depth > maxDepth) throw formatError('E_FORMAT_RANGE', 'TVFS', `manifests nest deeper than ${maxDepth}`);
    const prefix = outer === '' ? '' : `${outer}/`;
    const decoded = place.manifest(manifest);
    const found = depth === 0 ? await decoded : await optional(decoded, { orOffline: true, onNote: place.onNote });
    if (found === undefined) return onLacking?.(outer);
    const file = new DerivedFile(found);
    try {
      for (const { path, spans } of decodeTvfs(file).files) {
        const only = spans.length === 1 ? spans[0] : undefined;
        const inner = only === undefined ? undefined : nested.get(toHex(only.ekey.subarray(0, 9)));
        if (inner !== undefined) {
          yield* files(inner, prefix + path, depth + 1);
          continue;
        }
        const numbers = records && depth > 0 ? parseWowTvfsName(`${outer}:${path}`) : undefined;
        if (numbers === undefined || records?.add(numbers, spans) !== true) yield rowOf(prefix + path, spans);
      }
    } finally {
      file.close();
    }
  }
  yield* files(place.root, '', 0);
}

function rowOf(name: string, spans: readonly TvfsSpan[]): NameRow {
  const parts = spans.map(({ ekey, ckey, size, encodedSize }) => ({
    ekey: toHex(ekey),
    ckey: ckey && toHex(ckey),
    size,
    // Builds with whole keys in here may have no encoding file to ask.
    ...(ekey.length === 16 && { encodedSize }),
  }));
  return { name, parts };
}
