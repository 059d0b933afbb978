import { basename } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { readGiven } from '../../files/given/given-file.ts';
import { decodeArmadilloKey } from '../../formats/armadillo.ts';
import { decodeKeyList, decodeKeyRing, type TactKey } from '../../formats/configs/key-list.ts';
import { packlistKeys } from '../../paks/nadeo/keys/keys.ts';
import { decodePacklist } from '../../paks/nadeo/keys/packlist.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { KeyRow } from '../../store/ledger/rows.ts';
import { objectKeyRow } from '../../store/object-keys.ts';
import { packKeyRow } from '../../store/pack-keys.ts';

/** The outcome of an import of keys. */
export interface KeyImport {
  /** Keys read, each name once. */
  read: number;
  /** Keys whose names the store did not know. */
  added: number;
  /** Keys that the store had with another value. */
  changed: number;
}

/**
 * Takes the keys of key lists, key ring configs, key files (NAME.ak) and packlist.dat into the ledger; of a name that comes again the last counts.
 * Nothing is taken when one of the files is bad.
 * @throws E_FORMAT that names file and line, E_NOT_FOUND, E_ABORTED
 */
export async function importKeyFiles(
  ledger: Pick<Ledger, 'key' | 'addKeys'>,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<KeyImport> {
  const byName = new Map<string, KeyRow>();
  for (const path of paths) {
    for (const row of await readRows(path)) byName.set(row.name, row);
    await breathe(signal);
  }
  const result: KeyImport = { read: byName.size, added: 0, changed: 0 };
  for (const { name, key } of byName.values()) {
    await breathe(signal);
    const known = ledger.key(name);
    if (known === undefined) result.added += 1;
    else if (known !== key) result.changed += 1;
  }
  ledger.addKeys([...byName.values()]);
  return result;
}

async function readRows(path: string): Promise<KeyRow[]> {
  const bytes = await readGiven(path);
  const source = basename(path);
  try {
    if (isPacklist(bytes)) return packlistKeys(decodePacklist(bytes)).map((key) => packKeyRow(key, source));
    if (isArmadilloKey(source)) return [objectKeyRow(source.slice(0, -3), toHex(decodeArmadilloKey(bytes)), source)];
    const keys: TactKey[] = isKeyRing(bytes) ? decodeKeyRing(bytes) : decodeKeyList(bytes);
    return keys.map(({ name, key, extra = [] }) => ({ name, key, extra: extra.join(' '), source }));
  } catch (error) {
    throw new PakratError('E_FORMAT', `${path} holds no keys that can be read`, {
      cause: error,
      hint: 'Keys are read from lists ("NAME KEY" a line, as TACTKeys has them), from key ring configs ("key-NAME = KEY"), NAME.ak files, and from packlist.dat.',
      data: { path },
    });
  }
}

/** By its name, for that is the name of the key. */
function isArmadilloKey(name: string): boolean {
  return /^.+\.ak$/i.test(name);
}

/** Its version, which no text starts with. */
function isPacklist(bytes: Uint8Array): boolean {
  return bytes[0] === 1;
}

function isKeyRing(bytes: Uint8Array): boolean {
  return /^\s*key-[0-9a-f]{16}\s*=/im.test(new TextDecoder('latin1').decode(bytes.subarray(0, 4096)));
}
