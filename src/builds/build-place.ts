import type { KeyRing } from '../formats/blte/keys.ts';
import type { CdnConfig } from '../formats/configs/cdn-config.ts';
import type { LookupFolders } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { Objects } from './objects.ts';

/** A build to be opened: which one, where its objects come from, and where derived files go. */
export interface BuildPlace {
  identity: BuildIdentity;
  objects: Objects;
  /** Decoded manifests, the archive group and sorted names are looked for here, and made where they lack. */
  folders: LookupFolders;
  /** Keys of the user; those of the build's own key ring come behind them. */
  keys: KeyRing;
  /** Used in place of the CDN config that the identity names: the archives that a folder has. */
  cdnConfig?: CdnConfig | undefined;
  /** Called with what happens, in words: `1000 archive indices`, `encoding`. */
  onStep?: ((step: string) => void) | undefined;
}
