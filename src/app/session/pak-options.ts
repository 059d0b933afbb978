import { readGiven } from '../../files/given/given-file.ts';
import type { PakOptions } from '../../paks/index.ts';
import type { QuakeEngine } from '../../paks/quake/options.ts';
import { defined, type GivenKey, keysBeside, parseKeys, withPath } from '../../sources/paks/given-keys.ts';
import { listOf } from './session-options.ts';

/** Options of PAKs; the names are those of the flags in camel case. Builds take no notice of them. */
export interface PakOpenOptions {
  /** Keys for encrypted PAKs: hex, base64, or `@FILE` with keys. */
  key?: string | readonly string[] | undefined;
  /** Text encoding of names. */
  encoding?: string | undefined;
  /** Whose search path a game directory has. */
  engine?: QuakeEngine | undefined;
  /** Game directories beside the first. */
  game?: string | readonly string[] | undefined;
  /** Files with real names, for NadeoPaks that store hashes of them. */
  names?: string | readonly string[] | undefined;
  /** Look for real names of hashed files in the NadeoPak itself. */
  resolveNames?: boolean | undefined;
  /** File with the LZ4 dictionary of the game, for NadeoPak 18. */
  lz4Dictionary?: string | undefined;
  /** Module that decodes Oodle: it exports `decompress(bytes, size)`. */
  oodle?: string | undefined;
  /** Read a PAK although its magic is wrong. */
  ignoreMagic?: boolean | undefined;
  /** Read a PAK as this version, whatever it says. */
  forceVersion?: number | undefined;
  /** Read a PAK although a hash in it does not match. */
  ignoreHashes?: boolean | undefined;
}

/**
 * Reads the files that the options of a PAK name.
 * @param path of the source: a packlist.dat beside it is taken, too
 * @throws E_USAGE for a key that is none, E_NOT_FOUND for a file that is not there, E_FORMAT for a damaged list
 */
export async function readPakOptions(options: PakOpenOptions, path: string): Promise<PakOptions> {
  const { encoding, oodle, engine, forceVersion, lz4Dictionary } = options;
  const given = await parseKeys(listOf(options.key));
  const names = await Promise.all(listOf(options.names).map(readNames));
  return {
    keys: given.flatMap(({ name, key }) => (name === undefined ? [key] : [])),
    namedKeys: [...given, ...(await keysBeside(path))].filter(isNamed),
    games: listOf(options.game),
    ...defined({
      hashedNames: names.length > 0 ? names.flat() : undefined,
      lz4Dictionary: lz4Dictionary === undefined ? undefined : await readGiven(lz4Dictionary),
      encoding,
      oodle,
      engine,
      forceVersion,
    }),
    ignoreMagic: options.ignoreMagic === true,
    ignoreHashes: options.ignoreHashes === true,
    resolveNames: options.resolveNames === true,
  };
}

/** Adds the keys of packs that were imported into a store. */
export async function withStoredKeys(store: string, options: PakOptions): Promise<PakOptions> {
  const { storedPackKeys } = await import('../../store/pack-keys.ts');
  return { ...options, namedKeys: [...(options.namedKeys ?? []), ...storedPackKeys(store)] };
}

function isNamed(key: GivenKey): key is GivenKey & { name: string } {
  return key.name !== undefined;
}

async function readNames(path: string): Promise<string[]> {
  const { decodeNameList } = await import('../../paks/nadeo/directory/names.ts');
  const text = new TextDecoder().decode(await readGiven(path));
  return withPath(path, () => [...decodeNameList(text)]);
}
