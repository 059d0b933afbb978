import { codeOf, isDamage, isNoFile, resultUnless } from '../../core/errors.ts';
import { readOwn } from '../../files/read-at.ts';
import { decodeKeyRing, type TactKey } from '../../formats/configs/key-list.ts';
import { objectPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';
import { checkObject } from '../../verify/check-object.ts';
import type { Session } from '../session/session.ts';

/** A key that the store has. */
export interface ListedKey {
  /** As key lists print it, in hex. */
  name: string;
  /** In hex; cut short unless all of it was asked for. */
  key: string;
  /** Further fields of the key's line, where there were any. */
  extra?: string;
  /** The list that it was read from, or the build whose key ring has it. */
  source: string;
}

/**
 * Lists the keys of the store: those that were taken into it, then those of the key rings of builds.
 * @param options.show the keys in full
 * @throws E_NOT_FOUND when there is no store
 */
export async function listKeys(session: Session, options: { show?: boolean | undefined } = {}): Promise<ListedKey[]> {
  const store = await session.store({ create: false });
  const shown = (key: string): string => (options.show === true ? key : `${key.slice(0, 4)}…`);
  const listed = store.ledger.keys().map(({ name, key, extra, source }): ListedKey => {
    return { name, key: shown(key), source, ...(extra === '' ? {} : { extra }) };
  });
  return [...listed, ...keyRings(store).map(({ name, key, source }) => ({ name, key: shown(key), source }))];
}

/** The keys of the key rings that are held, each ring once. */
function keyRings(store: Store): { name: string; key: string; source: string }[] {
  const keys: { name: string; key: string; source: string }[] = [];
  const seen = new Set<string>();
  for (const { cdnPath, keyRing, product, name: build } of store.ledger.builds()) {
    if (!keyRing || seen.has(keyRing)) continue;
    seen.add(keyRing);
    const source = `key ring of ${product}@${build}`;
    for (const { name, key } of readKeyRing(store, cdnPath, keyRing)) keys.push({ name, key, source });
  }
  return keys;
}

/** A key ring as it is held; no key of one that is not, or is damaged: nothing would be decoded with it either. */
function readKeyRing({ file, objectKeys }: Store, cdnPath: string, hash: string): TactKey[] {
  const name = { cdnPath, kind: 'config', hash } as const;
  const path = objectPath(name);
  const bytes = resultUnless(isNoFile, () => readOwn(file(path)));
  if (bytes === undefined) return [];
  // Objects of some products need a key themselves.
  const isShut = (error: unknown): boolean => isDamage(error) || codeOf(error) === 'E_KEY_MISSING';
  const ring = resultUnless(isShut, () => {
    const plain = objectKeys.decrypt(path, bytes);
    checkObject(name, plain);
    return decodeKeyRing(plain);
  });
  return ring ?? [];
}
