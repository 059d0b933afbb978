import { basename, dirname, join } from 'node:path';
import { fromHex } from '../../core/bytes.ts';
import { isPakratError, isSystemError, messageOf, PakratError, resultUnless, valueUnless } from '../../core/errors.ts';
import { readGiven } from '../../files/given/given-file.ts';
import { readOwn } from '../../files/read-at.ts';

/** A key that was given, with the name of its pack where it came from a list. */
export interface GivenKey {
  name: string | undefined;
  key: Uint8Array;
}

/** Bytes of a file in which a list of keys is looked for. */
const textBytes = 0x10000;

/** Takes keys as people write them: hex, base64, or `@FILE`. @throws E_USAGE, E_NOT_FOUND, E_FORMAT… */
export async function parseKeys(texts: readonly string[]): Promise<GivenKey[]> {
  const keys: GivenKey[] = [];
  for (const text of texts) {
    if (text.startsWith('@')) keys.push(...(await keysOfFile(text.slice(1))));
    else keys.push({ name: undefined, key: parseKey(text) ?? wrongKey(text) });
  }
  return keys;
}

/** 16 or 32 bytes as hex (`0x` may stand in front) or base64; undefined for anything else. */
function parseKey(text: string): Uint8Array | undefined {
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
  const bytes = await readGiven(path);
  const text = new TextDecoder('latin1').decode(bytes.subarray(0, textBytes));
  const single = parseKey(text);
  if (single !== undefined) return [{ name: undefined, key: single }];
  if (/^[\t\r\n -~]+$/.test(text)) {
    const { decodeKeyFile } = await import('../../paks/nadeo/keys/keys.ts');
    return withPath(path, () => decodeKeyFile(text));
  }
  if (bytes.length === 16 || bytes.length === 32) return [{ name: undefined, key: bytes }];
  return packlistKeysOf(bytes, path);
}

/** The keys of a packlist.dat. @throws E_FORMAT… that names the file */
async function packlistKeysOf(bytes: Uint8Array, path: string): Promise<GivenKey[]> {
  const { packlistKeys } = await import('../../paks/nadeo/keys/keys.ts');
  const { decodePacklist } = await import('../../paks/nadeo/keys/packlist.ts');
  return withPath(path, () => packlistKeys(decodePacklist(bytes)));
}

/** The keys of the packlist.dat that games keep beside their packs. One that cannot be read helps nobody, and hurts nobody. */
export async function keysBeside(path: string): Promise<GivenKey[]> {
  const list = join(dirname(path), 'packlist.dat');
  if (basename(path) === 'packlist.dat') return [];
  const bytes = resultUnless(isSystemError, () => readOwn(list));
  return (bytes && (await valueUnless(isPakratError, packlistKeysOf(bytes, list)))) ?? [];
}

/** Decodes the content of a file; an error of ours names the file. */
export function withPath<Value>(path: string, decode: () => Value): Value {
  try {
    return decode();
  } catch (error) {
    if (!isPakratError(error)) throw error;
    throw new PakratError(error.code, `${path}: ${messageOf(error)}`, { data: { ...error.data, path }, cause: error });
  }
}

/** An object without what is undefined in it. */
export function defined<Values extends object>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values as never;
}
