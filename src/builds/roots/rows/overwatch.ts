import { codeOf, isNowhere, messageOf } from '../../../core/errors.ts';
import { normalizeName } from '../../../core/jenkins.ts';
import { groupBy } from '../../../core/tables/group-by.ts';
import { decodeContentManifest } from '../../../formats/roots/content-manifest.ts';
import { decodeOverwatchRoot, type OverwatchFile } from '../../../formats/roots/overwatch.ts';
import { decodePackageManifest } from '../../../formats/roots/package-manifest.ts';
import type { NameRow, Note } from '../name-table.ts';
import type { LoadPart } from './diablo4.ts';

/** The way to the manifests that a table lists. */
interface OverwatchPlace {
  load: LoadPart;
  note: Note;
}

/**
 * The files of a root table, those of one name side by side; then the assets of its manifests where these are open to all, by their ids:
 * `ContentManifestFiles/Windows-RDEV/enUS/text/0d80000000000012`. All manifests of a build are encrypted or none is: one is tried before the others are fetched.
 * @throws E_FORMAT… for a damaged table
 */
export async function* overwatchRows(bytes: Uint8Array, place: OverwatchPlace): AsyncGenerator<NameRow> {
  const { files } = decodeOverwatchRoot(bytes);
  yield* tableRows(files);
  const packages = files.filter(({ name }) => isManifest(name, 'apm'));
  for (const file of files.filter(({ name }) => isManifest(name, 'cmf'))) {
    const manifest = await optional(file, place, decodeContentManifest);
    if (manifest?.encrypted) {
      place.note('E_UNSUPPORTED: the content manifests are encrypted; the assets that they list have no names');
      return;
    }
    if (manifest === undefined) continue;
    for (const { guid, ckey, size } of manifest.assets) {
      yield { name: `ContentManifestFiles/${assetFolder(file.name)}${guid}`, parts: [{ ckey, size }] };
    }
  }
  for (const file of packages) {
    const manifest = await optional(file, place, decodePackageManifest);
    // The newer forms are all alike: no contents in any of them.
    if (manifest !== undefined && manifest.packageSize !== 72) return;
    for (const { guid, content } of manifest?.packages ?? []) {
      if (content !== undefined)
        yield { name: `AppPackageManifests/${assetFolder(file.name)}${guid}`, parts: [content] };
    }
  }
}

function tableRows(files: readonly OverwatchFile[]): NameRow[] {
  const sorted = [...groupBy(files, ({ name }) => normalizeName(name)).values()].flat();
  return sorted.map(({ name, ckey }) => ({ name: name.replaceAll('\\', '/'), parts: [{ ckey, size: undefined }] }));
}

function isManifest(name: string, extension: 'apm' | 'cmf'): boolean {
  return new RegExp(`^(Tact)?Manifest[/\\\\].*\\.${extension}$`, 'i').test(name);
}

/** A manifest that cannot be had or read costs the names in it, not the build. */
async function optional<Manifest>(
  { name, ckey }: OverwatchFile,
  { load, note }: OverwatchPlace,
  decode: (bytes: Uint8Array) => Manifest,
): Promise<Manifest | undefined> {
  try {
    return decode(await load({ ckey, size: undefined }));
  } catch (error) {
    const code = codeOf(error) ?? '';
    const isWrong = isNowhere(error) && code !== 'E_NOT_FOUND';
    const forNow = isWrong || ['E_KEY_MISSING', 'E_OFFLINE'].includes(code) ? 'forNow' : undefined;
    if (!code.startsWith('E_FORMAT') && code !== 'E_NOT_FOUND' && forNow === undefined) throw error;
    note(`${name} cannot be read, and what it lists has no names: ${messageOf(error)}`, forNow);
    return undefined;
  }
}

/** The folder of a manifest's assets, by its name: `Win_SPWin_RDEV_LenUS_text_EExt.cmf` is `Windows-RDEV/enUS/text/`. */
function assetFolder(path: string): string {
  const [plain = ''] = (path.split(/[/\\]/).at(-1) ?? '').split('.');
  const tags = plain.split('_').slice(1);
  const platform = tags.includes('SPWin') ? 'Windows' : (tags.find((tag) => /^SP./.test(tag))?.slice(2) ?? '');
  const region = tags.find((tag) => /^R[A-Z]+$/.test(tag));
  const locale = tags.find((tag) => /^L[a-z]{2}[A-Z]{2}$/.test(tag))?.slice(1);
  const kind = tags.find((tag) => !/^(SP.+|R[A-Z]+|L[a-z]{2}[A-Z]{2}|E[A-Z].*)$/.test(tag));
  const parts = [[platform, region].filter(Boolean).join('-'), locale, kind];
  return parts.map((part) => (part ? `${part}/` : '')).join('');
}
