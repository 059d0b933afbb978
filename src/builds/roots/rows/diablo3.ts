import { normalizeName } from '../../../core/jenkins.ts';
import type { ManifestKeys } from '../../../formats/configs/build-config.ts';
import { decodeDiablo3Packages, decodeDiablo3Toc } from '../../../formats/roots/diablo3/core-toc.ts';
import {
  type Diablo3Folder,
  type Diablo3Named,
  decodeDiablo3Folder,
  decodeDiablo3Root,
} from '../../../formats/roots/diablo3/folder.ts';
import { diablo3Namer } from '../../../formats/roots/diablo3/names.ts';
import { optional } from '../../objects.ts';
import type { NameRow, Note } from '../name-table.ts';

/** The way to the folders that a root lists. */
interface Diablo3Place {
  load: (manifest: ManifestKeys) => Promise<Uint8Array>;
  note: Note;
}

/**
 * The files of a Diablo III root, those of a folder (`Base`, a locale, a platform) behind its name. Folders that no host has are left out; those that this disk has damaged are, too, with a note.
 * @throws E_FORMAT… for a damaged folder or table of names
 */
export async function* diablo3Rows(bytes: Uint8Array, place: Diablo3Place): AsyncGenerator<NameRow> {
  const folders = decodeDiablo3Root(bytes);
  const nameOf = await loadNamer(folders, place);
  for (const { name: prefix, ckey } of folders) {
    const folder = await loadFolder(ckey, place);
    if (folder === undefined) continue;
    for (const asset of folder.assets) yield rowOf(`${prefix}/${nameOf(asset)}`, asset.ckey);
    for (const { name, ckey } of folder.named) yield rowOf(`${prefix}/${name.replaceAll('\\', '/')}`, ckey);
  }
}

async function loadNamer(
  folders: readonly Diablo3Named[],
  place: Diablo3Place,
): Promise<ReturnType<typeof diablo3Namer>> {
  const base = findNamed(folders, 'Base');
  const named = (base && (await loadFolder(base.ckey, place)))?.named ?? [];
  const toc = await loadNamed(named, 'CoreTOC.dat', place);
  const packages = await loadNamed(named, 'Data_D3\\PC\\Misc\\Packages.dat', place);
  return diablo3Namer(toc ? decodeDiablo3Toc(toc).groups.flat() : [], packages ? decodeDiablo3Packages(packages) : []);
}

async function loadFolder(ckey: string, place: Diablo3Place): Promise<Diablo3Folder | undefined> {
  const bytes = await loadIfThere(ckey, place);
  return bytes && decodeDiablo3Folder(bytes);
}

async function loadNamed(
  named: readonly Diablo3Named[],
  name: string,
  place: Diablo3Place,
): Promise<Uint8Array | undefined> {
  const found = findNamed(named, name);
  return found && loadIfThere(found.ckey, place);
}

function loadIfThere(ckey: string, { load, note }: Diablo3Place): Promise<Uint8Array | undefined> {
  return optional(load({ ckey }), { onNote: (text) => note(text, 'forNow') });
}

function findNamed(named: readonly Diablo3Named[], wanted: string): Diablo3Named | undefined {
  return named.find(({ name }) => normalizeName(name) === normalizeName(wanted));
}

function rowOf(name: string, ckey: string): NameRow {
  return { name, parts: [{ ckey, size: undefined }] };
}
