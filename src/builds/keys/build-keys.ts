import { fromHex } from '../../core/bytes.ts';
import { isOurTrouble } from '../../core/errors.ts';
import type { KeyRing } from '../../formats/blte/keys.ts';
import { decodeKeyRing, reverseName } from '../../formats/configs/key-list.ts';
import { decodeProductConfig } from '../../formats/configs/product-config.ts';
import type { Objects } from '../objects.ts';

/** The keys of a build: those that the user imported, then those of the build's own key ring. */
export async function buildKeyRing(
  imported: KeyRing,
  identity: { cdnPath: string; keyRing: string | null },
  objects: Objects,
): Promise<KeyRing> {
  const own = new Map<string, string>();
  if (identity.keyRing) {
    try {
      const bytes = await objects.config({ cdnPath: identity.cdnPath, kind: 'config', hash: identity.keyRing });
      for (const { name, key } of decodeKeyRing(bytes)) own.set(name, key);
    } catch (error) {
      // Keys are needed to decode only; a ring that no host has locks files, not the build.
      if (isOurTrouble(error)) throw error;
    }
  }
  return {
    find(name) {
      // Rings name a key by its wire bytes; some writers print the name instead. A key under a wrong name opens nothing.
      const known = imported.find(name);
      if (known !== undefined) return known;
      const key = own.get(name) ?? own.get(reverseName(name));
      return key === undefined ? undefined : fromHex(key);
    },
  };
}

/**
 * Learns from the product config whether the objects of a build are encrypted as a whole, and with which key. A product config that
 * cannot be had says nothing: nearly all products are not encrypted, and the builds of some have lost theirs.
 */
export async function learnObjectKey(place: {
  identity: { cdnPath: string; configPath: string; productConfig: string | null };
  objects: Objects;
}): Promise<void> {
  const { cdnPath, configPath, productConfig } = place.identity;
  if (!productConfig) return;
  try {
    const bytes = await place.objects.config({ cdnPath: configPath, kind: 'product', hash: productConfig });
    const { decryptionKeyName } = decodeProductConfig(bytes);
    if (decryptionKeyName !== undefined) place.objects.learnObjectKey?.(cdnPath, decryptionKeyName);
  } catch (error) {
    if (isOurTrouble(error)) throw error;
  }
}
