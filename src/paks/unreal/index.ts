import type { PakFamily } from '../pak.ts';
import { hasFooterMagic } from './footer.ts';
import { openUnrealPak } from './open.ts';

/** PAKs of Unreal Engine 4 and 5, versions 1 to 15. */
export const unreal: PakFamily = {
  name: 'unreal',
  probe: (_head, tail) => hasFooterMagic(tail),
  open: openUnrealPak,
};
