import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { fromHex } from '../core/bytes.ts';
import { isPakratError, messageOf, PakratError } from '../core/errors.ts';
import type { PakOptions } from '../paks/index.ts';
import type { QuakeEngine } from '../paks/quake/options.ts';

const helpGroup = 'PAK';
const engines: QuakeEngine[] = ['quake', 'quakespasm', 'quake2'];
const several = { multiple: true, multipleNonGreedy: true } as const;

/** The flag for keys, wherever keys are taken. */
export const keyFlag = Flags.string({
  summary: 'Key for encrypted PAKs: hex, base64, or @FILE. Repeatable.',
  description:
    'Unreal keys have 32 bytes, Nadeo keys 16. A file may hold one key, lines of a pack name and a key, or be a packlist.dat.',
  helpGroup,
  helpValue: 'HEX|BASE64|@FILE',
  ...several,
});

/** The flags that say how a PAK is read; builds take no notice of them. */
export const pakFlags = {
  key: keyFlag,
  encoding: Flags.string({
    summary: 'Text encoding of names. Default: UTF-8, or Latin-1 where they are none.',
    helpGroup,
    helpValue: 'NAME',
  }),
  engine: Flags.string({
    summary: 'Whose search path a game directory has. Default: by its content.',
    helpGroup,
    options: engines,
  }),
  game: Flags.string({
    summary: 'Game directory beside the first: rogue, hipnotic, quoth or a mod. Repeatable.',
    helpGroup,
    helpValue: 'NAME',
    ...several,
  }),
  names: Flags.string({
    summary: 'List of real names, for NadeoPaks that store hashes of them. Repeatable.',
    helpGroup,
    helpValue: 'FILE',
    ...several,
  }),
  'resolve-names': Flags.boolean({
    summary: 'Look for real names of hashed files in the NadeoPak itself; reads much of it.',
    helpGroup,
  }),
  'lz4-dictionary': Flags.string({
    summary: 'The LZ4 dictionary of the game, for NadeoPak 18.',
    helpGroup,
    helpValue: 'FILE',
  }),
  oodle: Flags.string({
    summary: 'Module that decodes Oodle in place of the package ooz-wasm: it exports decompress(bytes, size).',
    helpGroup,
    helpValue: 'FILE',
    env: 'PAKRAT_OODLE',
  }),
  'ignore-magic': Flags.boolean({ summary: 'Read a PAK although its magic is wrong.', helpGroup }),
  'force-version': Flags.integer({
    summary: 'Read a PAK as this version, whatever it says.',
    helpGroup,
    helpValue: 'N',
    min: 0,
    max: 1000,
  }),
  'ignore-hashes': Flags.boolean({ summary: 'Read a PAK although a hash in it does not match.', helpGroup }),
};

/** The PAK flags as oclif parses them. */
export interface PakFlags {
  key?: string[] | undefined;
  encoding?: string | undefined;
  engine?: string | undefined;
  game?: string[] | undefined;
  names?: string[] | undefined;
  'resolve-names'?: boolean;
  'lz4-dictionary'?: string | undefined;
  oodle?: string | undefined;
  'ignore-magic'?: boolean;
  'force-version'?: number | undefined;
  'ignore-hashes'?: boolean;
}

/** A key that was given, with the name of its pack where it came from a list. */
export interface GivenKey {
  name: string | undefined;
  key: Uint8Array;
}

/**
 * What the flags come to.
 * @param path of the source: a packlist.dat beside it is taken, too
 * @throws E_USAGE for a key that is none, E_NOT_FOUND for a file that is not there, E_FORMAT for a damaged list
 */
export async function localOptions(flags: PakFlags, path: string): Promise<PakOptions> {
  const given = await parseKeys(flags.key ?? []);
  const named = [...given, ...(await keysBeside(path))];
  const dictionary = flags['lz4-dictionary'];
  const names = flags.names ?? [];
  return {
    keys: given.flatMap(({ name, key }) => (name === undefined ? [key] : [])),
    namedKeys: named.flatMap(({ name, key }) => (name === undefined ? [] : [{ name, key }])),
    games: flags.game ?? [],
    ...(names.length > 0 && { hashedNames: (await Promise.all(names.map(readNames))).flat() }),
    ...(dictionary !== undefined && { lz4Dictionary: readBytes(dictionary) }),
    ...(flags.encoding !== undefined && { encoding: flags.encoding }),
    ...(flags.oodle !== undefined && { oodle: flags.oodle }),
    ...(flags.engine !== undefined && { engine: flags.engine as QuakeEngine }),
    ...(flags['force-version'] !== undefined && { forceVersion: flags['force-version'] }),
    ignoreMagic: flags['ignore-magic'] === true,
    ignoreHashes: flags['ignore-hashes'] === true,
    resolveNames: flags['resolve-names'] === true,
  };
}

/** Takes keys as people write them. @throws E_USAGE, E_NOT_FOUND, E_FORMAT… */
export async function parseKeys(texts: readonly string[]): Promise<GivenKey[]> {
  const keys: GivenKey[] = [];
  for (const text of texts) {
    if (text.startsWith('@')) keys.push(...(await keysOfFile(text.slice(1))));
    else keys.push({ name: undefined, key: parseKey(text) ?? wrongKey(text) });
  }
  return keys;
}

/** 16 or 32 bytes as hex (`0x` may stand in front) or base64; undefined for anything else. */
export function parseKey(text: string): Uint8Array | undefined {
  const plain = text.trim();
  const hex = /^(?:0x)?((?:[0-9a-f]{32}){1,2})$/i.exec(plain)?.[1];
  if (hex !== undefined) return fromHex(hex);
  if (!/^[\w+/-]+={0,2}$/.test(plain)) return undefined;
  const bytes = new Uint8Array(Buffer.from(plain, 'base64'));
  return bytes.length === 16 || bytes.length === 32 ? bytes : undefined;
}

/** Never shows the key itself: it would stay in logs. */
function wrongKey(text: string): never {
  throw new PakratError('E_USAGE', `a text of ${text.length} characters is no key`, {
    hint: 'Write 32 or 64 hex digits, base64 of 16 or 32 bytes, or @FILE.',
  });
}

async function keysOfFile(path: string): Promise<GivenKey[]> {
  const bytes = readBytes(path);
  const text = new TextDecoder('latin1').decode(bytes.subarray(0, 0x10000));
  const single = parseKey(text);
  if (single !== undefined) return [{ name: undefined, key: single }];
  if (/^[\t\r\n -~]+$/.test(text)) return namedKeysOfText(text, path);
  if (bytes.length === 16 || bytes.length === 32) return [{ name: undefined, key: bytes }];
  return packlistKeysOf(bytes, path);
}

async function namedKeysOfText(text: string, path: string): Promise<GivenKey[]> {
  const { decodeKeyFile } = await import('../paks/nadeo/keys/keys.ts');
  return withPath(path, () => decodeKeyFile(text));
}

/** The keys of a packlist.dat. @throws E_FORMAT… that names the file */
export async function packlistKeysOf(bytes: Uint8Array, path: string): Promise<GivenKey[]> {
  const { packlistKeys } = await import('../paks/nadeo/keys/keys.ts');
  const { decodePacklist } = await import('../paks/nadeo/keys/packlist.ts');
  return withPath(path, () => packlistKeys(decodePacklist(bytes)));
}

/** Games keep the list of keys beside their packs. */
async function keysBeside(path: string): Promise<GivenKey[]> {
  const list = join(dirname(path), 'packlist.dat');
  if (basename(path) === 'packlist.dat' || !fs.existsSync(list)) return [];
  try {
    return await packlistKeysOf(readBytes(list), list);
  } catch (error) {
    // Nobody asked for it: what cannot be read helps nobody, and hurts nobody.
    if (!isPakratError(error)) throw error;
    return [];
  }
}

async function readNames(path: string): Promise<string[]> {
  const { decodeNameList } = await import('../paks/nadeo/directory/names.ts');
  return withPath(path, () => [...decodeNameList(new TextDecoder().decode(readBytes(path)))]);
}

function readBytes(path: string): Uint8Array {
  return new Uint8Array(fs.readFileSync(path));
}

function withPath<Value>(path: string, decode: () => Value): Value {
  try {
    return decode();
  } catch (error) {
    if (!isPakratError(error)) throw error;
    throw new PakratError(error.code, `${path}: ${messageOf(error)}`, { data: { ...error.data, path }, cause: error });
  }
}
