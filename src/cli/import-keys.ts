import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PakratError } from '../core/errors.ts';
import { decodeKeyList, decodeKeyRing, type TactKey } from '../formats/key-list.ts';
import type { Ledger } from '../store/ledger.ts';

/** What an import of keys did. */
export interface KeyImport {
  /** Keys read, each name once. */
  read: number;
  /** Keys whose names the store did not know. */
  added: number;
  /** Keys that the store had with another value. */
  changed: number;
}

/**
 * Takes the keys of key lists and key ring configs into the ledger; of a name that comes again the last counts.
 * Nothing is taken when one of the files is bad.
 * @throws E_FORMAT that names file and line, E_NOT_FOUND
 */
export function importKeys(ledger: Pick<Ledger, 'key' | 'addKeys'>, paths: readonly string[]): KeyImport {
  const byName = new Map(paths.flatMap((path) => readKeys(path).map((key) => [key.name, { ...key, path }] as const)));
  const result: KeyImport = { read: byName.size, added: 0, changed: 0 };
  for (const { name, key } of byName.values()) {
    const known = ledger.key(name);
    if (known === undefined) result.added += 1;
    else if (known !== key) result.changed += 1;
  }
  const rows = [...byName.values()].map(({ name, key, extra = [], path }) => ({
    name,
    key,
    extra: extra.join(' '),
    source: basename(path),
  }));
  ledger.addKeys(rows);
  return result;
}

function readKeys(path: string): TactKey[] {
  const bytes = new Uint8Array(readFileSync(path));
  try {
    return isKeyRing(bytes) ? decodeKeyRing(bytes) : decodeKeyList(bytes);
  } catch (error) {
    throw new PakratError('E_FORMAT', `${path} holds no keys that can be read`, {
      cause: error,
      hint: 'Keys are read from lists ("NAME KEY" a line, as TACTKeys has them) and from key ring configs ("key-NAME = KEY").',
      data: { path },
    });
  }
}

function isKeyRing(bytes: Uint8Array): boolean {
  return /^\s*key-[0-9a-f]{16}\s*=/im.test(new TextDecoder('latin1').decode(bytes.subarray(0, 4096)));
}
