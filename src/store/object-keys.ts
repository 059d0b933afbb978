import { fromHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import { armadillo } from '../formats/armadillo.ts';
import { objectHash } from './layout.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { KeyRow } from './ledger/rows.ts';

/*
 * Products whose objects are encrypted one by one (Armadillo). They lie in the store as on the CDN; whoever looks at their bytes decrypts
 * them here. All objects of a CDN path share one key: names are hashes of what is decrypted, so the same path could not hold both kinds.
 * Which key that is the product config says; the ledger remembers it as a setting, the key itself lies among the keys as `NAME.ak`.
 */

/** The keys of whole objects, by the paths of the objects. */
export interface ObjectKeys {
  /**
   * The key of an object; undefined when it is not encrypted.
   * @throws E_KEY_MISSING with the name of the key file
   */
  keyOf(path: string): Uint8Array | undefined;
  /** Bytes that lie at an offset of an object, decrypted where the object is encrypted. @throws E_KEY_MISSING */
  decrypt(path: string, bytes: Uint8Array, offset?: number): Uint8Array;
  /** Learns that the objects of a CDN path are encrypted with a key of this name. */
  learn(cdnPath: string, keyName: string): void;
}

const suffix = '.ak';

/** The row of a key for whole objects. `name` as the product config has it, without `.ak`. */
export function objectKeyRow(name: string, key: string, source: string): KeyRow {
  return { name: keyRowName(name), key, extra: '', source };
}

/** The setting that names the key of a CDN path. */
export function objectKeySetting(cdnPath: string): string {
  return `objectKey:${cdnPath}`;
}

function keyRowName(name: string): string {
  return `${name.toLowerCase()}${suffix}`;
}

/** The object keys that a ledger knows. @param writable whether what is learned may be remembered */
export function objectKeys(ledger: Ledger, writable: boolean): ObjectKeys {
  const names = new Map<string, string | undefined>();
  const keys = new Map<string, Uint8Array>();
  const nameFor = (cdnPath: string): string | undefined => {
    if (!names.has(cdnPath)) names.set(cdnPath, ledger.setting(objectKeySetting(cdnPath)));
    return names.get(cdnPath);
  };
  const keyOf = (path: string): Uint8Array | undefined => {
    const cdnPath = cdnPathOf(path);
    const name = cdnPath === undefined ? undefined : nameFor(cdnPath);
    if (cdnPath === undefined || name === undefined) return undefined;
    const hex = keys.has(name) ? undefined : ledger.key(keyRowName(name));
    if (hex !== undefined) keys.set(name, fromHex(hex));
    return keys.get(name) ?? missingKey(cdnPath, name);
  };
  return {
    keyOf,
    decrypt(path, bytes, offset = 0) {
      const key = keyOf(path);
      return key === undefined ? bytes : armadillo(bytes, { key, hash: objectHash(path), offset });
    },
    learn(cdnPath, keyName) {
      if (nameFor(cdnPath) === keyName) return;
      names.set(cdnPath, keyName);
      if (writable) ledger.setSetting(objectKeySetting(cdnPath), keyName);
    },
  };
}

const objectPattern = /^(.+)\/(?:config|data|patch)\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{32}(?:\.index)?$/;

/** The CDN path of an object; undefined for a product config, which is never encrypted. */
function cdnPathOf(path: string): string | undefined {
  return objectPattern.exec(path)?.[1];
}

function missingKey(cdnPath: string, name: string): never {
  const keyName = `${name}${suffix}`;
  const problem = `every object of ${cdnPath} is encrypted, and the key ${keyName} is not known`;
  throw new PakratError('E_KEY_MISSING', problem, {
    hint: `Import the key file: \`pakrat keys import ${keyName}\`.`,
    data: { keyName, cdnPath },
  });
}
