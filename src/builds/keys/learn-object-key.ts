import { isOurTrouble } from '../../core/errors.ts';
import { decodeProductConfig } from '../../formats/configs/product-config.ts';
import type { Objects } from '../objects.ts';

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
