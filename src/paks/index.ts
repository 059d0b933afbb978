import * as fs from 'node:fs';
import type { ByteSource } from '../core/byte-source.ts';
import { isPakratError, PakratError, valueUnless } from '../core/errors.ts';
import { fileSource } from '../files/file-source.ts';
import type { SharedDirectory } from './many-entries.ts';
import { nadeo } from './nadeo/index.ts';
import type { Pak, PakFamily, PakFolders } from './pak.ts';
import { quake } from './quake/index.ts';
import { unreal } from './unreal/index.ts';

/**
 * THE LIST: every family, in the order in which they are asked, about files and about folders. The one whose mark is hardest
 * to have by chance, and cheapest to look for, comes first. The rest of its code is loaded for what is its own.
 */
const families = [nadeo, quake, unreal] as const;

/** Every family of PAK files that is known. */
export const pakFamilies: readonly PakFamily<PakOptions>[] = families;

type OptionsTaker<Family> = Family extends PakFamily<infer Options, never> ? (options: Options) => void : never;

/** The options of all families together; each takes its own. Plain data, for they travel to threads. */
export type PakOptions = OptionsTaker<(typeof families)[number]> extends (options: infer All) => void ? All : never;

/** Bytes of either end of a file that families are shown. */
const endSize = 4096;

/**
 * Opens a PAK, or a folder of PAKs as its engine sees it: of whatever family it is, by its content.
 * @param pak a path; or bytes, which belong to the PAK from then on (after an error they are still the caller's)
 * @throws E_NOT_FOUND, E_STORE, E_FORMAT_MAGIC with what it looks like when no family claims it, and as the family does
 */
export async function openPak(pak: string | ByteSource, options: PakOptions = {}): Promise<Pak> {
  if (typeof pak !== 'string') return openSource(pak, options);
  if (isFolder(pak)) return openFolder(pak, options);
  return withFile(pak, (source) => openSource(source, options));
}

/** Opens a file as a PAK, which has the file then; closes it after an error. */
async function withFile(path: string, open: (source: ByteSource) => Promise<Pak>): Promise<Pak> {
  const source = await fileSource(path);
  try {
    return await open(source);
  } catch (error) {
    await source.close();
    throw error;
  }
}

/**
 * Opens a PAK, or a folder of them, that is open in another thread, without reading directories again.
 * @param options those that it was opened with there
 * @throws E_NOT_FOUND, E_STORE
 */
export async function openShared(path: string, options: PakOptions, shared: SharedDirectory): Promise<Pak> {
  const folders = pakFamilies.map((one) => one.folders).find((one) => one?.name === shared.family);
  if (folders !== undefined) return folders.open(path, options, shared.directory);
  const family = pakFamilies.find(({ name }) => name === shared.family);
  if (family === undefined) throw new Error(`there is no family ${shared.family}`);
  return withFile(path, (source) => family.open(source, options, shared.directory));
}

/** The family that claims a file by its bytes, or undefined. Reads at most 4 KiB from both ends. */
export async function findPakFamily(source: ByteSource): Promise<PakFamily<PakOptions> | undefined> {
  const { head, tail } = await readEnds(source);
  return pakFamilies.find((family) => family.matches(head, tail));
}

/** Who reads a folder as one whole; undefined for any other folder. Throws E_NOT_FOUND, E_STORE. */
export async function findPakFolders(path: string, options: PakOptions): Promise<PakFolders<PakOptions> | undefined> {
  for (const { folders } of pakFamilies) if (await folders?.matches(path, options)) return folders;
  return undefined;
}

/** True for a path that is called as PAKs are. What is there its bytes tell. */
export function isCalledPak(path: string): boolean {
  const name = path.toLowerCase();
  return pakFamilies.some(({ extensions }) => extensions.some((extension) => name.endsWith(extension)));
}

async function openSource(source: ByteSource, options: PakOptions): Promise<Pak> {
  const { head, tail } = await readEnds(source);
  const family = pakFamilies.find((one) => one.matches(head, tail));
  if (family !== undefined) return family.open(source, options);
  const forced = await openAnyway(source, { ...options, ignoreMagic: true });
  if (forced !== undefined && options.ignoreMagic === true) return forced;
  const versions = forced === undefined ? await versionsToTry(source, options) : [];
  const { identify } = await import('./identify.ts');
  const looks = identify(head, tail, source.size);
  throw new PakratError('E_FORMAT_MAGIC', `${source.name} is no PAK of a known family: it looks like ${looks}`, {
    hint: magicHint(source.name, forced?.family, versions),
    data: { looksLike: looks, size: source.size },
  });
}

/** Versions as which an Unreal PAK reads whose magic and version are wrong: its footer is the only mark that is a game's to change. */
async function versionsToTry(source: ByteSource, options: PakOptions): Promise<number[]> {
  const { newestVersion } = await import('./unreal/footer.ts');
  const found: number[] = [];
  for (let forceVersion = 1; forceVersion <= newestVersion; forceVersion++) {
    const open = unreal.open(source, { ...options, ignoreMagic: true, forceVersion });
    if ((await valueUnless(isPakratError, open)) !== undefined) found.push(forceVersion);
  }
  return found;
}

/** @param family that reads it all the same, @param versions as which one reads it */
function magicHint(name: string, family: string | undefined, versions: readonly number[]): string {
  if (versions.length > 0) {
    return `But for magic and version it is an Unreal PAK: --ignore-magic with --force-version ${versions.join(' or ')} reads it.`;
  }
  if (family !== undefined) return `But for its magic it is a PAK of the family ${family}: --ignore-magic reads it.`;
  const known = `Known families: ${pakFamilies.map(({ name }) => name).join(', ')}.`;
  return isCalledPak(name)
    ? `${known} Where a game changed magic and version, --ignore-magic and --force-version N may read it.`
    : known;
}

/** With a wrong magic nothing is certain: the first family that can read the whole directory has it. */
async function openAnyway(source: ByteSource, options: PakOptions): Promise<Pak | undefined> {
  for (const family of pakFamilies) {
    try {
      return await family.open(source, options);
    } catch (error) {
      if (!isPakratError(error)) throw error;
    }
  }
  return undefined;
}

async function readEnds(source: ByteSource): Promise<{ head: Uint8Array; tail: Uint8Array }> {
  const size = Math.min(endSize, source.size);
  const head = await source.read(0, size);
  return { head, tail: source.size <= endSize ? head : await source.read(source.size - size, size) };
}

function isFolder(path: string): boolean {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new PakratError('E_NOT_FOUND', `there is no ${path}`, { data: { path } });
  return stat.isDirectory();
}

async function openFolder(path: string, options: PakOptions): Promise<Pak> {
  const folders = await findPakFolders(path, options);
  if (folders !== undefined) return folders.open(path, options);
  const known = pakFamilies.flatMap(({ folders }) => folders?.what ?? []);
  throw new PakratError('E_FORMAT_MAGIC', `${path} is a folder without a PAK of a known family in it`, {
    hint: `Name a PAK file, ${known.join(', ')}, an installed game (with .build.info) or a folder that is laid out as a CDN.`,
    data: { path },
  });
}
